# SPDX-License-Identifier: Apache-2.0
"""Servos of an assembled robot, identified from its own runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.robot.bands import coverage, error_scales, half_widths
from bam_core.robot.curves import RunCurves
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.estimates import Estimate, deviation_estimates, parameter_estimates
from bam_core.robot.fit import RobotFit, fit_robot
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import DivergedError, RobotBench
from bam_core.robot.unknowns import Tolerances, Unknowns, bodies_for, with_friction_model
from bam_core.robot.validation import RobotValidation, errors_of, simulate_runs, validate_robot
from bam_core.servo.model import ServoModel

log = logging.getLogger(__name__)

_SEARCH_STEPS = (4e-3, 2e-3)  # s; a search takes the longest that is exact enough, else the bench's own
_EXACT = 0.5e-3  # rad, mean, from the motion with the bench's step: a third of an encoder's count of 4096
_LIKE = 2e-3  # rad, likewise, of a bench for derivatives: a tenth of by how much joints miss their goals
_QUICK_STEP = 4e-3  # s, of that bench
_LEAD, _SETTLING = 0.5, 0.5  # s before the interval that counts; s at rest before that


@dataclass(frozen=True, kw_only=True)
class RobotTask:
    """What is to be identified from.

    Attributes:
        bench: the robot.
        types: joint -> type of its servo.
        servos: type -> where to begin.
        joints: that count.
        train: runs to fit.
        test: runs that no fit sees.
        tolerances: of the robot.
    """

    bench: RobotBench
    types: Mapping[str, str]
    servos: Mapping[str, ServoModel]
    joints: Sequence[str]
    train: Sequence[RobotRun]
    test: Sequence[RobotRun] = ()
    tolerances: Tolerances = field(default_factory=Tolerances)

    @property
    def runs(self) -> list[RobotRun]:
        """All runs, those to fit first."""
        return [*self.train, *self.test]

    @property
    def given(self) -> dict[str, ServoModel]:
        """Joint -> the servo to begin with."""
        return {joint: self.servos[name] for joint, name in self.types.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotParameters:
    """What a descent ended with, before errors and bands are computed.

    Attributes:
        model: friction model.
        servos: type -> servo.
        deviations: of the robot.
        task: what they were identified from.
    """

    model: str
    servos: Mapping[str, ServoModel]
    deviations: RobotDeviations
    task: RobotTask


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotModelFit:
    """One friction model, identified.

    Attributes:
        servos: type -> servo.
        deviations: of the robot.
        estimates: type -> parameter -> what is known of it.
        deviation_estimates: the same of the deviations, by their names.
        before: errors on all runs with the servos given, and no deviations.
        after: errors on all runs.
        one_joint: the same where one joint at a time is simulated and the others move as measured: how much
            of `after` joints pass on to each other.
        simulated: run -> (n, joints of the run) rad, whose errors `after` has.
        bands: test run -> (n, joints that count) rad, half the width of the 90 % band around `simulated`.
        coverage: test run -> share of its samples within the band.
    """

    servos: Mapping[str, ServoModel]
    deviations: RobotDeviations
    estimates: Mapping[str, Mapping[str, Estimate]]
    deviation_estimates: Mapping[str, Estimate]
    before: RobotValidation
    after: RobotValidation
    one_joint: RobotValidation
    simulated: Mapping[str, Array]
    bands: Mapping[str, Array]
    coverage: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotIdentification:
    """All friction models.

    Attributes:
        fits: model -> what was found.
        task: what it was found from.
        given: run -> (n, joints of the run) rad, simulated with the servos given.
    """

    fits: Mapping[str, RobotModelFit]
    task: RobotTask
    given: Mapping[str, Array]

    @property
    def train(self) -> tuple[str, ...]:
        """Names of the runs that were fitted."""
        return tuple(run.name for run in self.task.train)

    @property
    def test(self) -> tuple[str, ...]:
        """Names of those that no fit has seen."""
        return tuple(run.name for run in self.task.test)

    def curves(self) -> list[RunCurves]:
        """Return all runs with their simulations."""
        return [
            RunCurves(
                run=run,
                before=self.given[run.name],
                after={model: fit.simulated[run.name] for model, fit in self.fits.items()},
                bands={
                    model: fit.bands[run.name] for model, fit in self.fits.items() if run.name in fit.bands
                },
            )
            for run in self.task.runs
        ]

    def mae(self, model: str, names: Sequence[str], *, before: bool = False) -> float | None:
        """Return the mean error of some runs, rad; None of none."""
        fit = self.fits[model]
        found = (fit.before if before else fit.after).per_log
        return float(np.mean([found[name].mae for name in names])) if names else None

    def summary(self) -> dict[str, Any]:
        """Return plain values, SI."""
        return {
            "train": list(self.train),
            "test": list(self.test),
            "joints": {joint: self.task.types[joint] for joint in self.task.joints},
            "root": self.task.bench.root,
            "tolerances": asdict(self.task.tolerances),
            "runs": {
                run.name: {
                    "kp": run.kp,
                    "supply_voltage": run.supply_voltage,
                    "recorded_voltage": run.recorded_voltage,
                    "interval": run.interval,
                }
                for run in self.task.runs
            },
            "models": {
                model: {
                    "train_mae": self.mae(model, self.train),
                    "test_mae": self.mae(model, self.test),
                    "train_mae_before": self.mae(model, self.train, before=True),
                    "test_mae_before": self.mae(model, self.test, before=True),
                    "before": fit.before.summary(),
                    "after": fit.after.summary(),
                    "one_joint": fit.one_joint.summary(),
                    "parameters": {
                        servo: {name: vars(each) for name, each in estimates.items()}
                        for servo, estimates in fit.estimates.items()
                    },
                    "deviations": {name: vars(each) for name, each in fit.deviation_estimates.items()},
                    "band_90_coverage": dict(fit.coverage),
                    "servos": {name: servo.name for name, servo in fit.servos.items()},
                }
                for model, fit in self.fits.items()
            },
        }


def _nothing(value: object) -> None:
    """Do nothing with a result."""


def identify_robot(
    task: RobotTask,
    models: Sequence[str],
    progress: Callable[[str], None] = _nothing,
    *,
    fitted: Callable[[RobotParameters], None] = _nothing,
    finished: Callable[[RobotIdentification], None] = _nothing,
) -> RobotIdentification:
    """Fit friction models one after the other.

    A model that fails is left out with a warning, as long as another one succeeds.

    Args:
        task: robot, servos and runs.
        models: "m1" to "m6".
        progress: called with each step, in words.
        fitted: called with the parameters of each model as soon as they are known.
        finished: called with all models so far after each one.

    Raises:
        BamError: a run cannot be simulated with the servos given, or no model succeeded.
    """
    fits: dict[str, RobotModelFit] = {}
    failures: dict[str, BamError] = {}
    progress("simulates all runs with the servos given")
    given = simulate_runs(task.bench, task.runs, task.given)
    for model in models:

        def say(words: str, model: str = model) -> None:
            progress(f"{model}: {words}")

        try:
            fits[model] = _fitted(task, model, given, say, fitted)
        except BamError as error:
            failures[model] = error
            continue
        finished(RobotIdentification(fits=dict(fits), task=task, given=given))
    if not fits:
        raise next(iter(failures.values()))
    for model, failure in failures.items():
        log.warning("%s: is left out (%s)", model, failure)
    return RobotIdentification(fits=fits, task=task, given=given)


def _fitted(
    task: RobotTask,
    model: str,
    given: Mapping[str, Array],
    say: Callable[[str], None],
    fitted: Callable[[RobotParameters], None],
) -> RobotModelFit:
    unknowns = Unknowns(
        servos={name: with_friction_model(servo, model) for name, servo in task.servos.items()},
        joints=task.types,
        tolerances=task.tolerances,
        bodies=bodies_for(task.bench.spec, task.tolerances),
    )
    search = _search_bench(task)
    fit = fit_robot(search, task.train, task.joints, unknowns, quick=_quick_bench(task, search), progress=say)
    types = unknowns.types_at(fit.point)
    deviations, servos = unknowns.deviations_at(fit.point), unknowns.servos_at(fit.point)
    fitted(RobotParameters(model=model, servos=types, deviations=deviations, task=task))
    say("errors of all runs")
    alone = replace(search, others="measured")
    simulated = simulate_runs(task.bench, task.runs, servos, deviations)
    bands = _bands(search, task, model, fit, simulated)
    return RobotModelFit(
        servos=types,
        deviations=deviations,
        estimates=parameter_estimates(fit.unknowns, fit.point, fit.standard_errors),
        deviation_estimates=deviation_estimates(fit),
        before=errors_of(task.runs, task.joints, given),
        after=errors_of(task.runs, task.joints, simulated),
        one_joint=validate_robot(alone, task.runs, task.joints, servos, deviations),
        simulated=simulated,
        bands=bands,
        coverage=coverage(task.test, task.joints, simulated, bands),
    )


def _bands(
    search: RobotBench, task: RobotTask, model: str, fit: RobotFit, simulated: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the bands of the test runs; a warning names runs that have none."""
    scales = error_scales(task.test, task.train, task.joints, simulated, fit.noise.scale)
    bands = half_widths(search, task.test, task.joints, fit, scales)
    if without := [run.name for run in task.test if run.name not in bands]:
        log.warning(
            "%s: no 90 %% band for %s: hardly any draw of the parameters can be simulated; "
            "parameters and errors are not affected",
            model,
            ", ".join(without),
        )
    return bands


