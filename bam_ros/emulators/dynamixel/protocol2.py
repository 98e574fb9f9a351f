# SPDX-License-Identifier: Apache-2.0
"""Protocol 2.0 on the wire: bytes to instruction packets, status packets to bytes. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Sequence

from bam_ros.emulators.dynamixel.packets import BROADCAST_ID, Packet, Status, StreamParser

_HEADER = b"\xff\xff\xfd\x00"
_OVERHEAD = 7  # header, reserved, id, length
_LONGEST = 1024  # bytes from the instruction to the CRC; more is noise that looks like a length
_STATUS = 0x55
_PATTERN, _STUFFED = b"\xff\xff\xfd", b"\xff\xff\xfd\xfd"


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte << 8
        for _ in range(8):
            value = value << 1 ^ 0x8005 if value & 0x8000 else value << 1
        table.append(value & 0xFFFF)
    return tuple(table)


_CRC = _crc_table()


def crc16(data: bytes, crc: int = 0) -> int:
    """Return the CRC-16 of the protocol (polynomial 0x8005, most significant bit first, start 0)."""
    table = _CRC
    for byte in data:
        crc = (crc << 8 & 0xFF00) ^ table[crc >> 8 ^ byte]
    return crc


def _with_crc(packet: bytes) -> bytes:
    return packet + crc16(packet).to_bytes(2, "little")


def _frame(identifier: int, body: bytes) -> bytes:
    """Return header, length, stuffed body and CRC; the body begins with the instruction."""
    body = body.replace(_PATTERN, _STUFFED)
    return _with_crc(_HEADER + bytes((identifier,)) + (len(body) + 2).to_bytes(2, "little") + body)


def encode_instruction(packet: Packet) -> bytes:
    """Return the bytes of an instruction packet."""
    return _frame(packet.id, bytes((packet.instruction,)) + packet.parameters)


def encode_status(status: Status) -> bytes:
    """Return the bytes of a status packet."""
    return _frame(status.id, bytes((_STATUS, status.error)) + status.parameters)


def encode_fast_status(statuses: Sequence[Status]) -> bytes:
    """Return the one packet in which several servos answer a fast sync or bulk read.

    Each servo adds error, id, data and the CRC of everything so far; there is no byte stuffing.
    """
    length = 1 + sum(len(status.parameters) + 4 for status in statuses)
    packet = _HEADER + bytes((BROADCAST_ID,)) + length.to_bytes(2, "little") + bytes((_STATUS,))
    for status in statuses:
        packet = _with_crc(packet + bytes((status.error, status.id)) + status.parameters)
    return packet


class Parser(StreamParser):
    """Cuts a byte stream into Protocol 2.0 instruction packets; status packets are skipped."""

    header = _HEADER

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
        body = buffer[start + _OVERHEAD : end - 2].replace(_STUFFED, _PATTERN)
        if body[0] == _STATUS and intact:
            return None, end
        return Packet(identifier, body[0], body[1:], intact), end
