# SPDX-License-Identifier: Apache-2.0
"""Servos of an assembled robot, identified from its own runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.robot.bands import coverage, error_scales, half_widths
from bam_core.robot.estimates import deviation_estimates, parameter_estimates
from bam_core.robot.fit import RobotFit, fit_robot
from bam_core.robot.prediction import robot_prediction
from bam_core.robot.result import RobotIdentification, RobotModelFit, RobotParameters, RobotTask
from bam_core.robot.settings import DEFAULT_SETTINGS, RobotIdentifySettings
from bam_core.robot.simulation import DivergedError, RobotBench
from bam_core.robot.unknowns import Unknowns, bodies_for, with_friction_model
from bam_core.robot.validation import errors_of, simulate_runs, validate_robot
from bam_core.text.finding import log_findings
from bam_core.text.robot_findings import NoBand

log = logging.getLogger(__name__)

_SEARCH_STEPS = (4e-3, 2e-3)  # s; a search takes the longest that is exact enough, else the bench's own
_EXACT = 0.5e-3  # rad, mean, from the motion with the bench's step: a third of an encoder's count of 4096
_LIKE = 2e-3  # rad, likewise, of a bench for derivatives: a tenth of by how much joints miss their goals
_QUICK_STEP = 4e-3  # s, of that bench
_LEAD, _SETTLING = 0.5, 0.5  # s before the interval that counts; s at rest before that


def _nothing(value: object) -> None:
    """Do nothing with a result."""


def identify_robot(
    task: RobotTask,
    settings: RobotIdentifySettings = DEFAULT_SETTINGS,
    *,
    progress: Callable[[str], None] = _nothing,
    fitted: Callable[[RobotParameters], None] = _nothing,
    finished: Callable[[RobotIdentification], None] = _nothing,
) -> RobotIdentification:
    """Fit friction models one after the other.

    A model that fails is left out with a warning, as long as another one succeeds.

    Args:
        task: robot, servos and runs.
        settings: friction models, and how far the robot may be from its description.
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
    for model in settings.model_names:

        def say(words: str, model: str = model) -> None:
            progress(f"{model}: {words}")

        try:
            fits[model] = _fitted(task, settings, model, given, say, fitted)
        except BamError as error:
            failures[model] = error
            continue
        finished(RobotIdentification(fits=dict(fits), task=task, settings=settings, given=given))
    if not fits:
        raise next(iter(failures.values()))
    for model, failure in failures.items():
        log.warning("%s: is left out (%s)", model, failure)
    return RobotIdentification(fits=fits, task=task, settings=settings, given=given)


def _fitted(
    task: RobotTask,
    settings: RobotIdentifySettings,
    model: str,
    given: Mapping[str, Array],
    say: Callable[[str], None],
    fitted: Callable[[RobotParameters], None],
) -> RobotModelFit:
    unknowns = Unknowns(
        servos={name: with_friction_model(servo, model) for name, servo in task.servos.items()},
        joints=task.types,
        tolerances=settings.tolerances,
        bodies=bodies_for(task.bench.spec, settings.tolerances),
        table=task.table,
    )
    search = _search_bench(task)
    fit = fit_robot(search, task.train, task.joints, unknowns, quick=_quick_bench(task, search), progress=say)
    types = unknowns.types_at(fit.point)
    deviations, servos = unknowns.deviations_at(fit.point), unknowns.servos_at(fit.point)
    fitted(RobotParameters(model=model, servos=types, deviations=deviations, task=task, settings=settings))
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
        prediction=robot_prediction(fit, task.train, task.joints, simulated),
    )


def _bands(
    search: RobotBench, task: RobotTask, model: str, fit: RobotFit, simulated: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the bands of the test runs; a warning names runs that have none."""
    scales = error_scales(task.test, task.train, task.joints, simulated, fit.noise.scale)
    bands = half_widths(search, task.test, task.joints, fit, scales)
    if without := [run.name for run in task.test if run.name not in bands]:
        log_findings(log, [NoBand(model=model, runs=tuple(without))])
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
