# SPDX-License-Identifier: Apache-2.0
"""What is broken, in words: frames that get lost, late, damaged or overtaken; slaves and drives at fault."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bam_core.errors import OutOfRange, UnknownName, Unsupported
from bam_ros.emulators.erob.drive import DRIVE_FAULTS, LASTING_FAULTS
from bam_ros.emulators.erob.segment import Segment
from bam_ros.emulators.erob.slave import VirtualSlave

PROBABILITIES = ("drop", "corrupt", "garble", "truncate", "reorder")
"""Frame faults with a probability."""
FRAME_FAULTS = (*PROBABILITIES, "delay")
SLAVE_FAULTS = ("lost", "safe_op", "sdo_timeout", "wkc")
"""Faults of slaves, beside those of their drives."""
LONGEST_DELAY = 10.0
"""s"""
_CODE = "fault"
_ETHERNET = 14  # bytes of the header without which an interface takes no frame
_HEADERS = 26  # bytes in which `garble` flips a bit: Ethernet and EtherCAT header, first datagram's header
HOLD = 3_000_000
"""How long an overtaken frame waits for the one that overtakes it, ns."""


@dataclass(frozen=True, kw_only=True)
class FrameFaults:
    """What happens to frames on their way: probabilities, and a delay in s."""

    drop: float = 0.0
    corrupt: float = 0.0
    garble: float = 0.0
    truncate: float = 0.0
    reorder: float = 0.0
    delay: float = 0.0

    def __bool__(self) -> bool:
        return any((self.drop, self.corrupt, self.garble, self.truncate, self.reorder, self.delay))


@dataclass(frozen=True, kw_only=True)
class Faults:
    """All that is broken.

    Attributes:
        frames: on the line.
        slaves: position of a slave, from 1 -> its faults; names, or codes as `fault=0x7305` gives them.
    """

    frames: FrameFaults = field(default_factory=FrameFaults)
    slaves: Mapping[int, Sequence[str | int]] = field(default_factory=dict)


def parse_faults(words: Iterable[str], count: int) -> Faults:
    """Read words such as `drop=0.01`, `delay=0.002`, `lost@2`, `overcurrent@1` and `fault=0x7305`.

    Args:
        words: one fault each. One without `@POSITION` is that of every slave.
        count: of slaves.

    Raises:
        UnknownName: an unknown fault.
        OutOfRange: a wrong value, or a slave that is not there.
        Unsupported: a slave is named for a fault of the line.
    """
    frames: dict[str, float] = {}
    slaves: dict[int, list[str | int]] = {}
    for word in words:
        name, _, place = word.partition("@")
        name, _, value = name.partition("=")
        if name in FRAME_FAULTS:
            if place:
                raise Unsupported(
                    f"fault {name}", "is one of the line, not of a slave", advice=f"leave out @{place}"
                )
            frames[name] = _number(word, name, value)
            continue
        if name not in (*SLAVE_FAULTS, *DRIVE_FAULTS, _CODE):
            raise UnknownName("fault", word, (*FRAME_FAULTS, *SLAVE_FAULTS, *DRIVE_FAULTS, _CODE))
        if (name == _CODE) != bool(value):
            expected = f"{_CODE}=0x7305 for the fault with this code" if name == _CODE else name
            raise OutOfRange("fault", word, expected)
        for position in _positions(word, place, count):
            slaves.setdefault(position, []).append(_code(word, value) if name == _CODE else name)
    return Faults(frames=FrameFaults(**frames), slaves=slaves)


def _number(word: str, name: str, value: str) -> float:
    highest = LONGEST_DELAY if name == "delay" else 1.0
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= highest:
        kind = "delay in seconds" if name == "delay" else "probability"
        raise OutOfRange(f"fault {name}", word, f"a {kind}, {name}=0 to {name}={highest:g}")
    return number


def _positions(word: str, place: str, count: int) -> Iterable[int]:
    if "@" not in word:
        return range(1, count + 1)
    if not place.isdecimal() or not 1 <= int(place) <= count:
        raise OutOfRange("slave of a fault", word, f"@1 to @{count}")
    return (int(place),)


def _code(word: str, value: str) -> int:
    try:
        code = int(value, 0)
    except ValueError:
        code = 0
    if not 0 < code <= 0xFFFF:
        raise OutOfRange("code of a fault", word, f"{_CODE}=0x0001 to 0xFFFF")
    return code


def apply_faults(faults: Faults, before: Faults, segment: Segment, now: int) -> None:
    """Break and repair slaves.

    Args:
        faults: what shall be broken.
        before: what was; events (`overcurrent`, a code) happen when they are new.
        segment: the slaves; one that is no longer lost starts as after its supply came on.
        now: clock, ns.
    """
    connected: list[VirtualSlave] = []
    for position, slave in enumerate(segment.slaves, 1):
        wanted, had = faults.slaves.get(position, ()), before.slaves.get(position, ())
        if "lost" in wanted:
            if "lost" not in had:
                slave.power_on(now)  # as it will come back; until then nobody hears it
            continue
        if "lost" in had:
            slave.power_on(now)
        connected.append(slave)
        slave.bench.advance_to(now)
        slave.miscounts = "wkc" in wanted
        slave.mute = "sdo_timeout" in wanted
        slave.stick("safe_op" in wanted)
        slave.drive.repair()
        for fault in wanted:
            if isinstance(fault, str) and fault in SLAVE_FAULTS:
                continue
            if fault in LASTING_FAULTS or fault not in had:
                slave.drive.inject(fault)
    segment.connect(connected)


class FrameDice:
    """Decides whether each frame is lost, changed or delayed.

    Args:
        seed: of the dice.
    """

    def __init__(self, seed: int = 0) -> None:
        self.faults = FrameFaults()
        self._random = random.Random(seed)

    def hits(self, probability: float) -> bool:
        """Throw the dice."""
        return probability > 0.0 and self._random.random() < probability

    def garble(self, frame: bytearray, length: int) -> None:
        """Flip one bit where a master can notice it."""
        frame[self._random.randrange(min(length, _HEADERS))] ^= 1 << self._random.randrange(8)

    def cut(self, length: int) -> int:
        """Return how much of a frame arrives, less than half of it."""
        return self._random.randrange(_ETHERNET, max(length // 2, _ETHERNET + 1))
