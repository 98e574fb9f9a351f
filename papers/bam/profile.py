# SPDX-License-Identifier: Apache-2.0
"""Errors of M1 to M6 beside those that BAM's authors have for the same recordings.

Their level depends on much that is no model's (which logs, which interval, which simulator), so the common
factor is taken out: what is compared is how the models differ from each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from bam_core.servo.friction import FRICTION_MODELS
from papers.bam.relations import NOT_UNDERSTOOD
from papers.claim import Claim

AUTHORS_TRAINING: Mapping[str, Sequence[float]] = {
    "xl330": (56.1, 55.7, 45.0, 37.4, 39.8, 40.0),
    "sts3215": (24.8, 24.4, 24.0, 23.9, 23.6, 23.7),
}
"""mrad, M1 to M6: what BAM's program reaches on these logs, as published with them (STS3215: on all)."""

_PART = 0.25  # of the distance between the authors' highest and lowest error


def common_factor(ours: Mapping[str, float], theirs: Mapping[str, float]) -> float:
    """Return the median over the models of our error over the authors'."""
    return median(ours[model] / theirs[model] for model in FRICTION_MODELS)


def deviations(ours: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
    """Return by model the logarithm of our error over the authors', the common factor taken out."""
    factor = common_factor(ours, theirs)
    return {model: math.log(ours[model] / theirs[model] / factor) for model in FRICTION_MODELS}


def gap(theirs: Mapping[str, float]) -> float:
    """Return the logarithm of the authors' highest error over their lowest."""
    return math.log(max(theirs.values()) / min(theirs.values()))


def profile_claim(words: str, ours: Mapping[str, float], theirs: Mapping[str, float], reason: str) -> Claim:
    """Return how our models differ from each other, beside how the authors' do, on real data.

    Args:
        words: what was done.
        ours: by model, rad.
        theirs: likewise.
        reason: why they differ where they do.
    """
    off = deviations(ours, theirs)
    limit = _PART * gap(theirs)
    farthest = max(off, key=lambda model: abs(off[model]))
    holds = abs(off[farthest]) < limit
    return Claim(
        claim=f"{words}: MAE of M1..M6 relative to each other (authors' program)",
        paper=_relative(theirs),
        ours=f"{_relative(ours)}; {farthest.upper()} farthest off, {100 * math.expm1(off[farthest]):+.1f} %",
        unit="over the median of the six",
        holds=holds,
        kind="real",
        threshold_reason=f"each model within {100 * math.expm1(limit):.1f} % of the authors' after a common"
        " factor, a quarter of the distance between their best and their worst model, on a logarithmic scale:"
        " models that are all alike would be off by twice as much at least",
        reason="" if holds else reason or NOT_UNDERSTOOD,
    )


def _relative(mae: Mapping[str, float]) -> str:
    middle = median(mae[model] for model in FRICTION_MODELS)
    return " / ".join(f"{mae[model] / middle:.2f}" for model in FRICTION_MODELS)
