# SPDX-License-Identifier: Apache-2.0
"""What the parts of Egle's thesis have in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bam_core.arrays import Array

ACCURATE, VERY_ACCURATE = 0.05, 0.02
"""Of F_c, up to which friction is found "accurately" (fig. 6.5a), and "very accurately" (fig. 6.2).

A quarter and a tenth of the Stribeck part, the smallest feature of the curve, which both figures show. The
thesis tells no size.
"""

Say = Callable[[str], None]


def root_mean_square(values: Array) -> float:
    """Return the RMS of what is finite."""
    return float(np.sqrt(np.nanmean(values**2)))
