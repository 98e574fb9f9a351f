# SPDX-License-Identifier: Apache-2.0
"""What the emulated bus of Dynamixel or Feetech servos does with anything that arrives on its line.

Every input is pieces: raw bytes, or packets whose checksum is right or wrong. Whatever arrives, nothing is
raised, and replies are whole packets. Where nothing in the stream is a whole packet for one of the servos, no
register that a client can write has changed, torque_enable among them.
"""

from __future__ import annotations

from functools import cache

from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.dynamixel.catalog import DYNAMIXEL
from bam_ros.emulators.dynamixel.packets import BROADCAST_ID, Packet
from bam_ros.emulators.dynamixel.servo import VirtualServo
from bam_ros.emulators.feetech.catalog import FEETECH
from test.fuzz.bytes_reader import BytesReader
from test.fuzz.snapshot import Snapshot
from test.fuzz.target import PACKETS, Target

_IDS = (1, 2)
_PAUSES = (0.0, 1e-4, 2e-3, 0.06)  # s; the last one is longer than a packet may be interrupted


class _Fixture:
    """A bus that is as new for every input, with torque on or off on the first servo."""

    def __init__(self, servo: str, torque: bool) -> None:
        self.bus: VirtualBus = build_bus(
            BusSetup(
                catalog=FEETECH if servo in FEETECH.tables else DYNAMIXEL,
                servo=servo,
                ids=_IDS,
                pendulum=PendulumBench(mass=0.2, length=0.1),
            ),
            0.0,
        )
        self.now = 1.0
        self.bus.update(self.now)
        for each in self.bus.servos:
            each.registers.set("return_delay_time", 0)
        self._masks = [_writable_mask(each) for each in self.bus.servos]
        if torque:
            first = self.bus.servos[0]
            first.write(first.table["torque_enable"].address, b"\1", self.now)
        self._began, self._as_new = self.now, Snapshot(self.bus)

    def reset(self) -> None:
        """Begin anew."""
        self.now = self._began
        self._as_new.restore()

    def writable(self) -> list[int]:
        """Return what clients can write, of each servo."""
        return [
            int.from_bytes(servo.registers.data, "big") & mask
            for servo, mask in zip(self.bus.servos, self._masks, strict=True)
        ]


def _writable_mask(servo: VirtualServo) -> int:
    mask = bytearray(len(servo.registers.data))
    for register in servo.table.registers:
        if register.writable:
            mask[register.address : register.end] = b"\xff" * register.size
    return int.from_bytes(mask, "big")


@cache
def _fixture(servo: str, torque: bool) -> _Fixture:
    return _Fixture(servo, torque)


def _servo(flags: int) -> tuple[str, int]:
    """Return the servos that the first byte of an input chooses, and the protocol of their packets."""
    if flags & 4:
        return ("scs0009" if flags & 8 else "sts3215"), 1
    return ("xl330", 2) if flags & 1 else ("mx106", 1)


def check(data: bytes) -> int:
    reader = BytesReader(data)
    flags = reader.byte()
    servo, protocol = _servo(flags)
    codec = protocol1 if protocol == 1 else protocol2
    fixture = _fixture(servo, bool(flags & 2))
    fixture.reset()
    before = fixture.writable()
    stream, packets = b"", 0
    while reader.left:
        kind = reader.byte()
        content = reader.take(reader.byte())
        if kind & 3 and len(content) >= 2:
            packet = codec.encode_instruction(Packet(content[0], content[1], content[2:]))
            if kind & 3 == 1:  # another checksum
                packet = packet[:-1] + bytes((packet[-1] ^ (kind >> 4 or 1),))
            content = packet
        stream += content
        packets += bool(content)
        fixture.now += _PAUSES[kind >> 2 & 3]
        for reply in fixture.bus.receive(content, fixture.now):
            _require_status(protocol, reply.data)
    if not _has_packet(protocol, stream):
        assert fixture.writable() == before, "registers changed by what is no packet for a servo"
    return packets


