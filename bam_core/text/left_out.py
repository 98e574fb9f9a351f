# SPDX-License-Identifier: Apache-2.0
"""Findings about single readings that take no part."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from bam_core.text.finding import Finding, count


class Reason(str, Enum):
    """Why readings take no part: kinds of `LeftOut`."""

    SPIKE = "spike"
    BESIDE = "beside"
    FROZEN = "frozen"
    OLDER = "older"
    OTHER_ZERO = "other_zero"
    AT_END = "at_end"
    REST = "rest"
    MISSING = "missing"
    NO_SUPPLY = "no_supply"
    REPEATED = "repeated"


@dataclass(frozen=True, kw_only=True)
class LeftOut(Finding):
    """Readings of one channel that take no part.

    Attributes:
        kind: why.
        channel: field of `Recording`, such as "position".
        samples: how many.
        first: index of the first of them in the file.
        cut: the samples are not in the recording; else something stands in place of the readings.
    """

    WHY: ClassVar = {
        Reason.SPIKE: "far from those around",
        Reason.BESIDE: "beside those",
        Reason.FROZEN: "repeated while the arm moved",
        Reason.OLDER: "older readings again",
        Reason.OTHER_ZERO: "shifted against the others, behind a jump",
        Reason.AT_END: "an end stop or clipped, with goals beyond",
        Reason.REST: "sound, but not in the longest stretch that is",
        Reason.MISSING: "not numbers",
        Reason.NO_SUPPLY: "not above 0 V, which no answering servo reads",
        Reason.REPEATED: "samples that were written twice",
    }

    kind: Reason
    channel: str
    samples: int
    first: int
    cut: bool = False

    @property
    def why(self) -> str:
        """Reason and place, as a phrase."""
        return f"{self.WHY[self.kind]}, first at entry {self.first}"

    @property
    def phrase(self) -> str:
        """How many readings of what, and why: "1 reading of position (..., first at entry 100)"."""
        return f"{count(self.samples, 'reading')} of {self.channel} ({self.why})"

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many readings of what, and why."""
        return (f"Not used: {self.phrase}.",)
