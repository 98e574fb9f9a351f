# SPDX-License-Identifier: Apache-2.0
"""Protocol 2.0 on the wire: bytes to instruction packets, status packets to bytes. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Sequence

from bam_ros.dynamixel.packets import PATTERN, STUFFED, crc16, frame, instruction_packet
from bam_ros.emulators.dynamixel.packets import BROADCAST_ID, Packet, Status, StreamParser

_HEADER = b"\xff\xff\xfd\x00"
_OVERHEAD = 7  # header, reserved, id, length
_LONGEST = 1024  # bytes from the instruction to the CRC; more is noise that looks like a length
_STATUS = 0x55


def encode_instruction(packet: Packet) -> bytes:
    """Return the bytes of an instruction packet."""
    return instruction_packet(2, packet.id, packet.instruction, packet.parameters)


def encode_status(status: Status) -> bytes:
    """Return the bytes of a status packet."""
    return frame(status.id, bytes((_STATUS, status.error)) + status.parameters)


def encode_fast_status(statuses: Sequence[Status]) -> bytes:
    """Return the one packet in which several servos answer a fast sync or bulk read.

    Each servo adds error, id, data and the CRC of everything so far; there is no byte stuffing.
    """
    length = 1 + sum(len(status.parameters) + 4 for status in statuses)
    packet = _HEADER + bytes((BROADCAST_ID,)) + length.to_bytes(2, "little") + bytes((_STATUS,))
    crc = crc16(packet)
    for status in statuses:
        part = bytes((status.error, status.id)) + status.parameters
        end = (crc := crc16(part, crc)).to_bytes(2, "little")
        crc = crc16(end, crc)
        packet += part + end
    return packet


class Parser(StreamParser):
    """Cuts a byte stream into Protocol 2.0 instruction packets; status packets are skipped."""

    header = _HEADER

    def __init__(self) -> None:
        super().__init__()
        crc16(b"")  # its table is made before a client waits for an answer

    def cut(self, buffer: bytes, start: int) -> tuple[Packet | None, int] | None:
        """Cut the packet that begins at `start`; see StreamParser."""
        if len(buffer) - start < _OVERHEAD:
            return None
        identifier = buffer[start + 4]
        length = buffer[start + 5] | buffer[start + 6] << 8
        if identifier in (0xFD, 0xFF) or not 3 <= length <= _LONGEST:
            return None, start + 1
        end = start + _OVERHEAD + length
        if len(buffer) < end:
            return None
        intact = crc16(buffer[start : end - 2]) == (buffer[end - 2] | buffer[end - 1] << 8)
        body = buffer[start + _OVERHEAD : end - 2].replace(STUFFED, PATTERN)
        if body[0] == _STATUS and intact:
            return None, end
        return Packet(identifier, body[0], body[1:], intact), end
