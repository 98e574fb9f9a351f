# SPDX-License-Identifier: Apache-2.0
"""Registers of servos over the SDK: the same calls for both protocols, errors as exceptions.

The two packets of every cycle are composed and taken apart here, in less time than the SDK needs. What does
not come exactly as expected is left to the SDK.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import dynamixel_sdk as sdk

from bam_core.errors import Unsupported
from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout
from bam_ros.dynamixel.block_read import Answers, BlockRead
from bam_ros.dynamixel.errors import check_result, refusal
from bam_ros.dynamixel.packets import TO_ALL, instruction_packet
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.register import Register

_QUIET = 0.03  # s; answers that come later than the SDK's timeout have come by then
_FAST_HEADER, _CRC = 8, 2  # bytes of the one answer to a fast read before the first servo's, and of each CRC
ATTEMPTS = 4  # each with twice the pause of the one before: 0.3 s in all


class Link:
    """Reads and writes registers through the SDK's packet handler.

    Args:
        port: open.
        protocol: 1 or 2.
    """

    def __init__(self, port: SerialPort, protocol: int) -> None:
        self.port = port
        self.protocol = protocol
        self.taken, self.taken_at = 0, 0.0
        """When servos took the state that was read last: ns since the epoch, and s, monotonic."""
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

    def read_blocks(self, request: BlockRead, attempts: int = ATTEMPTS) -> Answers:
        """Read a block of each of several servos in one transaction.

        Args:
            request: what is read; firmwares that do not know fast reads stay silent.
            attempts: how often a lost answer is asked for.

        Returns:
            Per id the bytes and the error byte of its status packet.

        Raises:
            BusTimeout, BusCorrupt, BamError: one of the answers is missing or damaged; none is returned.
        """
        quiet, began = _QUIET, time.monotonic()
        while True:
            attempts -= 1
            try:
                answers = self._read_once(request)
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
        """Wait for the answers to requests since `began` that were repeated too early.

        What was taken for the answer to the last request may be that to the first, and then the last one's is
        still on its way: it would be taken for the answer to whatever is asked next.
        """
        self.port.drain(max(time.monotonic() - began, _QUIET))

    def _read_once(self, request: BlockRead) -> Answers:
        port = self.port
        port.clearPort()
        if port.writePort(request.packet) != len(request.packet):
            check_result(sdk.COMM_TX_FAIL, f"id {next(iter(request.blocks))}")
        asked, asked_at = time.time_ns(), time.monotonic()
        port.setPacketTimeout(request.length)
        answers = request.take(port.peek(request.length, request.begin))
        if answers is not None:
            port.readPort(request.length)
        else:  # the SDK finds packets among other bytes, and tells which one is missing or damaged
            answers = self._fast_answers(request.blocks) if request.fast else self._answers(request.blocks)
        # A servo takes its state when the request has arrived. What follows says nothing about that moment:
        # the answer may wait in the adapter's buffer, and this process for its turn. An emulated servo, whose
        # line has no baud rate, may have answered sooner than the request takes on a wire.
        on_its_way = min(1e-3 * port.tx_time_per_byte * port.sent, time.monotonic() - asked_at)
        self.taken, self.taken_at = asked + round(1e9 * on_its_way), asked_at + on_its_way
        return answers

    def _answers(self, blocks: Mapping[int, tuple[int, int]]) -> Answers:
        """Receive a packet of each servo."""
        answers = {}
        for servo, (address, length) in blocks.items():
            data, result, error = self._handler.readRx(self.port, servo, length)
            check_result(result, f"id {servo}")
            if len(data) != length:
                reason = refusal(self.protocol, error) or f"{len(data)} bytes instead of {length}"
                raise BusCorrupt(
                    f"id {servo}",
                    f"cannot read {length} bytes at {address} ({reason})",
                    advice="check its cable",
                )
            answers[servo] = (bytes(data), error)
        return answers

    def _fast_answers(self, blocks: Mapping[int, tuple[int, int]]) -> Answers:
        """Receive the one packet of all servos: of each its error byte, id, data and a CRC of all so far."""
        who = f"ids {', '.join(map(str, blocks))}"
        packet, result = self._handler.rxPacket(self.port, True)
        check_result(result, who)
        at, answers = _FAST_HEADER, {}
        for servo, (_, length) in blocks.items():
            error, sender = (*packet[at : at + 2], -1, -1)[:2]
            at += 2
            answers[servo] = (bytes(packet[at : at + length]), error)
            at += length + _CRC
            if sender != servo:
                raise BusCorrupt(
                    who,
                    f"not the answer of id {servo} at its place (id {sender})",
                    advice="check their cables",
                )
        if at != len(packet):
            raise BusCorrupt(who, f"{len(packet)} bytes instead of {at}", advice="check their cables")
        return answers

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
        data, began = list(block), time.monotonic()
        for attempt in range(attempts):
            result, error = self._handler.writeTxRx(self.port, servo, address, len(data), data)
            if result == sdk.COMM_SUCCESS:
                if attempt:
                    self._wait_for_late_answers(began)
                break
            self.port.drain(_QUIET * 2**attempt)
            if attempt == attempts - 1:
                check_result(result, f"id {servo}")
        reason = refusal(self.protocol, error)
        if reason:
            raise Unsupported(f"id {servo}", f"refused {what} ({reason})", advice="check the value")

    def write_unconfirmed(self, servo: int, register: Register, count: int) -> None:
        """Write a register of a servo that may not confirm it.

        Raises:
            BamError: the packet could not be sent.
        """
        data = list(register.encode(count))
        result = self._handler.writeTxOnly(self.port, servo, register.address, len(data), data)
        check_result(result, f"id {servo}")

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
    data = b"".join(bytes((servo,)) + register.encode(count) for servo, count in counts.items())
    return instruction_packet(protocol, TO_ALL, sdk.INST_SYNC_WRITE, place + data)
