# SPDX-License-Identifier: Apache-2.0
"""What both protocols share: instructions, packets, complaints, and cutting a stream into packets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum, IntEnum
from typing import NamedTuple

BROADCAST_ID = 0xFE


class Instruction(IntEnum):
    """Instruction bytes; those of Protocol 1.0 have the same values in 2.0."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    FACTORY_RESET = 0x06
    REBOOT = 0x08
    CLEAR = 0x10
    SYNC_READ = 0x82
    SYNC_WRITE = 0x83
    FAST_SYNC_READ = 0x8A
    BULK_READ = 0x92
    BULK_WRITE = 0x93
    FAST_BULK_READ = 0x9A


class Complaint(Enum):
    """Why a servo did not do what a packet asked; the value is (error bit of 1.0, error number of 2.0)."""

    RESULT_FAIL = (0x40, 0x01)
    INSTRUCTION = (0x40, 0x02)
    CHECKSUM = (0x10, 0x03)
    RANGE = (0x08, 0x04)
    LENGTH = (0x08, 0x05)
    LIMIT = (0x08, 0x06)
    ANGLE_LIMIT = (0x02, 0x06)
    ACCESS = (0x08, 0x07)


class Refused(Exception):  # noqa: N818 - not an error of this program but an answer of the servo
    """A servo refuses what a packet asks."""

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(complaint.name)
        self.complaint = complaint


class Packet(NamedTuple):
    """One instruction packet as it arrived.

    Attributes:
        id: addressed servo, or BROADCAST_ID.
        instruction: byte, possibly undefined.
        parameters: without byte stuffing.
        intact: False where checksum or CRC does not match.
    """

    id: int
    instruction: int
    parameters: bytes
    intact: bool = True


class Status(NamedTuple):
    """One status packet to be sent.

    Attributes:
        id: of the servo that answers.
        error: error byte, already in the protocol's own code.
        parameters: without byte stuffing.
    """

    id: int
    error: int
    parameters: bytes = b""


class StreamParser(ABC):
    """Cuts a byte stream into instruction packets; whatever is not one is skipped.

    A damaged packet is reported as not intact, and the search goes on behind its header, so that a good
    packet inside it is still found. A good packet behind an unfinished one proves that one to be noise.
    """

    header: bytes

    def __init__(self) -> None:
        self._buffer = b""

    @abstractmethod
    def cut(self, buffer: bytes, start: int) -> tuple[Packet | None, int] | None:
        """Cut the packet that begins at `start`.

        Returns:
            None while it is unfinished; otherwise the packet and where it ends, or (None, where to search on)
            if there is no packet.
        """

    def feed(self, data: bytes) -> list[Packet]:
        """Return the packets that these bytes complete."""
        buffer = self._buffer + data
        packets: list[Packet] = []
        unfinished: int | None = None
        start = done = 0
        while (start := buffer.find(self.header, start)) >= 0:
            cut = self.cut(buffer, start)
            if cut is None:
                unfinished = start if unfinished is None else unfinished
                start += 1
                continue
            packet, end = cut
            if packet is not None and packet.intact:
                unfinished = None
                packets.append(packet)
            elif packet is not None:
                if unfinished is None:
                    packets.append(packet)
                end = start + len(self.header)
            start = done = end
        self._buffer = buffer[unfinished:] if unfinished is not None else self._header_begun(buffer[done:])
        return packets

    def reset(self) -> None:
        """Forget an unfinished packet, as a servo does when the line stays silent in the middle of one."""
        self._buffer = b""

    def _header_begun(self, rest: bytes) -> bytes:
        """Return the longest tail that could be the beginning of a header."""
        for length in range(len(self.header) - 1, 0, -1):
            if rest.endswith(self.header[:length]):
                return rest[-length:]
        return b""


class Reply(NamedTuple):
    """Bytes that a servo sends.

    Attributes:
        data: one status packet.
        delay: silence before it, s (return delay time).
    """

    data: bytes
    delay: float
