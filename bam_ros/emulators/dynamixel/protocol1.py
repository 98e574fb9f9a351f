# SPDX-License-Identifier: Apache-2.0
"""Protocol 1.0 on the wire: bytes to instruction packets, status packets to bytes. No I/O, no clock."""

from __future__ import annotations

from bam_ros.dynamixel.packets import instruction_packet
from bam_ros.emulators.dynamixel.packets import Complaint, Packet, Refused, Status, StreamParser

_HEADER = b"\xff\xff"
_OVERHEAD = 4  # header, id, length


def checksum(data: bytes) -> int:
    """Return the complement of the low byte of the sum: `data` is everything between header and checksum."""
    return ~sum(data) & 0xFF


def encode_instruction(packet: Packet) -> bytes:
    """Return the bytes of an instruction packet."""
    return instruction_packet(1, packet.id, packet.instruction, packet.parameters)


def encode_status(status: Status) -> bytes:
    """Return the bytes of a status packet."""
    body = bytes((status.id, len(status.parameters) + 2, status.error)) + status.parameters
    return _HEADER + body + bytes((checksum(body),))


def read_arguments(parameters: bytes) -> tuple[int, int]:
    """Return address and length of a read; raises Refused."""
    if len(parameters) != 2:
        raise Refused(Complaint.INSTRUCTION)
    return parameters[0], parameters[1]


def write_arguments(parameters: bytes) -> tuple[int, bytes]:
    """Return address and data of a write; raises Refused."""
    if len(parameters) < 2:
        raise Refused(Complaint.INSTRUCTION)
    return parameters[0], parameters[1:]


class Parser(StreamParser):
    """Cuts a byte stream into Protocol 1.0 instruction packets."""

    header = _HEADER

    def cut(self, buffer: bytes, start: int) -> tuple[Packet | None, int] | None:
        """Cut the packet that begins at `start`; see StreamParser."""
        if len(buffer) - start < _OVERHEAD:
            return None
        identifier, length = buffer[start + 2], buffer[start + 3]
        if identifier == 0xFF or length < 2:
            return None, start + 1
        end = start + _OVERHEAD + length
        if len(buffer) < end:
            return None
        intact = sum(buffer[start + 2 : end]) & 0xFF == 0xFF
        return Packet(identifier, buffer[start + 4], buffer[start + 5 : end - 1], intact), end
