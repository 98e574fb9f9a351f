# SPDX-License-Identifier: Apache-2.0
"""A segment: frames pass through the slaves in their order, datagram by datagram, and come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bam_ros.emulators.erob.controller import Piece
from bam_ros.emulators.erob.distributed_clock import HOP, NEVER
from bam_ros.emulators.erob.frames import HEADER, LENGTH_MASK, Command, FrameError, offsets
from bam_ros.emulators.erob.registers import Register
from bam_ros.emulators.erob.slave import VirtualSlave

_LOCALLY_ADMINISTERED = 0x02
_POSITION = (Command.APRD, Command.APWR, Command.APRW, Command.ARMW)
_STATION = (Command.FPRD, Command.FPWR, Command.FPRW, Command.FRMW)
_BROADCAST = (Command.BRD, Command.BWR, Command.BRW)
_LOGICAL = (Command.LRD, Command.LWR, Command.LRW)
_MULTIPLE = (Command.ARMW, Command.FRMW)
"""One slave reads, the others write."""
_READ_AND_WRITE = (Command.APRW, Command.FPRW, Command.BRW, Command.LRW)
_READING = (Command.APRD, Command.FPRD, Command.BRD, Command.LRD, *_READ_AND_WRITE, *_MULTIPLE)
_WRITING = (Command.APWR, Command.FPWR, Command.BWR, Command.LWR, *_READ_AND_WRITE)
_MOST_PLANS = 64


class _Visit(NamedTuple):
    """What one slave has to do with a logical datagram."""

    slave: VirtualSlave
    reads: tuple[Piece, ...]
    writes: tuple[Piece, ...]
    completes: bool
    plain: bool


class Segment:
    """Slaves in a line.

    Args:
        slaves: from the master outwards.
    """

    def __init__(self, slaves: Sequence[VirtualSlave]) -> None:
        self.slaves = tuple(slaves)
        self._plans: dict[tuple[int, int, int], list[_Visit]] = {}
        self.connected: tuple[VirtualSlave, ...] = ()
        for slave in self.slaves:
            slave.on_reconfigured = self._plans.clear
        self.connect(self.slaves)

    def connect(self, slaves: Sequence[VirtualSlave]) -> None:
        """Set which slaves frames pass through; the others are gone."""
        if self.connected == tuple(slaves) and slaves:
            return
        self.connected = tuple(slaves)
        self._plans.clear()
        count = len(self.connected)
        for i, slave in enumerate(self.connected):
            slave.controller.set_neighbour(i + 1 < count)
            slave.controller.clock.entry = HOP * i
            slave.controller.clock.turn = 2 * HOP * (count - 1 - i)

    def reverse(self, now: int) -> None:
        """Plug the slaves in the reverse order, switched off and on meanwhile."""
        self.slaves = self.slaves[::-1]
        for slave in self.slaves:
            slave.power_on(now)
        self.connect(self.slaves)

    def update(self, now: int) -> int:
        """Do what is due, and return when the next thing will be, ns."""
        due = NEVER
        for slave in self.slaves:
            if slave.due <= now:
                slave.update(now)
            if slave.due < due:
                due = slave.due
        return due

    def damage(self) -> None:
        """Count a frame that came with a wrong check sequence."""
        for i, slave in enumerate(self.connected):
            slave.controller.count_damaged_frame(first=i == 0)

    def process(self, frame: bytearray, length: int, now: int) -> bool:
        """Pass a frame, the first `length` bytes of the buffer, through the slaves in place.

        Returns whether it comes back: not without a slave, and not where it is no EtherCAT frame.
        """
        try:
            places = offsets(frame, length)
        except FrameError:
            return False
        if not self.connected:
            return False
        for slave in self.connected:
            if slave.due <= now:
                slave.update(now)
        frame[6] |= _LOCALLY_ADMINISTERED
        for at in places:
            command, _, low, high, flags, _ = HEADER.unpack_from(frame, at)
            size = flags & LENGTH_MASK
            data = at + HEADER.size
            if command == Command.LRW or command in _LOGICAL:
                gained = self._logical(command, low | high << 16, frame, data, size, now)
            elif command == Command.FRMW and high == Register.DC_SYSTEM_TIME and 4 <= size <= 8:
                gained = self._distribute_time(low, frame, data, size, now)
            elif command in _STATION:
                gained = self._station(command, low, high, frame, data, size, now)
            elif command in _POSITION:
                gained = self._position(command, low, high, frame, data, size, now)
                self._increment(frame, at)
            elif command in _BROADCAST:
                gained = self._broadcast(command, high, frame, data, size, now)
                self._increment(frame, at)
            else:
                continue
            if gained:
                counter = data + size
                total = (frame[counter] | frame[counter + 1] << 8) + gained
                frame[counter] = total & 0xFF
                frame[counter + 1] = total >> 8 & 0xFF
        return True

    def _increment(self, frame: bytearray, at: int) -> None:
        address = (frame[at + 2] | frame[at + 3] << 8) + len(self.connected)
        frame[at + 2] = address & 0xFF
        frame[at + 3] = address >> 8 & 0xFF

    def _position(
        self, command: int, low: int, address: int, frame: bytearray, data: int, size: int, now: int
    ) -> int:
        gained = 0
        for i, slave in enumerate(self.connected):
            addressed = (low + i) & 0xFFFF == 0
            gained += self._physical(command, slave, addressed, address, frame, data, size, now)
        return gained

    def _station(
        self, command: int, low: int, address: int, frame: bytearray, data: int, size: int, now: int
    ) -> int:
        gained = 0
        for slave in self.connected:
            addressed = slave.controller.answers_to(low)
            if addressed or command == Command.FRMW:
                gained += self._physical(command, slave, addressed, address, frame, data, size, now)
        return gained

    def _distribute_time(self, low: int, frame: bytearray, data: int, size: int, now: int) -> int:
        """Take the system time from one slave to the others: what a master does in every cycle."""
        written = int.from_bytes(frame[data : data + 4], "little")
        for slave in self.connected:
            controller = slave.controller
            if controller.answers_to(low):
                time = controller.clock.read_system_time(now)
                frame[data : data + size] = time[:size]
                written = int.from_bytes(time[:4], "little")
            else:
                controller.clock.receive_system_time(written, now)
        return len(self.connected)

    def _physical(
        self,
        command: int,
        slave: VirtualSlave,
        addressed: bool,
        address: int,
        frame: bytearray,
        data: int,
        size: int,
        now: int,
    ) -> int:
        """Let one slave read or write, or both, and return what it adds to the working counter."""
        multiple = command in _MULTIPLE
        if not addressed and not multiple:
            return 0
        controller = slave.controller
        end = data + size
        gained = 0
        written = frame[data:end]
        if addressed and command in _READING:
            read = controller.read(address, size, now)
            if read is not None:
                frame[data:end] = read
                gained += 1
        if (multiple and not addressed) or command in _WRITING:
            taken = controller.write(address, written, now)
            gained += (2 if command in _READ_AND_WRITE else 1) * taken
        return gained

    def _broadcast(self, command: int, address: int, frame: bytearray, data: int, size: int, now: int) -> int:
        gained = 0
        end = data + size
        written = frame[data:end]
        for slave in self.connected:
            if command != Command.BWR:
                read = slave.controller.read(address, size, now)
                if read is not None:
                    frame[data:end] = bytes(a | b for a, b in zip(frame[data:end], read, strict=True))
                    gained += 1
            if command != Command.BRD and slave.controller.write(address, written, now):
                gained += 2 if command == Command.BRW else 1
        return gained

    def _logical(self, command: int, address: int, frame: bytearray, data: int, size: int, now: int) -> int:
        plan = self._plans.get((command, address, size))
        if plan is None:
            plan = self._plan(command, address, size)
        gained = 0
        for slave, reads, writes, completes, plain in plan:
            if not plain:
                gained += self._visit(command, slave, reads, writes, frame, data, now)
                continue
            memory = slave.controller.memory
            pending = [frame[data + p[0] : data + p[0] + p[2]] for p in writes]
            if reads:
                slave.inputs_wanted(now)
                for offset, at, length, _, _, _ in reads:
                    frame[data + offset : data + offset + length] = memory[at : at + length]
                gained += 1
            if writes:
                for piece, content in zip(writes, pending, strict=True):
                    memory[piece[1] : piece[1] + piece[2]] = content
                gained += 2 if command == Command.LRW else 1
                if completes:
                    slave.outputs_written(now)
            if slave.miscounts:
                gained -= 1
        return gained

    def _visit(
        self,
        command: int,
        slave: VirtualSlave,
        reads: tuple[Piece, ...],
        writes: tuple[Piece, ...],
        frame: bytearray,
        data: int,
        now: int,
    ) -> int:
        """Execute a plan where registers or mailboxes are mapped, too."""
        controller = slave.controller
        pending = [bytes(frame[data + p.offset : data + p.offset + p.length]) for p in writes]
        read = written = False
        for piece in reads:
            content = controller.read(piece.address, piece.length, now)
            if content is not None:
                frame[data + piece.offset : data + piece.offset + piece.length] = content
                read = True
        for piece, content in zip(writes, pending, strict=True):
            written |= controller.write(piece.address, content, now)
        gained = read + (2 if command == Command.LRW else 1) * written
        return gained - (1 if slave.miscounts and gained else 0)

    def _plan(self, command: int, address: int, size: int) -> list[_Visit]:
        plan = []
        for slave in self.connected:
            pieces = slave.controller.pieces(address, size)
            reads = tuple(p for p in pieces if not p.write) if command != Command.LWR else ()
            writes = tuple(p for p in pieces if p.write) if command != Command.LRD else ()
            if reads or writes:
                plain = all(p.process_data for p in reads + writes)
                plan.append(_Visit(slave, reads, writes, any(p.completes for p in writes), plain))
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[command, address, size] = plan
        return plan
