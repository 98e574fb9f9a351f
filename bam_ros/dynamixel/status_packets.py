# SPDX-License-Identifier: Apache-2.0
"""Status packets among received bytes, of both protocols: complete and intact ones only.

The SDKs accept more: they cut the data of a shorter answer out of its checksum, drop bytes of data that hold
a stuffed pattern, and search on behind a damaged packet, where any bytes may look like one.
"""

from __future__ import annotations

from typing import NamedTuple

from bam_ros.dynamixel.packets import PATTERN, STUFFED, crc16

_HEADER1, _HEADER2 = b"\xff\xff", b"\xff\xff\xfd\x00"
_STATUS = 0x55
_BEFORE1, _BEFORE2 = 4, 7  # bytes before those that the length counts
_LEAST1, _LEAST2 = 2, 4  # length of a packet without data
_LONGEST2 = 2048  # what servos send is shorter; more is no length


class Damaged(Exception):  # noqa: N818 - the link turns it into an error with the servo in it
    """What was received is no packet."""


class StatusPacket(NamedTuple):
    """One answer.

    Attributes:
        sender: id of the servo.
        error: its error byte.
        data: without byte stuffing.
        raw: the whole packet.
        end: place behind it in the bytes that were searched.
    """

    sender: int
    error: int
    data: bytes
    raw: bytes
    end: int


def first_status(protocol: int, received: bytes) -> StatusPacket | None:
    """Return the first status packet; None while it is unfinished.

    Bytes before its header are passed over: adapters make some where the line changes its direction.

    Args:
        protocol: 2, 1, or 0 for Feetech.
        received: bytes so far.

    Raises:
        Damaged: the first packet is not intact; nothing behind it is looked at.
    """
    return _first2(received) if protocol == 2 else _first1(received)


def _first1(received: bytes) -> StatusPacket | None:
    start = received.find(_HEADER1)
    while start >= 0 and received[start + 2 : start + 3] == b"\xff":  # a byte before the header
        start += 1
    if start < 0 or len(received) < start + _BEFORE1:
        return None
    sender, length = received[start + 2], received[start + 3]
    if length < _LEAST1:
        raise Damaged
    end = start + _BEFORE1 + length
    if len(received) < end:
        return None
    if sum(received[start + 2 : end]) & 0xFF != 0xFF:
        raise Damaged
    return StatusPacket(sender, received[start + 4], received[start + 5 : end - 1], received[start:end], end)


def _first2(received: bytes) -> StatusPacket | None:
    start = received.find(_HEADER2)
    while start >= 0 and len(received) >= start + _BEFORE2:
        length = received[start + 5] | received[start + 6] << 8
        if not _LEAST2 - 1 <= length <= _LONGEST2:
            raise Damaged
        end = start + _BEFORE2 + length
        if len(received) < end:
            return None
        if crc16(received[start : end - 2]) != received[end - 2] | received[end - 1] << 8:
            raise Damaged
        if received[start + _BEFORE2] == _STATUS and length >= _LEAST2:
            body = received[start + _BEFORE2 + 1 : end - 2]
            data = body[1:].replace(STUFFED, PATTERN)
            return StatusPacket(received[start + 4], body[0], data, received[start:end], end)
        start = received.find(_HEADER2, end)  # an instruction: the adapter's echo
    return None
