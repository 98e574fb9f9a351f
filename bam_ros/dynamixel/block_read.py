# SPDX-License-Identifier: Apache-2.0
"""One request for a block of each of several servos, and the bytes that are its answers when all is well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from bam_ros.dynamixel.packets import PATTERN, TO_ALL, crc16, instruction_packet

Answers = dict[int, tuple[bytes, int]]
"""Id -> bytes of its block, and the error byte of its status packet."""

_READ, _SYNC_READ, _BULK_READ = 0x02, 0x82, 0x92
_ADDED_FAST = 0x08  # to the instruction where servos answer in one packet
_STATUS = 0x55
_OVERHEAD = {0: 6, 1: 6, 2: 11}  # bytes of an answer besides its data
_FAST = 8, 4  # bytes of the one packet before the first servo's, and of each besides its data


@dataclass(frozen=True, kw_only=True)
class BlockRead:
    """A request that is made in every cycle: composed once, its answers taken apart without a search.

    Attributes:
        protocol: 1, 2, or 0 for Feetech.
        blocks: id -> address of the first register, and how many bytes.
        fast: whether all answer in one packet (Protocol 2.0).
        packet: the request.
        length: bytes of all answers.
        begin: what these begin with.
    """

    protocol: int
    blocks: Mapping[int, tuple[int, int]]
    fast: bool
    packet: bytes
    length: int
    begin: bytes
    _places: tuple[tuple[int, int, bytes, int, int], ...]  # id, start, what it begins with, data, end

    @classmethod
    def of(cls, protocol: int, blocks: Mapping[int, tuple[int, int]], *, fast: bool = False) -> BlockRead:
        """Compose a request; arguments as the attributes."""
        header, overhead = _FAST if fast else (0, _OVERHEAD[protocol])
        ends = list(accumulate((length + overhead for _, length in blocks.values()), initial=header))
        places = []
        for (servo, (_, length)), start, end in zip(blocks.items(), ends, ends[1:], strict=False):
            begin = b"" if fast else _begin(protocol, servo, length + overhead)
            data = start + 2 if fast else start + len(begin) + 1
            places.append((servo, start, begin, data, end))
        return cls(
            protocol=protocol,
            blocks=dict(blocks),
            fast=fast,
            packet=_request(protocol, blocks, fast=fast),
            length=ends[-1],
            begin=_begin(protocol, TO_ALL, ends[-1]) if fast else places[0][2],
            _places=tuple(places),
        )

    def take(self, received: bytes) -> Answers | None:
        """Return what the servos answered; None where that is not exactly what is expected.

        Args:
            received: `length` bytes.
        """
        answers: Answers = {}
        is_whole = len(received) == self.length and self.take_arrived(received, answers)
        return answers if is_whole else None

    def take_arrived(self, received: bytes, answers: Answers) -> bool:
        """Add the answers that have come since the last call; return whether all are what is expected.

        Args:
            received: all bytes so far.
            answers: of the calls before; those that have come are added.
        """
        if self.fast:
            return len(received) < self.length or self._take_fast(received, answers)
        for servo, start, begin, at, end in self._places[len(answers) :]:
            if len(received) < end:
                break
            if received[start : at - 1] != begin:
                return False
            if self.protocol == 2:
                data = received[at : end - 2]
                right = crc16(received[start : end - 2]) == received[end - 2] | received[end - 1] << 8
                if not right or PATTERN in data:
                    return False
            else:
                data = received[at : end - 1]
                if sum(received[start + 2 : end]) & 0xFF != 0xFF:
                    return False
            answers[servo] = data, received[at - 1]
        return True

    def next_end(self, answers: Answers) -> int:
        """Return how many bytes will have come with one more answer than these."""
        return self.length if self.fast else self._places[len(answers)][-1]

    def _take_fast(self, received: bytes, answers: Answers) -> bool:
        """Take the one packet of all servos apart: of each error byte, id, data and a CRC of all so far."""
        end, begin = self.length, self.begin
        if received[: len(begin)] != begin:
            return False
        if crc16(received[: end - 2]) != received[end - 2] | received[end - 1] << 8:
            return False
        for servo, start, _, at, end in self._places:
            if received[start + 1] != servo:
                return False
            answers[servo] = received[at : end - 2], received[start]
        return True


def _begin(protocol: int, servo: int, length: int) -> bytes:
    """Return what an answer of so many bytes begins with, before its error byte."""
    if protocol == 2:
        return b"\xff\xff\xfd\x00" + bytes((servo,)) + (length - 7).to_bytes(2, "little") + bytes((_STATUS,))
    return b"\xff\xff" + bytes((servo, length - 4))


def _request(protocol: int, blocks: Mapping[int, tuple[int, int]], *, fast: bool) -> bytes:
    size = 2 if protocol == 2 else 1

    def words(*numbers: int) -> bytes:
        return b"".join(number.to_bytes(size, "little") for number in numbers)

    servos = list(blocks)
    if len(servos) == 1:
        return instruction_packet(protocol, servos[0], _READ, words(*blocks[servos[0]]))
    added = _ADDED_FAST if fast else 0
    same = set(blocks.values())
    if protocol != 1 and len(same) == 1:
        parameters = words(*same.pop()) + bytes(servos)
        return instruction_packet(protocol, TO_ALL, _SYNC_READ + added, parameters)
    if protocol == 2:
        parameters = b"".join(bytes((servo,)) + words(*block) for servo, block in blocks.items())
    else:
        parameters = bytes(
            (0, *(byte for servo, (at, count) in blocks.items() for byte in (count, servo, at)))
        )
    return instruction_packet(protocol, TO_ALL, _BULK_READ + added, parameters)
