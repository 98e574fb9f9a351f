# SPDX-License-Identifier: Apache-2.0
"""Instruction packets as bytes, and the CRC of Protocol 2.0, fast enough for every cycle of a loop."""

from __future__ import annotations

import struct
from array import array
from functools import cache

TO_ALL = 0xFE
"""Id of packets for all servos."""
_HEADER1, _HEADER2 = b"\xff\xff", b"\xff\xff\xfd\x00"
PATTERN = b"\xff\xff\xfd"
"""What begins a packet of Protocol 2.0."""
STUFFED = PATTERN + b"\xfd"
"""The same inside one."""
_POLYNOMIAL = 0x8005


@cache
def _steps() -> array[int]:
    """Return what two bytes make of a CRC: index is the CRC before, exclusive-or the two bytes."""
    one = []
    for byte in range(256):
        value = byte << 8
        for _ in range(8):
            value = (value << 1 ^ _POLYNOMIAL if value & 0x8000 else value << 1) & 0xFFFF
        one.append(value)
    after_first = [one[index >> 8] ^ (index << 8 & 0xFF00) for index in range(1 << 16)]
    return array("H", [one[value >> 8] ^ (value << 8 & 0xFF00) for value in after_first])


def crc16(data: bytes, crc: int = 0) -> int:
    """Return the CRC-16 of Protocol 2.0 (polynomial 0x8005, most significant bit first, start 0).

    Args:
        data: bytes that follow those before.
        crc: of those before.
    """
    steps, pairs = _steps(), len(data) >> 1
    for pair in struct.unpack_from(f">{pairs}H", data):
        crc = steps[crc ^ pair]
    if len(data) & 1:
        # A byte is the second one of a pair whose first byte leaves no trace: that of the CRC itself.
        crc = (crc << 8 & 0xFF00) ^ steps[crc >> 8 ^ data[-1]]
    return crc


def instruction_packet(protocol: int, servo: int, instruction: int, parameters: bytes) -> bytes:
    """Return the bytes of an instruction packet.

    Args:
        protocol: 2, or 1; 0 is Feetech's, whose packets are those of 1.
        servo: its id, or `TO_ALL`.
        instruction: its byte.
        parameters: without byte stuffing.
    """
    if protocol == 2:
        return frame(servo, bytes((instruction,)) + parameters)
    body = bytes((servo, len(parameters) + 2, instruction)) + parameters
    return _HEADER1 + body + bytes((~sum(body) & 0xFF,))


def frame(servo: int, body: bytes) -> bytes:
    """Return a packet of Protocol 2.0: header, length, stuffed body and CRC.

    Args:
        servo: id in it.
        body: the instruction and what follows it.
    """
    body = body.replace(PATTERN, STUFFED)
    packet = _HEADER2 + bytes((servo,)) + (len(body) + 2).to_bytes(2, "little") + body
    return packet + crc16(packet).to_bytes(2, "little")
