# SPDX-License-Identifier: Apache-2.0
"""From recordings to servo models: what `bam identify` and the node `identification` both call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from bam_core.identification.data.data_warnings import (
    full_demand_errors,
    gain_warnings,
    missing_channels,
    require_temperature,
    scarcity,
)
from bam_core.identification.data.folds import selection_folds
from bam_core.identification.data.same_servo import other_servos, require_same_servo
from bam_core.identification.data.screening import require_inertia, require_informative, require_torque
from bam_core.identification.data.split import left_out, split_recordings
from bam_core.identification.execution import Execution
from bam_core.identification.result import OTHER_SEEDS, UNCERTAINTY, Identification, SeedResult
from bam_core.identification.search.meter import IdentificationCancelled
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.stages import IdentificationTask
from bam_core.recordings.excluded import Exclusions
from bam_core.recordings.load import Loaded
from bam_core.recordings.recording import Recording
from bam_core.recordings.supply import unusual_supplies
from bam_core.servo.effects import resolve_effects
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.text.finding import log_findings

log = logging.getLogger(__name__)


def identify(
    recordings: Sequence[Recording] | Loaded,
    servo: ServoLike,
    settings: IdentifySettings | None = None,
    *,
    execution: Execution | None = None,
    interrupted: Callable[[Identification], None] | None = None,
) -> Identification:
    """Find motor constants and friction parameters that make the simulation follow the training logs.

    The objective is the mean over training logs of the mean absolute position error in closed loop (BAM
    section V-B). A model that contains a simpler fitted one also starts from that one's optimum, so its
    training error is never the higher one. The same recordings, servo and settings give the same numbers on
    the same kind of processor with the same packages, wherever the fits run.

    Args:
        recordings: of one servo, two at least. Those that `screening` refuses, or of another servo, are left
            out; `Identification.excluded` lists them.
        servo: model, library name or file; its firmware and search bounds count, its parameters do not.
        settings: what to fit, to search and to test with; default: all friction models.
        execution: where fits run and results are kept, progress and cancellation; default: this process.
        interrupted: called with the finished models, if there are any, where `Execution.cancelled` or
            KeyboardInterrupt ends the identification; their `Identification.not_done` is not empty.

    Raises:
        IdentificationCancelled: `Execution.cancelled` returned True.
        KeyboardInterrupt: Ctrl-C.
        BamError: the storage cannot be used, all recordings are of another servo or do not determine its
            parameters (see `screening`; `IdentifySettings.strict`: one is), or the split leaves nothing on
            one side.
    """
    settings, execution = settings or IdentifySettings(), execution or Execution()
    task = _checked(recordings, load_servo(servo), settings, execution)
    first = settings.seed
    finished: Identification | None = None
    try:
        for stage in task.stages(first):
            finished = stage
            if settings.seeds > 1:
                finished = replace(stage, not_done=(*stage.not_done, OTHER_SEEDS))
        assert finished is not None  # there is one model at least
        if settings.seeds > 1:
            others = [_seed_result(task.stages(seed)) for seed in range(first + 1, first + settings.seeds)]
            finished = replace(finished, not_done=(), seeds=(finished.seed_result, *others))
    except (KeyboardInterrupt, IdentificationCancelled):
        if finished is not None and interrupted is not None:
            interrupted(finished)
        raise
    return finished


def _checked(
    recordings: Sequence[Recording] | Loaded,
    servo: ServoModel,
    settings: IdentifySettings,
    execution: Execution,
) -> IdentificationTask:
    """Return the task of suitable recordings; log warnings about them."""
    given = recordings if isinstance(recordings, Loaded) else Loaded(recordings=list(recordings))
    if all(other_servos(servo, [recording]) for recording in given.recordings):
        require_same_servo(servo, given.recordings)  # one line about all of them
    exclusions = Exclusions(strict=settings.strict)

    def require(recording: Recording) -> None:
        require_same_servo(servo, [recording])
        require_informative(servo, [recording])

    recordings = exclusions.usable(given.recordings, require)
    if settings.test_recordings:
        settings = replace(settings, test=exclusions.usable(settings.test_recordings, require))
    split = split_recordings(recordings, settings.test, seed=settings.seed)
    require_torque(split.train)
    require_inertia(split.train)
    if settings.effects is not None:
        servo = replace(servo, search=replace(servo.search, effects=resolve_effects(settings.effects)))
    task = IdentificationTask(
        servo=servo,
        split=split,
        folds=selection_folds(split.train, left_out(split.rule)),
        settings=settings,
        execution=execution,
        excluded=(*given.excluded, *exclusions.excluded),
    )
    _log_warnings(task)
    return task


def _seed_result(stages: Iterator[Identification]) -> SeedResult:
    """Return the result of another seed, which needs no intervals."""
    return next(stage for stage in stages if stage.not_done == (UNCERTAINTY,)).seed_result


def _log_warnings(task: IdentificationTask) -> None:
    logs, effects = task.split.logs, task.servo.search.effects
    require_temperature(logs, effects)
    findings = (
        *missing_channels(logs, effects),
        *full_demand_errors(task.servo, logs),
        *unusual_supplies([task.servo], [log.supply_voltage for log in logs]),
        *gain_warnings(task.servo, logs),
        *scarcity(len(task.split.train), len(task.split.test), len(task.folds)),
    )
    log_findings(log, findings)