def _search_bench(task: RobotTask) -> RobotBench:
    """Return a bench with the longest steps that simulate the first run as the bench itself does."""
    run = task.train[0]
    servos = task.given
    columns = [run.column(joint) for joint in task.joints]
    exact = task.bench.coarser(task.bench.step, settling=_SETTLING, lead=_LEAD)
    there = exact.simulate(run, servos)[run.counts][:, columns]
    for step in _SEARCH_STEPS:
        if step > task.bench.step:
            search = task.bench.coarser(step, settling=_SETTLING, lead=_LEAD)
            if np.abs(search.simulate(run, servos)[run.counts][:, columns] - there).mean() < _EXACT:
                return search
    return exact


def _quick_bench(task: RobotTask, search: RobotBench) -> RobotBench | None:
    """Return a bench that does without the engine's search for contacts that do not slip; None without one.

    That search takes four fifths of the time of a humanoid with both feet on the floor. Stiffer friction of
    contacts lets feet slip nearly as little: positions in squats differ by 1 mrad, but by 5 with neither.
    """
    if not search.spec.option.noslip_iterations:
        return None
    run, columns = task.train[0], [task.train[0].column(joint) for joint in task.joints]
    quick = search.stiff_contacts(max(_QUICK_STEP, search.step))
    right = search.simulate(run, task.given)[run.counts][:, columns]
    try:
        off = quick.simulate(run, task.given)[run.counts][:, columns] - right
    except DivergedError:
        return None
    return quick if np.abs(off).mean() < _LIKE else None
