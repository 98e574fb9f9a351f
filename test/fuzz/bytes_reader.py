# SPDX-License-Identifier: Apache-2.0
"""Values out of an input, so that bytes that a fuzzer changes become structured messages."""

from __future__ import annotations

import math
import struct

SPECIAL = (
    0.0,
    -0.0,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    -1e308,
    5e-324,
    1e-300,
    1.0,
    -1.0,
    0.5,
    2.0**63,
    1e9,
    -1e9,
    254.0,
    16383.0,
    16384.0,
)


class BytesReader:
    """Reads an input from its begin; behind its end everything is zero."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """Bytes that were not read yet."""
        return max(len(self._data) - self._at, 0)

    def take(self, count: int) -> bytes:
        """Return the next bytes, fewer where the input ends."""
        found = self._data[self._at : self._at + count]
        self._at += count
        return found

    def rest(self) -> bytes:
        return self.take(self.left)

    def byte(self) -> int:
        return int.from_bytes(self.take(1), "little")

    def word(self) -> int:
        return int.from_bytes(self.take(2), "little")

    def number(self) -> float:
        """Return a float64: one of `SPECIAL`, one of usual size, or any."""
        kind = self.byte()
        if kind < 2 * len(SPECIAL):
            return SPECIAL[kind // 2]
        if kind < 200:
            return (self.word() - 32768) / 8192.0
        return struct.unpack("<d", self.take(8).ljust(8, b"\0"))[0]

    def numbers(self, most: int) -> list[float]:
        return [self.number() for _ in range(self.byte() % (most + 1))]
