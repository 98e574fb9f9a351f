# SPDX-License-Identifier: Apache-2.0
"""Readings of a recording that take no part, and how many of them it may have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BadData
from bam_core.text.left_out import LeftOut, Reason

Mask = NDArray[np.bool_]

ALWAYS = 3
"""False samples that any recording may have."""

MOST = 0.05
"""Share of a log's samples that may be false. Of a log with more, nothing is sure."""


def require_few(left_out: Sequence[LeftOut], samples: int) -> None:
    """Refuse a recording of so many samples if more than `MOST` are false; raises BadData."""
    count = lost(left_out)
    if too_many(count, samples):
        parts = [part for part in left_out if _is_lost(part)]
        raise BadData(
            "position",
            f"{count} of {samples} samples cannot be right: {', '.join(part.phrase for part in parts)}",
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
    """Return which samples of a channel, (n,) true at least once, take no part, and why."""
    return LeftOut(kind=reason, channel=channel, samples=int(mask.sum()), first=int(np.flatnonzero(mask)[0]))
