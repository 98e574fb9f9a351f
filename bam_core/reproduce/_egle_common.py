# SPDX-License-Identifier: Apache-2.0
"""What the parts of Egle's thesis have in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bam_core.arrays import Array

ACCURATE = 0.05
"""Of F_c, up to which friction is found "accurately" (fig. 6.5a) or "very accurately" (fig. 6.2).

A quarter of the Stribeck part; the thesis tells no size, and draws one curve over the other in both.
"""

Say = Callable[[str], None]


def root_mean_square(values: Array) -> float:
    """Return the RMS of what is finite."""
    return float(np.sqrt(np.nanmean(values**2)))
