# SPDX-License-Identifier: Apache-2.0
"""What the parts of Egle's thesis have in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bam_core.arrays import Array

Say = Callable[[str], None]


def root_mean_square(values: Array) -> float:
    """Return the RMS of what is finite."""
    return float(np.sqrt(np.nanmean(values**2)))
