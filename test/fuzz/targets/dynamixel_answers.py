# SPDX-License-Identifier: Apache-2.0
"""What the driver's link, and the SDK in it, make of anything that arrives as an answer."""

from __future__ import annotations

from functools import cache

from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.packets import crc16
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.register import Register
from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.packets import Status
from test.fuzz.bytes_reader import BytesReader
from test.fuzz.target import PACKETS, Target, attempt

_GAIN = Register(name="gain", address=28, size=2, writable=True, initial=0, low=0, high=1000, signed=False)


class _Line(SerialPort):
    """A port at which bytes arrive in pieces; a read that finds none is a timeout."""

    def __init__(self) -> None:
        super().__init__("/dev/null")
        self.pieces: list[bytes] = []
        self.baudrate, self.tx_time_per_byte = 57600, 0.1736
        self._time = 0.0

    def getCurrentTime(self) -> float:  # noqa: N802
        return self._time

    def clearPort(self) -> None:  # noqa: N802
        self._buffer.clear()

    def writePort(self, packet) -> int:  # noqa: N802
        return len(packet)

    def drain(self, quiet: float, longest: float = 0.2) -> None:
        self._buffer.clear()

    def _receive(self, milliseconds: float) -> bool:
        if not self.pieces:
            self._time += max(milliseconds, 1.0)
            return False
        self._buffer += self.pieces.pop(0)
        return True


@cache
def _link(protocol: int) -> tuple[_Line, Link]:
    port = _Line()
    return port, Link(port, protocol)


def check(data: bytes) -> int:
    reader = BytesReader(data)
    flags = reader.byte()
    protocol = 1 + (flags & 1)
    codec = protocol1 if protocol == 1 else protocol2
    port, link = _link(protocol)
    port.clearPort()
    port.is_using = False
    port.pieces = []
    while reader.left:
        kind = reader.byte()
        content = reader.take(reader.byte())
        if kind & 1 and len(content) >= 2:  # a packet whose checksum is right
            content = codec.encode_status(Status(content[0], content[1], content[2:]))
        elif kind & 2 and protocol == 2:  # and one of any content, not only a status packet
            content = protocol2._HEADER + content
            content += crc16(content).to_bytes(2, "little")
        if content:
            port.pieces.append(content)
    waiting = len(port.pieces)
    match flags >> 1 & 7:
        case 0 | 1:
            length = 1 + (flags >> 4)
            found = attempt(lambda: link.read_block((1,), 36, length, attempts=1))
            assert found is None or (len(found[1][0]) == length and 0 <= found[1][1] <= 255)
        case 2 | 3:
            length = 1 + (flags >> 4)
            found = attempt(lambda: link.read_block((1, 2), 36, length, attempts=2))
            assert found is None or all(len(block) == length for block, _ in found.values())
        case 4:
            value = attempt(lambda: link.read(1, _GAIN))
            assert value is None or 0 <= value < 1 << 16
        case 5:
            attempt(lambda: link.write(1, _GAIN, 32))
        case 6:
            assert link.ping(1) in (True, False)
        case _:
            if protocol == 2:
                attempt(lambda: link.reboot(1))
                assert all(0 <= each <= 0xFF for each in attempt(link.broadcast_ping) or ())
    return waiting - len(port.pieces)  # a piece that was never read was not decided on


def seeds() -> list[bytes]:
    """Return right answers, answers of others, damaged ones and two at once, to every request."""
    found = []
    for flags in range(16):
        for size in (2, 9):
            head = bytes((flags | (size - 1) << 4 & 0xF0,))
            one = bytes((1, 2 + size, 1, 0)) + bytes(range(size))
            two = bytes((1, 2 + size, 2, 0)) + bytes(range(size))
            found += [head + one, head + one + two, head + two + one, head + b"\0" + one, head + b"\1\2\1\0"]
            found.append(head + b"\1\3\1\x80\xff")
            found.append(head + b"\0\7\xff\xff\xfd\0\1\0\0" + one)
            found.append(head + b"\2\5\1\3\0\x55\0")
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=("bam_ros.dynamixel.link", "bam_ros.dynamixel.errors", "bam_ros.dynamixel.port", "dynamixel_sdk"),
    longest=300,
    runs=PACKETS,
)
