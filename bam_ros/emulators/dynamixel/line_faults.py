# SPDX-License-Identifier: Apache-2.0
"""Faults of the line: replies that get lost or damaged, with a probability and a seed."""

from __future__ import annotations

import random
from collections.abc import Iterable

from bam_core.errors import OutOfRange, UnknownName
from bam_ros.emulators.dynamixel.packets import Reply

LINE_FAULTS = ("drop", "corrupt")
"""Names of the probabilities."""


class LineFaults:
    """What happens to replies on their way.

    Args:
        drop: probability that a reply is lost.
        corrupt: probability that one bit of it flips.
        seed: of the dice.
    """

    def __init__(self, *, drop: float = 0.0, corrupt: float = 0.0, seed: int = 0) -> None:
        self.drop = drop
        self.corrupt = corrupt
        self._random = random.Random(seed)

    def strike(self, reply: Reply) -> Reply | None:
        """Return the reply as it arrives, None if it does not."""
        if self.drop and self._random.random() < self.drop:
            return None
        if self.corrupt and self._random.random() < self.corrupt:
            data = bytearray(reply.data)
            data[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)
            return reply._replace(data=bytes(data))
        return reply


def parse_faults(words: Iterable[str], servo_faults: Iterable[str]) -> tuple[dict[str, float], list[str]]:
    """Sort words such as `drop=0.01` and `overheat` into line faults with probabilities, and servo faults.

    Raises:
        UnknownName: an unknown fault.
        OutOfRange: a probability that is none.
    """
    servo_faults = tuple(servo_faults)
    line: dict[str, float] = {}
    servo: list[str] = []
    for word in words:
        name, _, value = word.partition("=")
        if name in LINE_FAULTS:
            try:
                line[name] = float(value)
            except ValueError:
                line[name] = -1.0
            if not 0.0 <= line[name] <= 1.0:
                raise OutOfRange(f"fault {name}", value, "a probability, 0 to 1", printed=value or "none")
        elif word in servo_faults:
            servo.append(word)
        else:
            raise UnknownName("fault", word, (*LINE_FAULTS, *servo_faults))
    return line, servo