def _require_status(protocol: int, data: bytes) -> None:
    if protocol == 1:
        assert data[:2] == b"\xff\xff"
        assert len(data) == data[3] + 4, data.hex()
        assert sum(data[2:]) & 0xFF == 0xFF, data.hex()
    else:
        assert data[:4] == b"\xff\xff\xfd\x00"
        assert len(data) == int.from_bytes(data[5:7], "little") + 7, data.hex()
        assert protocol2.crc16(data[:-2]) == int.from_bytes(data[-2:], "little"), data.hex()


def _has_packet(protocol: int, stream: bytes) -> bool:
    """Tell whether a whole packet for a servo, or for all, begins anywhere; written without the parser."""
    header = b"\xff\xff" if protocol == 1 else b"\xff\xff\xfd\x00"
    concerned = (*_IDS, BROADCAST_ID)
    at = stream.find(header)
    while at >= 0:
        rest = stream[at:]
        if protocol == 1 and len(rest) >= 6 and rest[2] in concerned:
            end = rest[3] + 4
            if end <= len(rest) and (~sum(rest[2 : end - 1])) & 0xFF == rest[end - 1]:
                return True
        elif protocol == 2 and len(rest) >= 10 and rest[4] in concerned:
            end = int.from_bytes(rest[5:7], "little") + 7
            if 10 <= end <= len(rest) and protocol2.crc16(rest[: end - 2]) == int.from_bytes(
                rest[end - 2 : end], "little"
            ):
                return True
        at = stream.find(header, at + 1)
    return False


def seeds() -> list[bytes]:
    """Return each instruction, whole, damaged, and for another servo; and all of them in a row."""
    found = []
    for flags in (*range(4), 4, 6, 12):
        table = _fixture(_servo(flags)[0], False).bus.servos[0].table
        torque = table["torque_enable"].address
        address = bytes((torque,)) if not flags & 1 else torque.to_bytes(2, "little")
        one, two = (b"\x01", b"\x02") if not flags & 1 else (b"\x01\x00", b"\x02\x00")
        packets = {
            1: b"",
            2: address + two,
            3: address + b"\1",
            4: address + b"\1",
            5: b"",
            6: b"\2",
            8: b"",
            0x0A: b"",
            0x0B: b"",
            0x10: b'\1DXL"',
            0x82: address + two + b"\1\2",
            0x83: address + one + b"\1\1\2\0",
            0x8A: address + two + b"\1\2",
            0x92: (b"\0" + two + b"\1" + address)
            if not flags & 1
            else b"\1" + address + two + b"\2" + address + two,
            0x93: b"\1" + address + one + b"\1",
            0x9A: b"\1" + address + two,
        }
        for instruction, parameters in packets.items():
            for identifier in (1, 7, BROADCAST_ID):
                content = bytes((identifier, instruction)) + parameters
                for kind in (1, 2):
                    found.append(bytes((flags, kind, len(content))) + content)
        for identifier in (1, 7, BROADCAST_ID):
            contents = [bytes((identifier, each)) + parameters for each, parameters in packets.items()]
            row = b"".join(bytes((2, len(content))) + content for content in contents)
            found.append(bytes((flags,)) + row)
        codec = protocol1 if not flags & 1 else protocol2
        raw = codec.encode_instruction(Packet(1, 3, address + b"\1"))
        found.append(bytes((flags, 0, 5)) + raw[:5] + bytes((4, len(raw) - 5)) + raw[5:])
        found.append(bytes((flags, 0, 5)) + raw[:5] + bytes((12, len(raw))) + raw)
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_ros.emulators.dynamixel.packets",
        "bam_ros.emulators.dynamixel.protocol1",
        "bam_ros.emulators.dynamixel.protocol2",
        "bam_ros.emulators.dynamixel.bus",
        "bam_ros.emulators.dynamixel.servo",
        "bam_ros.emulators.dynamixel.servo_protocol1",
        "bam_ros.emulators.dynamixel.servo_protocol2",
        "bam_ros.emulators.dynamixel.register_file",
        "bam_ros.emulators.dynamixel.control_law",
        "bam_ros.emulators.feetech.servo",
        "bam_ros.emulators.feetech.memory",
        "bam_ros.emulators.feetech.law",
    ),
    longest=400,
    runs=PACKETS,
)
