# SPDX-License-Identifier: Apache-2.0
"""Cutting a stream into packets: none that is damaged is intact, and what waits for more is limited."""

from __future__ import annotations

from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.packets import Packet
from test.fuzz.target import PACKETS, Target

_LONGEST_BUFFER = 1100  # an unfinished packet of either protocol


def check(data: bytes) -> int:
    if not data:
        return 0
    codec = (protocol1, protocol2)[data[0] & 1]
    size = (data[0] >> 1) + 1
    stream = data[1:]
    parser = codec.Parser()
    found: list[Packet] = []
    for start in range(0, len(stream), size):
        found += parser.feed(stream[start : start + size])
        assert len(parser._buffer) <= _LONGEST_BUFFER
    intact = [each for each in found if each.intact]
    for packet in intact:
        again = codec.Parser().feed(codec.encode_instruction(packet))
        if codec is protocol1:
            assert codec.encode_instruction(packet) in stream
        assert again == [packet], (packet, again)
    return max(len(found), 1)  # what is noise as a whole was decided on, too


def seeds() -> list[bytes]:
    """Return whole, damaged and nested packets of both protocols."""
    found = []
    for flag, codec in enumerate((protocol1, protocol2)):
        one = codec.encode_instruction(Packet(1, 3, b"\x18\x01" if flag == 0 else b"\x40\x00\x01"))
        two = codec.encode_instruction(Packet(254, 0x83, b"\xff\xff\xfd\x00\xff\xff\xfd"))
        status = codec.encode_status(protocol1.Status(1, 0, b"\1\2"))
        damaged = one[:-1] + bytes((one[-1] ^ 1,))
        for size in (0, 2, 30):
            head = bytes((flag | size,))
            found += [
                head + one,
                head + two,
                head + one + status + two,
                head + damaged + one,
                head + one[:5] + two,
            ]
            found.append(head + b"\xff\xff\xff" + one)
            found.append(head + codec.encode_instruction(Packet(1, 3, one + one)))
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=tuple(f"bam_ros.emulators.dynamixel.{name}" for name in ("packets", "protocol1", "protocol2")),
    longest=120,
    runs=PACKETS,
)
