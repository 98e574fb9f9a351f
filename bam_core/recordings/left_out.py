# SPDX-License-Identifier: Apache-2.0
"""Readings of a recording that take no part, and how many of them it may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BadData
from bam_core.text.recording_words import left_out_words

Mask = NDArray[np.bool_]

ALWAYS = 3
"""False samples that any recording may have."""

MOST = 0.05
"""Share of a log's samples that may be false. Of a log with more, nothing is sure."""


class Reason(Enum):
    """Why readings take no part."""

    SPIKE = "far from those around"
    BESIDE = "beside those"
    FROZEN = "repeated while the arm moved"
    OTHER_ZERO = "shifted against the others, behind a jump"
    REST = "sound, but not in the longest stretch that is"
    MISSING = "not numbers"
    NO_SUPPLY = "not above 0 V, which no servo that answers can read"
    REPEATED = "samples that were written twice"


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Readings of one channel that take no part.

    Attributes:
        channel: field of `Recording`, such as "position".
        reason: why.
        samples: how many.
        first: index of the first of them in the file.
        cut: the samples are not in the recording; else something stands in place of the readings.
    """

    channel: str
    reason: Reason
    samples: int
    first: int
    cut: bool = False

    def __str__(self) -> str:
        return left_out_words(self.channel, self.reason.value, self.samples, self.first)


def require_few(left_out: Sequence[LeftOut], samples: int) -> None:
    """Refuse a recording of so many samples if more than `MOST` are false; raises BadData."""
    count = lost(left_out)
    if too_many(count, samples):
        parts = [part for part in left_out if _is_lost(part)]
        raise BadData(
            "position",
            f"{count} of {samples} samples cannot be right: {', '.join(map(str, parts))}",
            expected=f"at most {MOST:.0%}",
            advice="check cable and encoder, and that goal and position are not swapped; record it again, or "
            "leave it out",
        )


def _is_lost(part: LeftOut) -> bool:
    """Return whether false readings have a place in the recording: neither cut off nor written twice."""
    return part.channel == "position" and not part.cut


def lost(left_out: Sequence[LeftOut]) -> int:
    """Return how many samples are lost with them."""
    return sum(part.samples for part in left_out if _is_lost(part))


def too_many(false: float, samples: int) -> bool:
    """Return whether so many of so many samples are too many to be false."""
    return false > max(MOST * samples, ALWAYS)


def tell(channel: str, reason: Reason, mask: Mask) -> LeftOut:
    """Say which samples of a channel, (n,) true at least once, take no part, and why."""
    return LeftOut(
        channel=channel, reason=reason, samples=int(mask.sum()), first=int(np.flatnonzero(mask)[0])
    )
