# SPDX-License-Identifier: Apache-2.0
"""Position and velocity of the arm at any time of a recording, from its positions alone.

Velocities that servos report lag, or are rounded coarsely. So a cubic is laid through the samples around the
time, with weights that a single bad sample cannot bend (Tukey's biweight). On swings of 1.2 to 4 Hz at
7.5 rad/s, sampled at 100 to 500 Hz and rounded to 4096 counts, velocities are 0.01 to 0.1 rad/s off (root
mean square); a parabola through the same samples is three to twenty times worse.
"""

from __future__ import annotations

import math

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording

_WINDOW = 0.04  # s to either side: four samples at 100 Hz, and short against a swing of the arm
_LEAST = 3  # samples to either side
_TERMS = 4  # of a cubic
_ROUNDS = 3  # of weighting anew; the weights hardly change after that
_BIWEIGHT = 4.685  # deviations beyond which a sample has no say: 95 % efficient on normal errors
_MAD = 0.6745  # of a standard deviation, of normal errors
_RESTS = 3.0  # deviations of a velocity that encoder counts could feign
_SOFT = 1e-9  # keeps the normal equations solvable where weights leave two samples


def measured_states(recording: Recording, times: Array, resolution: float) -> Array:
    """Return positions and velocities at some times; see `states_between`.

    Args:
        recording: what was measured.
        times: (n,) s since the first sample, within the recording.
        resolution: one encoder count, rad.

    Returns:
        (n, 2) rad and rad/s.
    """
    clock = recording.time - recording.time[0]
    return states_between(clock, recording.position, times, resolution)


def states_between(clock: Array, measured: Array, times: Array, resolution: float) -> Array:
    """Return positions and velocities at some times.

    Positions are interpolated between samples. Where the arm is hardly faster than encoder counts could
    feign, it rests.

    Args:
        clock: (samples,) s.
        measured: (samples,) rad.
        times: (n,) s, within the clock.
        resolution: one encoder count, rad.

    Returns:
        (n, 2) rad and rad/s.
    """
    spacing = float(np.median(np.diff(clock)))
    half = min(max(round(_WINDOW / spacing), _LEAST), (len(clock) - 1) // 2)
    nearest = np.searchsorted(clock, times)
    first = np.clip(nearest - half, 0, len(clock) - 2 * half - 1)
    around = first[:, None] + np.arange(2 * half + 1)
    reach = half * spacing  # so that powers of the time are of one size
    ahead = (clock[around] - times[:, None]) / reach
    position = measured[around]
    design = np.stack([ahead**power for power in range(_TERMS)], axis=2)
    weights = np.ones_like(ahead)
    noise = resolution / math.sqrt(12.0)
    for _ in range(_ROUNDS):
        weighted = design * weights[:, :, None]
        information = weighted.transpose(0, 2, 1) @ design + _SOFT * np.eye(_TERMS)
        cubic = np.linalg.solve(information, (weighted * position[:, :, None]).sum(axis=1)[:, :, None])
        off = position - (design @ cubic)[:, :, 0]
        scale = np.maximum(np.median(np.abs(off), axis=1, keepdims=True) / _MAD, noise)
        weights = np.maximum(1.0 - (off / (_BIWEIGHT * scale)) ** 2, 0.0) ** 2
    speed = cubic[:, 1, 0] / reach
    deviation = scale[:, 0] / reach * np.sqrt(np.linalg.inv(information)[:, 1, 1])
    rests = np.abs(speed) < _RESTS * deviation
    return np.stack([np.interp(times, clock, measured), np.where(rests, 0.0, speed)], axis=1)
