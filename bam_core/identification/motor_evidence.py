# SPDX-License-Identifier: Apache-2.0
"""Torque constant and resistance from measured duty, supply and current: U = R·I + k_t·θ̇ (BAM eq. 13).

A servo that regulates its current, with nothing on its shaft, moves the same way with twice the torque
constant, inertia and friction. Only its voltage determines their scale. The fit has one more term, V·sign I:
the drop of brushes and bridge, which depends little on the current.

Without load, acceleration is nearly proportional to the current. So a duty that is read later than the
position looks like more resistance. By how much is an error of its own (`_TIMING`).

Samples count where the motor drives (voltage and current of one sign), in this and in the sample before.
While it brakes, bridges and current sensors of real servos follow other laws. Samples around a jump of the
goal do not count. Huber's weights bound the
influence of single samples. The covariance is that of the recordings' scores. Fitted to larger currents
alone, k_t and R change: that is what the equation lacks, and it widens the errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.recordings.recording import Recording

_LEAST_CURRENTS = (0.1, 0.2, 0.35)
"""Of the largest current (99.9 %), smallest ones that count. Below a tenth, readings of two real MX-106
depend on the direction, and the resistance comes out 30 % higher."""
_EVEN = 0.2  # relative difference of sample periods that a derivative over five samples allows
_JUMP = 0.1  # of the goal's range in one sample: the acceleration jumps, and derivatives are wrong
_TIMING = 1e-3
"""s, one standard deviation: what one reading holds was measured within some periods of the firmware."""
_FEWEST = 50  # samples
_HUBER = 1.345  # of the standard deviation: 95 % efficient for normal errors
_NORMAL = 1.4826  # standard deviation per median absolute deviation
_ROUNDS = 30  # of weights; they converge in ten
_LEAST_DEVIATION = 1e-9  # V


@dataclass(frozen=True, kw_only=True)
class MotorEvidence:
    """Motor constants from voltage and current.

    Attributes:
        torque_constant: k_t, N·m/A.
        resistance: R, Ω.
        covariance: (2, 2) of the relative errors of k_t and R.
    """

    torque_constant: float
    resistance: float
    covariance: Array


def has_free_scale(recordings: Sequence[Recording]) -> bool:
    """Return whether motions determine torques only in proportion: nothing is on the shaft of any run.

    Of runs in open loop, duty and supply determine the torque constant by back-EMF.
    """
    return all(not log.open_loop and log.bench.inertia == 0.0 for log in recordings)


def motor_evidence(recordings: Sequence[Recording]) -> MotorEvidence:
    """Return the motor constants by voltage and current.

    Args:
        recordings: those with current and duty count; two at least.

    Raises:
        BadData: they do not determine torque constant and resistance.
    """
    logs = [log for log in recordings if log.measures_motor]
    parts = [part for part in map(_terms, logs) if len(part)]
    fits: list[tuple[Array, Array] | None] = []
    largest = 0.0
    if len(parts) > 1:
        largest = float(np.quantile(np.abs(np.concatenate([part[:, 1] for part in parts])), 0.999))
        fits = [_fit(parts, share * largest) for share in _LEAST_CURRENTS]
    known = [fit for fit in fits if fit is not None]
    if not known:
        raise BadData(
            "current, duty",
            "do not determine torque constant and resistance",
            expected=f"two runs or more, and {_FEWEST} samples or more in which the motor drives at "
            "different speeds and currents",
            advice="give runs that are faster, or runs with a known load",
        ).within(recordings[0].source)
    best, scatter = known[0]
    off = np.array([values for values, _ in known]) / best - 1.0
    lacking = off.T @ off / max(len(known) - 1, 1)
    moved = [_fit(parts, _LEAST_CURRENTS[0] * largest, time) for time in (-_TIMING, _TIMING)]
    late = [values / best - 1.0 for values, _ in filter(None, moved)]
    lacking = lacking + sum((np.outer(shift, shift) / len(late) for shift in late), np.zeros((2, 2)))
    return MotorEvidence(
        torque_constant=float(best[0]),
        resistance=float(best[1]),
        covariance=np.asarray(scatter + lacking),
    )


def _terms(log: Recording) -> Array:
    """Return rows of U, I, θ̇, θ̈ of the samples in which the motor drives."""
    voltage = log.duty * np.where(np.isfinite(log.voltage), log.voltage, log.supply_voltage)
    step, period = np.diff(log.time), log.dt
    even = np.abs(step - period) < _EVEN * period
    position, middle = log.position, slice(2, -2)
    velocity = -position[4:] + 8.0 * position[3:-1] - 8.0 * position[1:-3] + position[:-4]
    bend = (
        -position[4:]
        + 16.0 * position[3:-1]
        - 30.0 * position[middle]
        + 16.0 * position[1:-3]
        - position[:-4]
    )
    rows = np.stack(
        [
            voltage[middle],
            log.current[middle],
            velocity / (12.0 * period),
            bend / (12.0 * period**2),
        ],
        axis=1,
    )
    drives = voltage * log.current > 0.0  # false where one is not known
    calm = even & (np.abs(np.diff(log.goal_position)) <= _JUMP * np.ptp(log.goal_position))
    smooth = calm[3:] & calm[2:-1] & calm[1:-2] & calm[:-3]
    on = log.torque_enabled
    return np.asarray(rows[smooth & drives[middle] & drives[1:-3] & on[middle] & on[1:-3]])


def _fit(parts: Sequence[Array], least: float, late: float = 0.0) -> tuple[Array, Array] | None:
    """Return k_t and R, and the covariance of their relative errors; None where samples are too few.

    Args:
        parts: rows of `_terms`, for every recording.
        least: current, A.
        late: s by which duty and current are later than positions.
    """
    kept = [part[np.abs(part[:, 1]) >= least] for part in parts]
    rows = np.concatenate(kept)
    if len(rows) < _FEWEST:
        return None
    voltage, current, velocity, bend = rows.T
    design = np.stack([velocity + late * bend, current, np.sign(current)], axis=1)
    scale = np.sqrt(np.mean(design**2, axis=0))
    if not np.all(scale > 0.0) or np.linalg.matrix_rank(design / scale) < design.shape[1]:
        return None
    design = design / scale
    weights = np.ones(len(rows))
    for _ in range(_ROUNDS):
        weighted = design * weights[:, None]
        coefficients = np.linalg.solve(weighted.T @ design, weighted.T @ voltage)
        residuals = voltage - design @ coefficients
        deviation = max(_NORMAL * float(np.median(np.abs(residuals))), _LEAST_DEVIATION)
        weights = np.minimum(1.0, _HUBER * deviation / np.maximum(np.abs(residuals), _LEAST_DEVIATION))
    values = (coefficients / scale)[:2]
    if not np.all(values > 0.0):
        return None
    gradient = design * (weights * residuals)[:, None]
    ends = np.cumsum([len(part) for part in kept])[:-1]
    scores = np.array([piece.sum(axis=0) for piece in np.split(gradient, ends)])
    inverse = np.linalg.inv((design * weights[:, None]).T @ design)
    logs = len(parts)
    covariance = inverse @ (scores.T @ scores) @ inverse * logs / max(logs - 1, 1)
    relative = 1.0 / (scale[:2] * values)
    return values, covariance[:2, :2] * np.outer(relative, relative)
