# SPDX-License-Identifier: Apache-2.0
"""Over how long errors of a model stay alike: its errors are correlated over time, samples count as fewer.

The variance of a mean over a duration T is that of T / (2 τ) independent errors, where τ is the integral time
scale (Bayley and Hammersley 1946).
"""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array


def integral_time_scale(errors: Array) -> float | None:
    """Return the integral of the autocorrelation up to its first zero, in periods; 0.5 of independent errors.

    Args:
        errors: (samples,) in a row.

    Returns:
        None where all errors are zero.
    """
    size = len(errors)
    power = np.abs(np.fft.rfft(errors, 2 * size)) ** 2
    correlation = np.fft.irfft(power)[:size]
    if correlation[0] <= 0.0:
        return None
    correlation /= correlation[0]
    negative = np.flatnonzero(correlation <= 0.0)
    end = int(negative[0]) if len(negative) else size
    return 0.5 + float(np.sum(correlation[1:end]))
