# SPDX-License-Identifier: Apache-2.0
"""How far a fit's errors scatter and how long they stay alike: so much information has a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array

_GAUSSIAN = 1.2533  # standard deviation of a Gaussian over its mean size
_LEAST_SCALE = 1e-4  # rad; no encoder of a servo is finer
_LONGEST = 2.0  # s between two errors that are compared


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """Errors that a fit leaves: noise of the encoder and the bus, and what the model does not have.

    Attributes:
        scale: (joints,) rad, their standard deviation.
        independent: (joints,) s, between two independent errors.
    """

    scale: Array
    independent: Array


def assumed_noise(joints: int) -> Noise:
    """Return what is assumed before anything is fitted: two counts of 4096 per turn, for 0.2 s."""
    return Noise(scale=np.full(joints, 3e-3), independent=np.full(joints, 0.2))


def measured_noise(errors: Sequence[Array], spacing: Sequence[float]) -> Noise:
    """Return the noise of errors that a fit left.

    The time is the integral of the autocorrelation up to where it first falls below zero. Errors enter with
    their mean: one that stays for a whole run counts once.

    Args:
        errors: (samples, joints) rad, of each run.
        spacing: s between the samples of each run.
    """
    size = np.mean(np.abs(np.concatenate(errors)), axis=0)
    columns = range(errors[0].shape[1])
    times = [_independent([error[:, column] for error in errors], spacing) for column in columns]
    return Noise(scale=np.maximum(_GAUSSIAN * size, _LEAST_SCALE), independent=np.array(times))


def _independent(errors: Sequence[Array], spacing: Sequence[float]) -> float:
    """Return the time for one joint, s."""
    step = max(spacing)
    power = sum(float(error @ error) for error in errors) / sum(len(error) for error in errors)
    total = 1.0
    for lag in range(1, round(_LONGEST / step)):
        pairs = [(error[:-lag], error[lag:]) for error in errors if len(error) > lag]
        if not power or not pairs:
            break
        products = sum(float(a @ b) for a, b in pairs) / sum(len(a) for a, _ in pairs)
        if products <= 0.0:
            break
        total += 2.0 * products / power
    return step * total
