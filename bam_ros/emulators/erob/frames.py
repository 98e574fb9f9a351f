# SPDX-License-Identifier: Apache-2.0
"""EtherCAT frames: datagrams one after the other behind an Ethernet header."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

ETHERTYPE = 0x88A4
HEADER = struct.Struct("<BBHHHH")
"""Of a datagram: command, index, address (two words), length and flags, interrupts."""
WORD = struct.Struct("<H")
FIRST_DATAGRAM = 16
"""Where the first datagram of a frame begins: behind the Ethernet header and the EtherCAT header."""
LENGTH_MASK = 0x07FF
CIRCULATING = 0x4000
MORE = 0x8000
LARGEST = 1514
"""Longest frame without its check sequence, bytes."""

_ETHERNET = struct.Struct("!6s6sH")
_BROADCAST = b"\xff" * 6
_MASTER = b"\x02\x00\x00\x00\x00\x01"
_DATAGRAMS = 1  # type of an EtherCAT frame that carries datagrams
_SMALLEST = 60


class Command(IntEnum):
    """What a datagram asks: Auto-increment, Fixed, Broadcast or Logical address; ReaD, WRite or both."""

    NOP = 0
    APRD = 1
    APWR = 2
    APRW = 3
    FPRD = 4
    FPWR = 5
    FPRW = 6
    BRD = 7
    BWR = 8
    BRW = 9
    LRD = 10
    LWR = 11
    LRW = 12
    ARMW = 13
    FRMW = 14


class FrameError(ValueError):
    """Bytes that are no frame with whole datagrams."""


class Datagram(NamedTuple):
    """One datagram.

    Attributes:
        command: a Command, or another number, which slaves pass on.
        number: the master's own, for finding answers.
        address: logical address; or slave in the low word and memory address in the high word.
        data: 0 to 2047 bytes.
        working_counter: how many slaves did as asked.
        interrupts: of all slaves, ored.
        circulating: it has come to a closed port before.
    """

    command: int
    number: int
    address: int
    data: bytes
    working_counter: int = 0
    interrupts: int = 0
    circulating: bool = False


def physical(slave: int, memory: int) -> int:
    """Return a datagram's address: the slave (its station address, or minus its position) and memory."""
    return (slave & 0xFFFF) | memory << 16


def encode(
    datagrams: Iterable[Datagram], destination: bytes = _BROADCAST, source: bytes = _MASTER
) -> bytearray:
    """Return the frame, padded to the shortest that Ethernet knows."""
    body = bytearray()
    datagrams = tuple(datagrams)
    for i, datagram in enumerate(datagrams):
        flags = len(datagram.data) | CIRCULATING * datagram.circulating | MORE * (i + 1 < len(datagrams))
        low, high = datagram.address & 0xFFFF, datagram.address >> 16
        body += HEADER.pack(datagram.command, datagram.number, low, high, flags, datagram.interrupts)
        body += datagram.data
        body += WORD.pack(datagram.working_counter)
    frame = bytearray(_ETHERNET.pack(destination, source, ETHERTYPE))
    frame += WORD.pack(len(body) | _DATAGRAMS << 12)
    frame += body
    return frame.ljust(_SMALLEST, b"\0")


def decode(frame: bytes | bytearray) -> tuple[Datagram, ...]:
    """Return the datagrams of a frame.

    Raises:
        FrameError: it is not EtherCAT, or a datagram is cut off.
    """
    result = []
    for at in offsets(frame, len(frame)):
        command, number, low, high, flags, interrupts = HEADER.unpack_from(frame, at)
        start = at + HEADER.size
        end = start + (flags & LENGTH_MASK)
        result.append(
            Datagram(
                command=command,
                number=number,
                address=low | high << 16,
                data=bytes(frame[start:end]),
                working_counter=WORD.unpack_from(frame, end)[0],
                interrupts=interrupts,
                circulating=bool(flags & CIRCULATING),
            )
        )
    return tuple(result)


def offsets(frame: bytes | bytearray | memoryview, length: int) -> list[int]:
    """Return where the datagrams of a frame begin; `length` bytes of the buffer are the frame.

    Raises:
        FrameError: it is not EtherCAT, or a datagram is cut off.
    """
    if length < FIRST_DATAGRAM or frame[12] != 0x88 or frame[13] != 0xA4:
        raise FrameError("no EtherCAT frame")
    header = frame[14] | frame[15] << 8
    if header >> 12 != _DATAGRAMS:
        raise FrameError(f"EtherCAT frame of type {header >> 12}, which carries no datagrams")
    end = FIRST_DATAGRAM + (header & LENGTH_MASK)
    if end > length:
        raise FrameError(f"{end} bytes announced, {length} received")
    result = []
    at = FIRST_DATAGRAM
    while True:
        if at + HEADER.size + WORD.size > end:
            raise FrameError(f"a datagram is cut off at byte {at}")
        flags = frame[at + 6] | frame[at + 7] << 8
        result.append(at)
        at += HEADER.size + (flags & LENGTH_MASK) + WORD.size
        if at > end:
            raise FrameError(f"a datagram reaches over the end by {at - end} bytes")
        if not flags & MORE:
            return result
