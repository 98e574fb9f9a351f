# SPDX-License-Identifier: Apache-2.0
"""Identification of γ_u, γ_v and everything else that a servo behind a gear has, from pendulum recordings.

Points drawn all over the space come first. Least squares carry the best of them, far apart, and what a servo
model without a gear has them, down their valleys, and the best of these on. CMA-ES ends with what counts, the
mean absolute error. γ_u and γ_v are held to 0..1 and 0..1.5: what they are for gears with friction of one
sign, up to well beyond self-locking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, UnknownName
from bam_core.gears.rollout import GEAR_PARAMETERS, GearRollout
from bam_core.identification.search.descent import Descent
from bam_core.identification.search.space import Axis, fold, search_space
from bam_core.recordings.recording import Recording
from bam_core.servo.asymmetry import Asymmetry
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel

DEFAULT_TRIALS = 4000
"""Simulations of all training logs."""

LEAST_TRIALS = 200
"""With fewer there is no search."""

_SCATTER, _HEATS, _FINAL = 0.15, 0.3, 0.3  # shares of the trials; what is left is for CMA-ES
_STARTS, _FINALISTS = 8, 2  # short descents by least squares, and those that go on
_MIN_START_DISTANCE = 0.25  # least distance of their starts, per root of the dimension
_STEP = 3e-3  # of finite differences, in coordinates
_EDGE = 2e-3  # least distance of points to the bounds
_LEAST_RMS = 1e-4  # rad; finer than any encoder
_POLISH_STEP = 0.04
_ANYWHERE = 1.0 / math.sqrt(12.0)  # standard deviation, in coordinates, of what lies anywhere within bounds

_BENCH = ("zero_offset", "command_delay")  # effects that this model knows
_GEAR_AXES = (
    Axis(name="input_side", low=-1e-9, high=1.0, targets=("input_side",)),  # below zero makes it linear
    Axis(name="output_side", low=-1e-9, high=1.5, targets=("output_side",)),
)


@dataclass(frozen=True, kw_only=True)
class GearFit:
    """A servo behind a gear, identified.

    Attributes:
        parameters: GEAR_PARAMETERS by name, SI.
        standard_errors: of the free ones among them, SI, from the spread of single logs; infinite
            where the logs do not determine them.
        unidentifiable: free ones whose standard error is no less than that of a parameter of which only the
            search range is known.
        train_mae: mean over training logs of the mean absolute position error, rad.
        per_log: the same log by log.
        trials: simulations of all training logs that it took.
        budget: simulations of all training logs that it was allowed.
        seed: of all that was drawn.
    """

    parameters: Mapping[str, float]
    standard_errors: Mapping[str, float]
    unidentifiable: tuple[str, ...]
    train_mae: float
    per_log: Mapping[str, float]
    trials: int
    budget: int
    seed: int

    @property
    def asymmetry(self) -> Asymmetry:
        """γ_u and γ_v."""
        return Asymmetry(input_side=self.parameters["input_side"], output_side=self.parameters["output_side"])

    @property
    def vector(self) -> Array:
        """The parameters in the order of GEAR_PARAMETERS."""
        return np.array([self.parameters[name] for name in GEAR_PARAMETERS])

    @property
    def bench_effects(self) -> BenchEffects:
        """What was found of the bench."""
        return BenchEffects(**{name: self.parameters[name] for name in _BENCH})

    def validate(self, recordings: Sequence[Recording], servo: ServoModel) -> dict[str, float]:
        """Return the mean absolute position error of other recordings, rad, by name."""
        errors = GearRollout(recordings, firmware=servo.firmware).errors(self.vector)[0]
        return {log.name: float(error) for log, error in zip(recordings, errors, strict=True)}


def fit_gear(
    recordings: Sequence[Recording],
    servo: ServoModel,
    *,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    effects: Sequence[str] = _BENCH,
    bench_effects: BenchEffects = IDEAL_BENCH,
    report: Callable[[int, float], None] = lambda done, error: None,
) -> GearFit:
    """Identify a servo behind a gear.

    Args:
        recordings: training logs.
        servo: has the firmware, within which bounds to search for what is known of the motor, and with its
            own parameters one of the points to start from.
        trials: simulations of all training logs that it may take, LEAST_TRIALS or more.
        seed: of all that is drawn.
        effects: which of zero_offset and command_delay are free; the others are zero.
        bench_effects: of the point to start from that is the servo's own.
        report: called with the simulations so far and the least error so far, rad.

    Raises:
        BamError: too few trials, no recordings, or an effect that this model does not have.
    """
    if trials < LEAST_TRIALS:
        raise OutOfRange("gear trials", trials, f"{LEAST_TRIALS} or more", advice="give more")
    for effect in effects:
        if effect not in _BENCH:
            raise UnknownName("gear effect", effect, _BENCH, advice="or leave it out")
    search = _Search(recordings, servo, tuple(effects), bench_effects, trials, report)
    random = np.random.default_rng(seed)
    drawn = random.random((int(_SCATTER * trials), len(search.axes)))
    errors = search.errors(drawn)
    least = 2 * (len(search.axes) + 1)  # of a descent that takes a step
    count = min(max(int(_HEATS * trials) // least, 2), _STARTS)
    starts = [search.known, *_distant_points(drawn[np.argsort(errors, kind="stable")], count - 1)]
    finalists = search.best_of(starts, int(_HEATS * trials), _FINALISTS)
    best = search.best_of(finalists, int(_FINAL * trials), 1)[0]
    best = search.polish(best, seed)
    vector = search.vectors(best[None])[0]
    per_log = search.rollout.errors(vector)[0]
    standard_errors, unidentifiable = search.standard_errors(best)
    return GearFit(
        parameters=dict(zip(GEAR_PARAMETERS, vector.tolist(), strict=True)),
        standard_errors=standard_errors,
        unidentifiable=unidentifiable,
        train_mae=float(per_log.mean()),
        per_log={log.name: float(error) for log, error in zip(recordings, per_log, strict=True)},
        trials=search.spent,
        budget=trials,
        seed=seed,
    )


class _Search:
    """The space, what is spent, and the descents."""

    def __init__(
        self,
        recordings: Sequence[Recording],
        servo: ServoModel,
        effects: tuple[str, ...],
        bench_effects: BenchEffects,
        trials: int,
        report: Callable[[int, float], None],
    ) -> None:
        self.rollout = GearRollout(recordings, firmware=servo.firmware)
        known = search_space(FRICTION_MODELS["m2"], recordings, servo.search.ranges, effects)
        self.axes = (*known.axes, *_GEAR_AXES)
        values = _known_values(servo, bench_effects)
        # Away from the bounds, where there is little slope to follow.
        self.known = np.clip([axis.coordinate(values[axis.name]) for axis in self.axes], 0.1, 0.9)
        self.spent, self._trials, self._report = 0, trials, report
        self._least = math.inf
        # Every log counts the same, however long it is.
        self._shares = np.repeat(1.0 / np.sqrt(self.rollout.counts), self.rollout.counts)
        self._starts = np.concatenate([[0], np.cumsum(self.rollout.counts)[:-1]])

    @property
    def left(self) -> int:
        return self._trials - self.spent

    def vectors(self, points: Array) -> Array:
        folded = fold(points)
        vectors = np.zeros((len(points), len(GEAR_PARAMETERS)))
        for column, axis in enumerate(self.axes):
            vectors[:, GEAR_PARAMETERS.index(axis.name)] = axis.value(folded[:, column])
        return np.maximum(vectors, [0.0] * 10 + [-math.inf, 0.0])  # the linear axes begin a trifle below zero

    def errors(self, points: Array) -> Array:
        """Return mean absolute errors, rad; what diverges is far off."""
        self.spent += len(points)
        errors = self.rollout.errors(self.vectors(points)).mean(axis=1)
        errors = np.nan_to_num(errors, nan=math.tau, posinf=math.tau)
        self._least = min(self._least, float(errors.min()))
        self._report(self.spent, self._least)
        return errors

    def best_of(self, starts: Sequence[Array], trials: int, count: int) -> list[Array]:
        """Descend from each start, and return the best points of all, starts among them."""
        points = list(starts)
        for start in starts:
            points.append(self.descend(start, trials // len(starts)))
        order = np.argsort(self.errors(np.array(points)), kind="stable")
        return [points[index] for index in order[:count]]

    def residuals(self, points: Array) -> Array:
        """Return by how much positions are off, rad over the root of a log's samples."""
        self.spent += len(points)
        self._report(self.spent, self._least)
        off = self.rollout.positions(self.vectors(points)) - self.rollout.measured
        return np.nan_to_num(off, nan=math.tau, posinf=math.tau, neginf=math.tau) * self._shares

    def jacobian(self, point: Array, here: Array) -> Array:
        steps = np.where(point + _STEP < 1.0, _STEP, -_STEP)
        return np.asarray((self.residuals(point + np.diag(steps)) - here).T / steps)

    def descend(self, start: Array, trials: int) -> Array:
        """Return where least squares lead.

        Logs are weighted by their errors at the start: a run in which a small difference decides whether the
        arm sticks must not dominate.
        """
        inside = np.clip(fold(start), _EDGE, 1.0 - _EDGE)
        first = self.residuals(inside[None])[0]
        rms = np.sqrt(np.add.reduceat(first**2, self._starts))
        weights = np.repeat(1.0 / np.maximum(rms, _LEAST_RMS), self.rollout.counts)
        known = (inside, first)

        def residuals(point: Array) -> Array:
            nonlocal known
            if not np.array_equal(point, known[0]):
                known = (point.copy(), self.residuals(point[None])[0])
            return known[1]

        descent = least_squares(
            lambda point: residuals(point) * weights,
            inside,
            jac=lambda point: self.jacobian(point, residuals(point)) * weights[:, None],
            bounds=(0.0, 1.0),
            method="dogbox",
            x_scale="jac",
            max_nfev=max(trials // (len(start) + 1), 2),
        )
        return np.asarray(descent.x)

    def polish(self, point: Array, seed: int) -> Array:
        """Descend by CMA-ES with ever smaller steps until all trials are spent."""
        population = 4 + int(3 * math.log(len(point)))
        best, error, step = point, float(self.errors(point[None])[0]), _POLISH_STEP
        while self.left >= population and step > 1e-3:
            descent = Descent(best, step=step, population=population, seed=seed)
            while self.left >= population and not descent.finished:
                descent.tell(self.errors(descent.ask()))
            if descent.error < error:
                best, error = fold(descent.point), descent.error
            step *= 0.5
        return best

    def standard_errors(self, point: Array) -> tuple[dict[str, float], tuple[str, ...]]:
        """Return standard errors from the gradients of single logs, H⁻¹·(Σ g·gᵀ)·H⁻¹, and what is
        not identifiable."""
        inside = np.clip(point, _EDGE, 1.0 - _EDGE)
        here = self.rollout.positions(self.vectors(inside[None]))[0] - self.rollout.measured
        here *= self._shares
        jacobian = self.jacobian(inside, here)
        ends = np.cumsum(self.rollout.counts)[:-1]
        scores = np.array(
            [rows.T @ part for rows, part in zip(np.split(jacobian, ends), np.split(here, ends), strict=True)]
        )
        inverse = np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-12)
        spread = np.sqrt(np.maximum(np.diag(inverse @ (scores.T @ scores) @ inverse), 0.0))
        step = 1e-4
        errors, unidentifiable = {}, []
        for index, axis in enumerate(self.axes):
            low, high = axis.value(inside[index] + np.array([-step, step]))
            seen = float(np.linalg.norm(jacobian[:, index])) > 1e-12
            errors[axis.name] = float(spread[index] * (high - low) / (2 * step)) if seen else math.inf
            if not seen or spread[index] >= _ANYWHERE:
                unidentifiable.append(axis.name)
        return errors, tuple(unidentifiable)


def _known_values(servo: ServoModel, bench_effects: BenchEffects) -> dict[str, float]:
    """Return parameters of a servo model; without a gear, load-dependent friction at rest stands for γ."""
    law = servo.friction
    values = {**servo.parameters, **law.coefficients(), **servo.effect_values, **vars(bench_effects)}
    if servo.gear is not None:
        return values | {"input_side": servo.gear.input_side, "output_side": servo.gear.output_side}
    values["input_side"] = law.load_motor + law.load_motor_stribeck
    values["output_side"] = law.load_external + law.load_external_stribeck
    return values


def _distant_points(points: Array, count: int) -> list[Array]:
    """Take up to `count` points in order, each at some distance from those taken."""
    distance = _MIN_START_DISTANCE * math.sqrt(points.shape[1])
    taken = [points[0]]
    for point in points[1:]:
        if len(taken) == count:
            break
        if min(float(np.linalg.norm(point - earlier)) for earlier in taken) >= distance:
            taken.append(point)
    return taken
