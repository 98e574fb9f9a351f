# SPDX-License-Identifier: Apache-2.0
"""What claims about Egle's thesis have in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bam_core.arrays import Array
from bam_core.reproduce.claim import Claim, Figure, Kind

Say = Callable[[str], None]


def claim(
    kind: Kind,
    name: str,
    paper: Figure,
    ours: Figure,
    holds: bool,
    threshold: str,
    unit: str = "",
    *,
    contradicts: bool = False,
    reason: str = "",
) -> Claim:
    """Return a claim; `reason` and `contradicts` count only where it does not hold."""
    failed = not holds
    return Claim(
        claim=name,
        paper=paper,
        ours=ours,
        unit=unit,
        holds=bool(holds),
        kind=kind,
        threshold_reason=threshold,
        contradicts=failed and contradicts,
        reason=reason if failed else "",
    )


def root_mean_square(values: Array) -> float:
    """Return the RMS of what is finite."""
    return float(np.sqrt(np.nanmean(values**2)))
