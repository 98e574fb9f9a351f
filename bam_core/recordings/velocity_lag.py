# SPDX-License-Identifier: Apache-2.0
"""How much later than its position a servo's velocity is, by which a channel that lags gives itself away.

A servo computes its velocity from its position, some time later. Of one servo that time is the same in all
recordings: 10 to 20 ms in those of the XL330, 0 to 25 ms in those of the STS3215. A recording that differs
has a channel that lags.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording

_STEP = 0.005  # s
_REACH = 60  # steps; later ones are no lag
_SMOOTH = 9  # steps; short against the motion, long against counts of the encoder
_FEWEST = 50  # velocities
_MOVES = 0.2  # rad/s, root mean square
_STALE = 0.02  # of that of the positions' change
_ALIKE = 0.97  # correlation; 0.99 and more in 361 real recordings of two servos


@dataclass(frozen=True, kw_only=True)
class VelocityLag:
    """Result of one recording.

    Attributes:
        lag: by which velocities are later than positions, s; NaN where it is not sure.
        is_stale: the velocity hardly changes while the arm moves.
    """

    lag: float = math.nan
    is_stale: bool = False


def velocity_lag(recording: Recording) -> VelocityLag | None:
    """Compare the reported velocity with the change of position; None where the arm hardly moves."""
    known = np.isfinite(recording.velocity)
    time = np.arange(recording.time[0], recording.time[-1], _STEP)
    if np.count_nonzero(known) < _FEWEST or len(time) < 4 * _REACH:
        return None
    seen = _smoothed(np.gradient(np.interp(time, recording.time, recording.position), _STEP))
    reported = _smoothed(np.interp(time, recording.time[known], recording.velocity[known]))
    if np.std(seen) < _MOVES:
        return None
    if np.std(reported) < _STALE * np.std(seen):
        return VelocityLag(is_stale=True)
    size = 2 * len(time)
    both = np.fft.irfft(
        np.fft.rfft(reported - reported.mean(), size) * np.fft.rfft(seen - seen.mean(), size).conj()
    )
    near = np.concatenate((both[-_REACH:], both[: _REACH + 1]))
    best = int(np.argmax(near)) - _REACH
    late, early = max(best, 0), max(-best, 0)
    alike = np.corrcoef(reported[late : len(reported) - early], seen[early : len(seen) - late])[0, 1]
    return VelocityLag(lag=best * _STEP if alike > _ALIKE else math.nan)


def _smoothed(values: Array) -> Array:
    window = np.hanning(_SMOOTH + 2)[1:-1]
    return np.convolve(values, window / window.sum(), "same")
