# SPDX-License-Identifier: Apache-2.0
"""Servos of an assembled robot, identified from its own runs."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.recordings.supply import unusual_supplies
from bam_core.robot.bands import coverage, error_scales, half_widths
from bam_core.robot.benches import SearchBenches
from bam_core.robot.estimates import deviation_estimates, parameter_estimates
from bam_core.robot.exchanged_joints import in_own_columns
from bam_core.robot.exchanged_names import exchanged_names
from bam_core.robot.fit import RobotFit, fit_robot
from bam_core.robot.late_joints import with_true_times
from bam_core.robot.prediction import robot_prediction
from bam_core.robot.result import RobotIdentification, RobotModelFit, RobotParameters, RobotTask
from bam_core.robot.search_benches import search_benches
from bam_core.robot.settings import DEFAULT_SETTINGS, RobotIdentifySettings
from bam_core.robot.unknowns import Unknowns, bodies_for, with_friction_model
from bam_core.robot.validation import RobotValidation, errors_of, simulate_runs
from bam_core.servo.model import ServoModel
from bam_core.text.finding import log_findings
from bam_core.text.robot_result_findings import NoBand

log = logging.getLogger(__name__)


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
    """Identify servos from runs as they were recorded.

    Readings in the columns of other joints are put back first, and those that are later than the others' are
    moved, where the data prove it; see `exchanged_joints` and `late_joints`. `fit_models` does the rest.

    Raises:
        BamError: as of `fit_models`.
        KeyboardInterrupt: Ctrl-C.
    """
    log_findings(log, unusual_supplies(task.servos.values(), [run.supply_voltage for run in task.runs]))
    own = in_own_columns(task.runs)
    runs = with_true_times(task.bench, own, task.joints, task.given, task.types)
    log_findings(log, exchanged_names(task.bench, runs, task.joints, task.given))
    count = len(task.train)
    task = replace(task, train=runs[:count], test=runs[count:])
    return fit_models(task, settings, progress=progress, fitted=fitted, finished=finished)


def fit_models(
    task: RobotTask,
    settings: RobotIdentifySettings = DEFAULT_SETTINGS,
    *,
    progress: Callable[[str], None] = _nothing,
    fitted: Callable[[RobotParameters], None] = _nothing,
    finished: Callable[[RobotIdentification], None] = _nothing,
) -> RobotIdentification:
    """Fit friction models one after the other, to readings in their columns and at their times.

    Each begins where the one before ended. A model that fails is left out with a warning, as long as another
    one succeeds.

    Args:
        task: robot, servos and runs.
        settings: friction models, and how far the robot may be from its description.
        progress: called with each step, in words.
        fitted: called with the parameters of each model as soon as they are known. Where Ctrl-C or an
            error ends a descent, they are the best point so far, which is not converged.
        finished: called with all models so far after each one.

    Raises:
        BamError: a run cannot be simulated with the servos given, or no model succeeded.
        KeyboardInterrupt: Ctrl-C.
    """
    fits: dict[str, RobotModelFit] = {}
    failures: dict[str, BamError] = {}
    progress("simulates all runs with the servos given")
    given = simulate_runs(task.bench, task.runs, task.given)
    benches = search_benches(task, _unknowns(task, settings, settings.model_names[0]).names)
    before: RobotFit | None = None
    for model in settings.model_names:

        def report(words: str, model: str = model) -> None:
            progress(f"{model}: {words}")

        try:
            unknowns = _unknowns(task, settings, model)
            with _kept(_parameters(task, settings, model, unknowns), fitted) as reached:
                fit = fit_robot(
                    benches,
                    task.train,
                    task.joints,
                    unknowns,
                    before=before,
                    progress=report,
                    reached=reached,
                )
            fits[model] = _fitted(task, settings, benches, model, fit, given, report, fitted)
            before = fit
        except BamError as error:
            failures[model] = error
            continue
        finished(RobotIdentification(fits=dict(fits), task=task, settings=settings, given=given))
    if not fits:
        raise next(iter(failures.values()))
    for model, failure in failures.items():
        log.warning("%s: is left out (%s)", model, failure)
    return RobotIdentification(fits=fits, task=task, settings=settings, given=given)


@contextlib.contextmanager
def _kept(
    at: Callable[[Array], RobotParameters], fitted: Callable[[RobotParameters], None]
) -> Iterator[Callable[[Array], None]]:
    """Pass on the best point of a descent that does not end well; the descent calls what this yields."""
    best: list[Array] = []
    try:
        yield best.append
    except BaseException:  # Ctrl-C, and errors of a later step
        if best:
            fitted(replace(at(best[-1]), is_converged=False))
        raise


def _parameters(
    task: RobotTask, settings: RobotIdentifySettings, model: str, unknowns: Unknowns
) -> Callable[[Array], RobotParameters]:
    """Return what the parameters are at (unknowns,) coordinates."""
    return lambda point: RobotParameters(
        model=model,
        servos=unknowns.types_at(point),
        deviations=unknowns.deviations_at(point),
        task=task,
        settings=settings,
    )


def _fitted(
    task: RobotTask,
    settings: RobotIdentifySettings,
    benches: SearchBenches,
    model: str,
    fit: RobotFit,
    given: Mapping[str, Array],
    report: Callable[[str], None],
    fitted: Callable[[RobotParameters], None],
) -> RobotModelFit:
    parameters = _parameters(task, settings, model, fit.unknowns)(fit.point)
    deviations, servos = parameters.deviations, fit.unknowns.servos_at(fit.point)
    fitted(parameters)
    report("errors of all runs")
    alone = benches.one_at_a_time(task.runs, servos, deviations)
    simulated = simulate_runs(task.bench, task.runs, servos, deviations)
    bands = _bands(benches, task, model, fit, simulated)
    return RobotModelFit(
        servos=parameters.servos,
        deviations=deviations,
        estimates=parameter_estimates(fit.unknowns, fit.point, fit.standard_errors),
        deviation_estimates=deviation_estimates(fit),
        before=errors_of(task.runs, task.joints, given),
        after=errors_of(task.runs, task.joints, simulated),
        one_joint=errors_of(task.runs, task.joints, alone),
        simulated=simulated,
        bands=bands,
        coverage=coverage(task.test, task.joints, simulated, bands),
        prediction=robot_prediction(fit, task.train, task.joints, simulated),
        servos_alone=_errors_alone(task, servos),
    )


def _errors_alone(task: RobotTask, servos: Mapping[str, ServoModel]) -> RobotValidation | None:
    """Return errors on the test runs without deviations; None without test runs."""
    if not task.test:
        return None
    return errors_of(task.test, task.joints, simulate_runs(task.bench, task.test, servos))


def _unknowns(task: RobotTask, settings: RobotIdentifySettings, model: str) -> Unknowns:
    return Unknowns(
        servos={name: with_friction_model(servo, model) for name, servo in task.servos.items()},
        joints=task.types,
        tolerances=settings.tolerances,
        bodies=bodies_for(task.bench.spec, settings.tolerances),
        table=task.table,
    )


def _bands(
    benches: SearchBenches, task: RobotTask, model: str, fit: RobotFit, simulated: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the bands of the test runs; a warning names runs that have none."""
    scales = error_scales(task.test, task.train, task.joints, simulated, fit.noise.scale)
    bands = half_widths(benches.search, task.test, task.joints, fit, scales, benches.one_joint)
    if without := [run.name for run in task.test if run.name not in bands]:
        log_findings(log, [NoBand(model=model, runs=tuple(without))])
    return bands
