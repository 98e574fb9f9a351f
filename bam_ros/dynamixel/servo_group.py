# SPDX-License-Identifier: Apache-2.0
"""The servos of one protocol on a port: read together, and written together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout
from bam_ros.dynamixel.link import Link, sync_write_packet
from bam_ros.dynamixel.register import Register
from bam_ros.dynamixel.servo import DynamixelServo

_FAST_ATTEMPTS = 3  # before a silence means that a firmware does not know fast reads


class ServoGroup:
    """Servos of one protocol; their models may differ.

    Args:
        link: to the bus, with their protocol.
        servos: at least one.

    Attributes:
        moments: id -> when it took the state that was read last: ns since the epoch, and s, monotonic.
    """

    def __init__(self, link: Link, servos: Sequence[DynamixelServo]) -> None:
        self.link = link
        self.servos = tuple(servos)
        self.moments: dict[int, tuple[int, float]] = {}
        self._transactions: list[dict[int, tuple[int, int]]] = []
        self._fast = self._plain_once = False

    def plan(self) -> None:
        """Find out how the servos are read with the fewest bytes, once they are prepared.

        Raises:
            BamError: they do not answer.
        """
        place = {servo.id: (servo.block.address, servo.block.length) for servo in self.servos}
        bulk = {servo.id: place[servo.id] for servo in self.servos if servo.table.bulk_read}
        alone = [{servo.id: place[servo.id]} for servo in self.servos if not servo.table.bulk_read]
        self._transactions = [*([bulk] if bulk else []), *alone]
        self._fast = len(bulk) > 1 and all(servo.table.fast_read for servo in self.servos)
        if not self._fast:
            return
        try:
            self.link.read_blocks(bulk, attempts=_FAST_ATTEMPTS, fast=True)
        except (BusTimeout, BusCorrupt):  # a firmware that is older than this instruction
            self._fast = False

    def read(self) -> dict[int, tuple[bytes, int]]:
        """Read the state of every servo: per id the bytes of its block and the error byte of its answer.

        Raises:
            BusTimeout, BusCorrupt, BamError: one of the answers is missing or damaged; none is returned.
        """
        answers: dict[int, tuple[bytes, int]] = {}
        for blocks in self._transactions:
            fast = self._fast and not self._plain_once
            # A packet of all of them that is lost names none: the next read has a packet of each.
            self._plain_once = fast
            answers |= self.link.read_blocks(blocks, attempts=1, fast=fast)
            self._plain_once = False
            self.moments |= dict.fromkeys(blocks, (self.link.taken, self.link.taken_at))
        return answers

    def write(self, register: str, counts: Mapping[int, int]) -> None:
        """Write a register of some of the servos; nobody confirms that.

        Args:
            register: name; its address may differ between models.
            counts: by id; ids that are not of this group are left to others.
        """
        for row, ids in self._by_address(register, counts):
            self.link.sync_write(row, {servo: counts[servo] for servo in ids})

    def packets(self, register: str, counts: Mapping[int, int]) -> list[bytes]:
        """Return the packets that `write` sends."""
        return [
            sync_write_packet(self.link.protocol, row, {servo: counts[servo] for servo in ids})
            for row, ids in self._by_address(register, counts)
        ]

    def _by_address(self, register: str, counts: Mapping[int, int]) -> Iterator[tuple[Register, list[int]]]:
        """Yield the row of a register at each of its addresses, with the ids that have it there."""
        concerned = [servo for servo in self.servos if servo.id in counts]
        place = {servo: (servo.table[register].address, servo.table[register].size) for servo in concerned}
        concerned.sort(key=place.__getitem__)
        for _, same in groupby(concerned, key=place.__getitem__):
            servos = list(same)
            yield servos[0].table[register], [servo.id for servo in servos]
