# SPDX-License-Identifier: Apache-2.0
"""The servos of one protocol on a port: read together, and written together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout
from bam_ros.dynamixel.block_read import BlockRead
from bam_ros.dynamixel.conversion import Conversion
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
        self._requests: list[BlockRead] = []
        self._fast: BlockRead | None = None  # instead of the first of them
        self._plain_once = False
        self._rows: dict[str, list[tuple[Register, list[int]]]] = {}

    def plan(self) -> None:
        """Find out how the servos are read with the fewest bytes, once they are prepared.

        Raises:
            BamError: they do not answer.
        """
        place = {servo.id: (servo.block.address, servo.block.length) for servo in self.servos}
        bulk = {servo.id: place[servo.id] for servo in self.servos if servo.table.bulk_read}
        alone = [{servo.id: place[servo.id]} for servo in self.servos if not servo.table.bulk_read]
        protocol = self.link.protocol
        self._requests = [BlockRead.of(protocol, blocks) for blocks in ([bulk] if bulk else []) + alone]
        self._fast = None
        if len(bulk) > 1 and all(servo.table.fast_read for servo in self.servos):
            fast = BlockRead.of(protocol, bulk, fast=True)
            # A firmware that is older than this instruction stays silent.
            with contextlib.suppress(BusTimeout, BusCorrupt):
                self.link.read_blocks(fast, attempts=_FAST_ATTEMPTS)
                self._fast = fast

    def read(self, conversion: Conversion) -> None:
        """Read the state of every servo.

        Args:
            conversion: takes the answers; they are converted while others are on the line.

        Raises:
            BusTimeout, BusCorrupt, BamError: one of the answers is missing or damaged.
        """
        for request in self._requests:
            is_fast = self._fast is not None and not self._plain_once
            # A packet of all of them that is lost names none: the next read has a packet of each.
            self._plain_once = is_fast
            asked = self._fast if is_fast and self._fast else request
            conversion.put(self.link.read_blocks(asked, attempts=1, meanwhile=conversion.take))
            self._plain_once = False
            self.moments |= dict.fromkeys(request.blocks, (self.link.taken, self.link.taken_at))

    def write(self, register: str, counts: Mapping[int, int]) -> None:
        """Write a register of some of the servos; nobody confirms that.

        Args:
            register: name; its address may differ between models.
            counts: by id; ids that are not of this group are left to others.
        """
        for row, concerned in self._by_address(register, counts):
            self.link.sync_write(row, concerned)

    def packets(self, register: str, counts: Mapping[int, int]) -> list[bytes]:
        """Return the packets that `write` sends."""
        return [
            sync_write_packet(self.link.protocol, row, concerned)
            for row, concerned in self._by_address(register, counts)
        ]

    def _by_address(
        self, register: str, counts: Mapping[int, int]
    ) -> Iterator[tuple[Register, dict[int, int]]]:
        """Yield the row of a register at each of its addresses, with the counts of the servos there."""
        if register not in self._rows:
            self._rows[register] = self._places(register)
        for row, ids in self._rows[register]:
            concerned = {servo: counts[servo] for servo in ids if servo in counts}
            if concerned:
                yield row, concerned

    def _places(self, register: str) -> list[tuple[Register, list[int]]]:
        """Return the row of a register at each of its addresses, with the ids that have it there."""
        able = [servo for servo in self.servos if register in servo.table]
        place = {servo: (servo.table[register].address, servo.table[register].size) for servo in able}
        able.sort(key=place.__getitem__)
        groups = [list(same) for _, same in groupby(able, key=place.__getitem__)]
        return [(group[0].table[register], [servo.id for servo in group]) for group in groups]
