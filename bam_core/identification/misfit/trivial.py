# SPDX-License-Identifier: Apache-2.0
"""What needs no model: an arm that is always at its goal, and one that does not move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from bam_core.recordings.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Trivial:
    """The better of two predictions that no servo is in.

    Attributes:
        error: mean over recordings of the mean absolute position error, rad.
        kind: which one it is.
    """

    error: float
    kind: Literal["at_goal", "at_rest"]


def trivial(recordings: Sequence[Recording]) -> Trivial:
    """Return how far off these recordings are from what needs no model.

    Args:
        recordings: one at least. Without a controller an arm has no goal: it stays at its mean position.
    """
    resting = Trivial(
        error=fmean(
            float(np.mean(np.abs(recording.position - recording.position.mean()))) for recording in recordings
        ),
        kind="at_rest",
    )
    if any(recording.open_loop for recording in recordings):
        return resting
    at_goal = Trivial(
        error=fmean(
            float(np.mean(np.abs(recording.position - recording.goal_position))) for recording in recordings
        ),
        kind="at_goal",
    )
    return min(at_goal, resting, key=lambda trivial: trivial.error)
