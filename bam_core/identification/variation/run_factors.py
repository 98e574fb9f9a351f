# SPDX-License-Identifier: Apache-2.0
"""The three log factors of each run: an optimum and an information matrix.

Near its optimum, the positions of a run are linear in its log factors. The linear model is taken there and
not at the fit, as Lindstrom and Bates (1990) do for nonlinear mixed effects: an arm that sticks in one run
and slips in another has no useful slope in between. The way there is found by simulation, from the best of
many draws, with the spread of the runs as the prior of each.

Errors that no factor explains are correlated over time. So a run counts as fewer independent samples than
it has: its duration by twice the integral time scale of these errors, which all runs share. Its likelihood
is to that power, with a standard deviation of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from bam_core.arrays import Array
from bam_core.identification.search.time_scale import integral_time_scale
from bam_core.identification.variation.factors import GROUPS, varied
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import WORST_ERROR, Rollout, parameter_vector
from bam_core.simulation.samples import Samples, strides

_DRAWS = 64  # of which the best is where a descent begins
_STEP = (
    0.02  # of differences: moves an arm by more than an encoder's count, and crosses the kinks of stiction
)
_ROUNDS = 8  # of Gauss-Newton steps at most
_SHARES = (1.0, 0.5, 0.2, 0.05)  # of a step that are tried
_WORTHWHILE = 1e-2  # of minus twice the log-likelihood, for which another step is made
_LONGEST_TIME = 2.0  # s; integral time scale, a third of a usual run
_SEED = 0


@dataclass(frozen=True, kw_only=True)
class RunFactors:
    """Likelihood of the log factors of runs, as a normal distribution for each.

    Attributes:
        optimum: (runs, GROUPS) the log factors that follow each run best, under the prior.
        pull: (runs, GROUPS) information times the optimum without prior, of the linear model there.
        information: (runs, GROUPS, GROUPS) of the likelihood there, without prior.
        time_scale: of the errors that stay, s.
        deviation: (runs,) their root mean square, rad.
    """

    optimum: Array
    pull: Array
    information: Array
    time_scale: float
    deviation: Array


class Runs:
    """Runs of one servo, each simulated with its own log factors."""

    def __init__(
        self,
        servo: ServoModel,
        recordings: Sequence[Recording],
        bench_effects: BenchEffects = IDEAL_BENCH,
    ) -> None:
        """Pack every run by itself.

        Args:
            servo: the fit, without a gear.
            recordings: one at least.
            bench_effects: of the bench that recorded.
        """
        vector = parameter_vector(servo, bench_effects)
        self._runs = [_Run(servo, recording, vector) for recording in recordings]
        self._floor = float(servo.firmware.resolution / np.sqrt(12.0))
        errors = [run.residuals(np.zeros((1, len(GROUPS))))[0] for run in self._runs]
        self._time_scale = _time_scale(errors, [run.dt for run in self._runs])

    def factors(self, prior: Array) -> RunFactors:
        """Return the log factors of the runs under a prior; each call knows remaining errors better.

        Args:
            prior: (GROUPS,) standard deviations of the log factors.
        """
        uniform = qmc.Sobol(len(GROUPS), seed=_SEED).random(_DRAWS)
        draws = prior * ndtri(uniform.clip(1e-3, 1.0 - 1e-3))
        ends = [run.descend(draws, prior, self._time_scale, self._floor) for run in self._runs]
        used = self._time_scale
        self._time_scale = _time_scale([end.residuals for end in ends], [run.dt for run in self._runs])
        return RunFactors(
            optimum=np.array([end.optimum for end in ends]),
            pull=np.array([end.pull for end in ends]),
            information=np.array([end.information for end in ends]),
            time_scale=used,
            deviation=np.array([end.deviation for end in ends]),
        )


@dataclass(frozen=True, kw_only=True)
class _End:
    optimum: Array
    pull: Array
    information: Array
    residuals: Array
    deviation: float


class _Run:
    """One run, simulated with many log factors."""

    def __init__(self, servo: ServoModel, recording: Recording, vector: Array) -> None:
        (stride,) = strides([recording])
        self._vector = vector
        self._samples: Samples = Rollout.for_servo([recording], servo).samples(stride)
        self.dt = stride * recording.dt
        self._start = np.zeros((1, len(GROUPS)))

    def residuals(self, log_factors: Array) -> Array:
        """Return simulated minus measured positions (n, samples), rad, for log factors (n, GROUPS)."""
        off = self._samples.positions(varied(self._vector, log_factors)) - self._samples.measured
        return np.nan_to_num(off, nan=WORST_ERROR).clip(-WORST_ERROR, WORST_ERROR)

    def descend(self, draws: Array, prior: Array, time_scale: float, floor: float) -> _End:
        """Return the optimum near the best of some draws, or near where the last descent ended."""
        samples = len(self._samples.measured)
        independent = samples * min(self.dt / (2.0 * time_scale), 1.0)

        def costs(residuals: Array, points: Array) -> Array:
            logarithm = np.log(_deviation(residuals, floor))
            return np.asarray(2.0 * independent * logarithm + np.sum((points / prior) ** 2, axis=1))

        points = np.vstack([self._start, np.zeros((1, len(prior))), draws])
        residuals = self.residuals(points)
        tried = costs(residuals, points)
        best = int(tried.argmin())
        here, off, cost = points[best], residuals[best], tried[best]
        for _ in range(_ROUNDS):
            information, gradient = self._linear(here, off, independent / samples, floor)
            step = -np.linalg.solve(information + np.diag(prior**-2), gradient + here / prior**2)
            points = here + np.outer(_SHARES, step)
            residuals = self.residuals(points)
            tried = costs(residuals, points)
            best = int(tried.argmin())
            if tried[best] >= cost - _WORTHWHILE:
                break
            here, off, cost = points[best], residuals[best], tried[best]
        self._start = here[None]
        information, gradient = self._linear(here, off, independent / samples, floor)
        return _End(
            optimum=here,
            pull=information @ here - gradient,
            information=information,
            residuals=off,
            deviation=float(_deviation(off[None], floor)[0]),
        )

    def _linear(self, here: Array, off: Array, share: float, floor: float) -> tuple[Array, Array]:
        """Return information and gradient of minus the log-likelihood, a share of the samples counting."""
        steps = _STEP * np.eye(len(here))
        ends = self.residuals(np.vstack([here + steps, here - steps]))
        jacobian = (ends[: len(here)] - ends[len(here) :]) / (2.0 * _STEP)
        weight = share / _deviation(off[None], floor)[0] ** 2
        return weight * jacobian @ jacobian.T, weight * jacobian @ off


def _deviation(residuals: Array, floor: float) -> Array:
    return np.maximum(np.sqrt(np.mean(residuals**2, axis=1)), floor)


def _time_scale(errors: Sequence[Array], periods: Sequence[float]) -> float:
    """Return the integral time scale, s, mean over runs; half a period for independent errors."""
    scales = [(integral_time_scale(off), dt) for off, dt in zip(errors, periods, strict=True)]
    times = [dt * scale for scale, dt in scales if scale is not None]
    return min(float(np.mean(times)), _LONGEST_TIME) if times else min(periods) / 2.0
