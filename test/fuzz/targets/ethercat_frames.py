# SPDX-License-Identifier: Apache-2.0
"""What a segment of emulated drives does with anything that arrives as an Ethernet frame.

An input is pieces: raw frames, or datagrams of any command and address in a frame that is whole. Nothing is
raised and no frame changes its length. Drives whose torque is on keep it, and their state, where a frame is
no whole EtherCAT frame, or where its datagrams address no slave.
"""

from __future__ import annotations

import struct
from functools import cache

from bam_ros.emulators.erob import mailbox, sii
from bam_ros.emulators.erob.drive_objects import CST
from bam_ros.emulators.erob.frames import Command, Datagram, FrameError, decode, encode, physical
from bam_ros.emulators.erob.mailbox import Message, Protocol
from bam_ros.emulators.erob.object_dictionary import Entry
from bam_ros.emulators.erob.registers import Register
from bam_ros.erob.objects import Object
from test.fuzz.bytes_reader import BytesReader
from test.fuzz.snapshot import Snapshot
from test.fuzz.target import PACKETS, Target
from test.ros.virtual_wire import MS, Wire

_SLAVES = 2
_STATIONS = (0x1001, 0x1002)
_REGISTERS = tuple(Register)


class _Fixture:
    """A segment in OP whose drives have torque; as new for every input."""

    def __init__(self) -> None:
        self.wire = Wire(_SLAVES)
        self.wire.op()
        for slave in self.wire.segment.slaves:
            slave.dictionary.entry(Object.MODE_OF_OPERATION).value = CST
            for word in (0x06, 0x07, 0x0F):
                slave.dictionary.entry(Object.CONTROLWORD).value = word
                slave.drive.execute()
            assert slave.drive.torque_enabled
        self._began, self._as_new = self.wire.now, Snapshot(self.wire.segment, {Entry: ["value"]})

    def reset(self) -> None:
        """Begin anew."""
        self.wire.now = self._began
        self._as_new.restore()

    def torque(self) -> list[tuple[bool, int]]:
        return [(slave.drive.torque_enabled, slave.states.state) for slave in self.wire.segment.slaves]


_fixture = cache(_Fixture)


def check(data: bytes) -> int:
    fixture = _fixture()
    fixture.reset()
    wire = fixture.wire
    reader = BytesReader(data)
    frames = 0
    while reader.left:
        kind = reader.byte()
        frame = bytearray(_frame(reader) if kind & 1 else reader.take(reader.word() % 1600))
        before, length, aimless = fixture.torque(), len(frame), _is_aimless(frame)
        returned = wire.segment.process(frame, length, wire.now)
        assert len(frame) == length, "the frame changed its length"
        assert isinstance(returned, bool)
        if aimless:
            assert fixture.torque() == before, "a frame for nobody changed torque or state"
        if kind & 2:
            wire.now += (MS // 4, MS)[kind >> 2 & 1]
            wire.segment.update(wire.now)
        frames += 1
    return frames


def _frame(reader: BytesReader) -> bytes:
    """Return a whole frame of up to three datagrams."""
    datagrams = []
    for _ in range(1 + reader.byte() % 3):
        command, where = reader.byte() % 16, reader.byte()
        memory = int(_REGISTERS[reader.byte() % len(_REGISTERS)]) if where & 1 else reader.word()
        if command in (Command.LRD, Command.LWR, Command.LRW):
            address = reader.word() | (reader.word() << 16 if where & 2 else 0)
        elif where & 2:
            address = physical(
                _STATIONS[where >> 2 & 1] if command in _BY_STATION else -(where >> 2 & 1), memory
            )
        else:
            address = physical(reader.word(), memory)
        content = reader.take(reader.byte())
        if sum(12 + len(each.data) for each in datagrams) + 12 + len(content) > 1498:
            break
        datagrams.append(Datagram(command, len(datagrams), address, content))
    return bytes(encode(datagrams)) if datagrams else b""


_BY_STATION = (Command.FPRD, Command.FPWR, Command.FPRW, Command.FRMW)


def _is_aimless(frame: bytes) -> bool:
    """Tell whether no slave has anything to do with a frame."""
    try:
        datagrams = decode(frame)
    except (FrameError, struct.error):
        return True
    for each in datagrams:
        slave = each.address & 0xFFFF
        if each.command in (Command.FPRD, Command.FPWR, Command.FPRW):
            if slave in _STATIONS or slave == 0:  # 0: an alias that none has been given
                return False
        elif each.command in (Command.APRD, Command.APWR, Command.APRW):
            if slave == 0 or slave >= 0x10000 - _SLAVES:
                return False
        elif Command.NOP < each.command <= Command.FRMW:
            return False
    return True


def seeds() -> list[bytes]:
    """Return frames of every command to registers that matter, whole, cut off, and in a row."""
    found = []
    for command in range(1, 15):
        for register in (
            Register.AL_CONTROL,
            Register.SYNC_MANAGER,
            Register.EEPROM_CONTROL,
            Register.STATION_ADDRESS,
        ):
            place = _REGISTERS.index(register)
            for where in (1, 3):
                head = bytes((1, 0, command, where, place))
                address = b"" if where == 3 and command not in (10, 11, 12) else b"\x01\x10"
                found.append(head + address + b"\x02\1\0")
                found.append(head + address + b"\x08" + bytes(8))
        found.append(bytes((3, 0, command, 0)) + b"\x00\x10\x01\x10" + b"\x10" + bytes(16))
    found += [b"".join(found[start::9]) for start in range(9)]
    control = bytes((7, 0, Command.FPWR, 3, _REGISTERS.index(Register.AL_CONTROL)))
    found += [
        b"".join(control + bytes((2, state, 0)) for state in states)
        for states in ((1, 2, 4, 8), (2, 1, 4), (4, 8, 2, 4, 1, 0x11, 2, 8))
    ]
    for protocol in (Protocol.COE, Protocol.ERROR):
        request = struct.pack("<HBHBI", 2 << 12, 0x40, Object.CONTROLWORD, 0, 0)
        message = mailbox.encode(Message(protocol, 1, request), sii.MAILBOX_SIZE)
        write = bytes((7, 0, Command.FPWR, 2)) + sii.MAILBOX_OUT.to_bytes(2, "little")
        read = bytes((7, 0, Command.FPRD, 2)) + sii.MAILBOX_IN.to_bytes(2, "little")
        size = bytes((sii.MAILBOX_SIZE,))
        found.append(2 * (write + size + message + read + size + bytes(sii.MAILBOX_SIZE)))
    whole = bytes(encode([Datagram(Command.LRW, 0, 0, bytes(40)), Datagram(Command.BRD, 1, 0, bytes(2))]))
    for cut in (len(whole), 30, 17, 14, 3):
        found.append(bytes((2,)) + cut.to_bytes(2, "little") + whole[:cut])
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=tuple(
        f"bam_ros.emulators.erob.{name}"
        for name in (
            "frames",
            "segment",
            "controller",
            "slave",
            "sync_manager",
            "eeprom",
            "state_machine",
            "process_data",
            "mailbox_server",
            "distributed_clock",
        )
    ),
    longest=1700,
    runs=PACKETS,
)
