# SPDX-License-Identifier: Apache-2.0
"""Registers of servos: the same calls for both protocols, errors as exceptions.

Reads and writes are composed and taken apart here: faster than by the SDK, and stricter. An answer counts
where all bytes since the request are what was asked for. The SDK pings and reboots.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import dynamixel_sdk as sdk

from bam_core.errors import Unsupported
from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout
from bam_ros.dynamixel.block_read import Answers, BlockRead
from bam_ros.dynamixel.errors import check_result, damaged_answer, is_damage, no_answer, refusal
from bam_ros.dynamixel.packets import TO_ALL, instruction_packet
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.register import Register
from bam_ros.dynamixel.status_packets import Damaged, StatusPacket, first_status

_QUIET = 0.03  # s; answers that come later than the SDK's timeout have come by then
_CONFIRMATION = {0: 6, 1: 6, 2: 11}  # bytes of an answer without data
ATTEMPTS = 4  # each with twice the pause of the one before: 0.3 s in all


def _nothing(_: Answers) -> None:
    """Do nothing."""


class Link:
    """Reads and writes registers of servos on a port.

    Args:
        port: open.
        protocol: 1 or 2.
    """

    def __init__(self, port: SerialPort, protocol: int) -> None:
        self.port = port
        self.protocol = protocol
        self.taken, self.taken_at = 0, 0.0
        """When servos took the state that was read last: ns since the epoch, and s, monotonic."""
        self.damaged: set[int] = set()
        """Ids whose pings brought an answer that was damaged."""
        self._handler: Any = self._make_handler()
        self._single: dict[tuple[int, int, int], BlockRead] = {}  # what was read of one servo before

    def _make_handler(self) -> Any:
        """Return the SDK's packet handler."""
        return sdk.PacketHandler(float(self.protocol))

    def ping(self, servo: int) -> bool:
        """Return whether a servo answers at all, even if its status return level forbids reads."""
        packet = [0, 0, servo, 2, sdk.INST_PING, 0]
        if self.protocol == 2:
            packet = [0, 0, 0, 0, servo, 3, 0, sdk.INST_PING, 0, 0]
        _, result, _ = self._handler.txRxPacket(self.port, packet)
        if result == sdk.COMM_RX_CORRUPT:
            self.damaged.add(servo)
        return bool(result == sdk.COMM_SUCCESS)

    def pinged_model(self, servo: int) -> int | None:
        """Return the model number in the answer to a ping; None without one. Protocol 2.0 only."""
        number, result, _ = self._handler.ping(self.port, servo)
        return int(number) if result == sdk.COMM_SUCCESS else None

    def broadcast_ping(self) -> tuple[int, ...]:
        """Return the ids of all servos that answer; Protocol 2.0 only, takes about a second."""
        answers, _ = self._handler.broadcastPing(self.port)
        return tuple(sorted(answers or ()))

    def read(self, servo: int, register: Register) -> int:
        """Return a register's count, with retries.

        Raises:
            BusTimeout, BusCorrupt, BamError: no usable answer.
        """
        return register.decode(self.read_one(servo, register.address, register.size))

    def read_one(self, servo: int, address: int, length: int) -> bytes:
        """Return a block of registers of one servo, with retries; raises as `read`."""
        place = servo, address, length
        if place not in self._single:
            self._single[place] = BlockRead.of(self.protocol, {servo: (address, length)})
        return self.read_blocks(self._single[place])[servo][0]

    def read_block(
        self, servos: Sequence[int], address: int, length: int, attempts: int = ATTEMPTS
    ) -> Answers:
        """Read the same block of several servos in one transaction; see `read_blocks`."""
        blocks = dict.fromkeys(servos, (address, length))
        return self.read_blocks(BlockRead.of(self.protocol, blocks), attempts)

    def read_blocks(
        self, request: BlockRead, attempts: int = ATTEMPTS, meanwhile: Callable[[Answers], None] = _nothing
    ) -> Answers:
        """Read a block of each of several servos in one transaction.

        Args:
            request: what is read; firmwares that do not know fast reads stay silent.
            attempts: how often a lost answer is asked for.
            meanwhile: called while others are on the line with the answers that have come, none at first;
                must not raise.

        Returns:
            Per id the bytes and the error byte of its status packet.

        Raises:
            BusTimeout, BusCorrupt, BamError: one of the answers is missing or damaged; none is returned.
        """
        quiet, began = _QUIET, self.port.getCurrentTime()
        while True:
            attempts -= 1
            try:
                answers = self._read_once(request, meanwhile)
                break
            except (BusTimeout, BusCorrupt):
                self.port.drain(quiet)
                if attempts <= 0:
                    raise
            quiet *= 2.0
        if quiet > _QUIET:
            self._wait_for_late_answers(began)
        return answers

    def _wait_for_late_answers(self, began: float) -> None:
        """Wait for the answers to requests since `began`, ms, that were repeated too early.

        What was taken for the answer to the last request may be that to the first, and then the last one's is
        still on its way: it would be taken for the answer to whatever is asked next.
        """
        self.port.drain(max(1e-3 * (self.port.getCurrentTime() - began), _QUIET))

    def _read_once(self, request: BlockRead, meanwhile: Callable[[Answers], None]) -> Answers:
        port = self.port
        self._send(request.packet, request.length, f"id {next(iter(request.blocks))}")
        asked, asked_at = time.time_ns(), time.monotonic()
        answers = self._expected_answers(request, meanwhile)
        if answers is None:  # longer by byte stuffing, behind noise, incomplete or damaged
            answers = self._fast_answers(request) if request.fast else self._answers(request.blocks)
        # A servo takes its state when the request has arrived. What follows says nothing about that moment:
        # the answer may wait in the adapter's buffer, and this process for its turn. An emulated servo, whose
        # line has no baud rate, may have answered sooner than the request takes on a wire.
        on_its_way = min(1e-3 * port.tx_time_per_byte * port.sent, time.monotonic() - asked_at)
        self.taken, self.taken_at = asked + round(1e9 * on_its_way), asked_at + on_its_way
        return answers

    def _expected_answers(self, request: BlockRead, meanwhile: Callable[[Answers], None]) -> Answers | None:
        """Receive answers as they come; None where that is not exactly what is expected."""
        answers: Answers = {}
        arrived: Answers = {}
        while True:
            meanwhile(arrived)
            received = self.port.peek(request.next_end(answers), request.begin)
            known = len(answers)
            if not request.take_arrived(received, answers) or len(answers) == known:
                return None
            if len(answers) == len(request.blocks):
                return answers if len(received) == request.length else None
            arrived = dict(islice(answers.items(), known, None))

    def _send(self, packet: bytes, answer: int, who: str) -> None:
        """Send a packet, and begin to wait for an answer of so many bytes; raises BamError."""
        self.port.clearPort()
        if self.port.writePort(packet) != len(packet):
            check_result(sdk.COMM_TX_FAIL, who)
        self.port.setPacketTimeout(answer)

    def _answers(self, blocks: Mapping[int, tuple[int, int]]) -> Answers:
        """Receive a packet of each servo, and nothing else."""
        answers, waiting, at = {}, list(blocks), 0
        for servo, (address, length) in blocks.items():
            status = self._status(at, f"id {servo}")
            if status.sender != servo:
                if status.sender in waiting:  # a later one: those before it are silent
                    raise no_answer(f"id {servo}")
                raise damaged_answer(f"id {servo}")
            if len(status.data) != length:
                reason = refusal(self.protocol, status.error) or f"{len(status.data)} bytes, not {length}"
                raise BusCorrupt(
                    f"id {servo}",
                    f"cannot read {length} bytes at {address} ({reason})",
                    advice="check its cable",
                )
            answers[servo] = status.data, status.error
            waiting.remove(servo)
            at += status.end
        self._require_nothing_else(at, f"id {next(iter(blocks))}")
        return answers

    def _fast_answers(self, request: BlockRead) -> Answers:
        """Receive the one packet of all servos, and nothing else."""
        who = f"ids {', '.join(map(str, request.blocks))}"
        status = self._status(0, who)
        answers = request.take(status.raw)
        if answers is None:
            raise damaged_answer(who)
        self._require_nothing_else(status.end, who)
        return answers

    def _status(self, at: int, who: str) -> StatusPacket:
        """Wait for a status packet that begins behind `at` received bytes.

        Raises:
            BusTimeout: nothing has arrived there.
            BusCorrupt: what has arrived is damaged, or only a part of a packet.
        """
        received = self.port.peek(0)
        while True:
            try:
                status = first_status(self.protocol, received[at:])
            except Damaged:
                raise damaged_answer(who) from None
            if status is not None:
                return status
            known, received = len(received), self.port.peek(len(received) + 1)
            if len(received) == known:
                raise no_answer(who) if known == at else damaged_answer(who)

    def _require_nothing_else(self, end: int, who: str) -> None:
        """Raise BusCorrupt where bytes follow the answers: one came twice, or an old answer did."""
        if len(self.port.peek(0)) != end:
            raise damaged_answer(who)

    def write(self, servo: int, register: Register, count: int, attempts: int = ATTEMPTS) -> None:
        """Write a register and wait for the servo's confirmation, with retries.

        Args:
            servo: its id.
            register: that is written.
            count: that it shall hold.
            attempts: how often a lost confirmation is asked for.

        Raises:
            BusTimeout, BusCorrupt: no usable answer.
            Unsupported: the servo refuses the value.
        """
        self._write(servo, register.address, register.encode(count), f"{register.name} = {count}", attempts)

    def write_block(self, servo: int, address: int, data: bytes) -> None:
        """Write the bytes of several registers that lie side by side; otherwise as `write`."""
        self._write(servo, address, data, f"{len(data)} bytes at {address}", ATTEMPTS)

    def _write(self, servo: int, address: int, block: bytes, what: str, attempts: int) -> None:
        packet, began = self._write_packet(servo, address, block), self.port.getCurrentTime()
        for attempt in range(attempts):
            try:
                error = self._confirmed(packet, servo)
                break
            except (BusTimeout, BusCorrupt):
                self.port.drain(_QUIET * 2**attempt)
                if attempt == attempts - 1:
                    raise
        if attempt:
            self._wait_for_late_answers(began)
        reason = refusal(self.protocol, error)
        if reason:
            raise Unsupported(f"id {servo}", f"refused {what} ({reason})", advice="check the value")

    def _confirmed(self, packet: bytes, servo: int) -> int:
        """Send a packet; return the error byte of the answer, which has no data.

        Raises:
            BusTimeout, BusCorrupt: no such answer, or the servo has received a damaged packet.
            BamError: the packet could not be sent.
        """
        who = f"id {servo}"
        self._send(packet, _CONFIRMATION[self.protocol], who)
        status = self._status(0, who)
        if status.sender != servo or status.data or is_damage(self.protocol, status.error):
            raise damaged_answer(who)
        self._require_nothing_else(status.end, who)
        return status.error

    def _write_packet(self, servo: int, address: int, block: bytes) -> bytes:
        place = address.to_bytes(2 if self.protocol == 2 else 1, "little")
        return instruction_packet(self.protocol, servo, sdk.INST_WRITE, place + block)

    def write_unconfirmed(self, servo: int, register: Register, count: int) -> None:
        """Write a register of a servo that may not confirm it.

        Raises:
            BamError: the packet could not be sent.
        """
        self._send(self._write_packet(servo, register.address, register.encode(count)), 0, f"id {servo}")

    def sync_write(self, register: Register, counts: Mapping[int, int]) -> None:
        """Write the same register of several servos in one packet that nobody confirms.

        Raises:
            BamError: the packet could not be sent.
        """
        packet = sync_write_packet(self.protocol, register, counts)
        if self.port.writePort(packet) != len(packet):
            check_result(sdk.COMM_TX_FAIL, f"ids {', '.join(map(str, counts))}")

    def reboot(self, servo: int) -> None:
        """Restart a servo; Protocol 2.0 only.

        Raises:
            BusTimeout, BusCorrupt, BamError: it did not confirm.
        """
        result, _ = self._handler.reboot(self.port, servo)
        check_result(result, f"id {servo}")


def sync_write_packet(protocol: int, register: Register, counts: Mapping[int, int]) -> bytes:
    """Return the packet that writes a register of several servos."""
    size = 2 if protocol == 2 else 1
    place = register.address.to_bytes(size, "little") + register.size.to_bytes(size, "little")
    data = struct.pack(register.packed_behind_id(len(counts)), *chain.from_iterable(counts.items()))
    return instruction_packet(protocol, TO_ALL, sdk.INST_SYNC_WRITE, place + data)
