# SPDX-License-Identifier: Apache-2.0
"""What a fitted model leaves over, and what kind of physics it lacks.

The error of a fit is compared with what encoder, timing and repeated runs would leave (`floor`), and with
that of what needs no model (`trivial`): above the latter the search has failed. Between them, residual
accelerations of short windows (`windows`) are tested for structure: every cause (`cause`) gives torques that
it would add along the measured motion, and is scored by the share that it explains in data left out of its
fit (`ranking`). A header is reported as wrong only where it explains more than any physics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.found_servo import found_servo
from bam_core.identification.misfit.bench_causes import bench_causes, header_causes
from bam_core.identification.misfit.cause import Cause
from bam_core.identification.misfit.cause_responses import CauseResponses
from bam_core.identification.misfit.drive_causes import drive_causes
from bam_core.identification.misfit.floor import ABOVE_FLOOR, Floor, floor, noise
from bam_core.identification.misfit.friction_causes import friction_causes
from bam_core.identification.misfit.groups import configuration_groups, time_groups
from bam_core.identification.misfit.motion import Motion, motions
from bam_core.identification.misfit.ranking import LEAST_EXCESS, PRIOR, Score
from bam_core.identification.misfit.trivial import trivial
from bam_core.identification.misfit.windows import WindowData, Windows, window_length
from bam_core.identification.search.sensitivity import normalised, residuals_at, vectors_at
from bam_core.identification.search.space import SearchSpace
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.text.misfit_findings import (
    LEAST_SHARE,
    ErrorFloor,
    LogsTooShort,
    MisfitFinding,
    SearchFailed,
    UnexplainedMisfit,
    no_misfit_words,
)

_FINER = 4  # steps of the finer simulation per step of the one that was fitted
_WORST = 2  # runs that are named where no cause is
_SURE = 1.5  # standard errors
_SECOND = 0.2  # of the misfit: what a second cause must explain beside the first
_LOGS = 48  # that are looked at, evenly among all: more tell little new and take time
_ROUNDS = 4  # Gauss-Newton steps of the fit to the windows
_CAUTION = 0.25  # factor on the next step after one that raised the cost
_LEAST_WINDOWS = 4  # of a log


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnosis:
    """What a fit leaves over.

    Attributes:
        floor: what measurement alone would leave.
        error: mean absolute position error of the training logs, rad.
        findings: the first takes most; empty where the error is at the floor.
        shifts: (n, dimension) moves of the parameters, in shares of their search range, by which short
            windows and the causes found disagree with the fit; no rows where the error is at the floor.
        shares: of the misfit, by kind of cause, in data left out of its fit.
    """

    floor: Floor
    error: float
    findings: tuple[MisfitFinding, ...]
    shifts: Array
    shares: dict[str, float]

    @property
    def is_above_floor(self) -> bool:
        """Whether the model lacks something."""
        return self.is_above(self.error)

    def is_above(self, error: float) -> bool:
        """Return whether an error, rad, is larger than measurement alone explains."""
        return error > ABOVE_FLOOR * self.floor.value + self.floor.encoder

    @property
    def error_floor(self) -> ErrorFloor:
        """The training error beside the floor."""
        return self.floor.report(self.error)

    @property
    def sentence(self) -> str:
        """Error, floor and the first finding."""
        first = self.findings[0].sentence if self.findings else no_misfit_words()
        return f"{self.error_floor.sentence} {first}"

    def summary(self) -> dict[str, Any]:
        """Return its entries in ``summary.json``; errors in rad."""
        report = self.error_floor
        return {
            "misfit": [finding.summary() for finding in self.findings],
            "floor": {
                "kind": report.kind,
                "value": self.floor.value,
                "encoder": self.floor.encoder,
                "noise": self.floor.noise,
                "steps": self.floor.steps,
                "repeats": self.floor.repeats,
                "words": report.source,
                "sentence": report.sentence,
            },
            "misfit_shares": self.shares,
        }


def diagnose(
    servo: ServoModel,
    recordings: Sequence[Recording],
    space: SearchSpace,
    bench_effects: BenchEffects = IDEAL_BENCH,
) -> Diagnosis:
    """Return what a fitted servo leaves over of its training logs, and why.

    Args:
        servo: with the parameters found.
        recordings: that they were fitted to.
        space: that was searched.
        bench_effects: that were found with it.
    """
    resolution = servo.firmware.resolution
    vector = parameter_vector(servo, bench_effects)
    rollout = Rollout.for_servo(recordings, servo)
    finer = Rollout.for_servo(recordings, servo, dt=rollout.dt, substeps=_FINER * rollout.substeps)
    steps = float(np.mean(np.abs(residuals_at(finer, vector) - residuals_at(rollout, vector))))
    errors = dict(
        zip((recording.name for recording in recordings), rollout.errors(vector)[0].tolist(), strict=True)
    )
    error = fmean(errors.values())
    least = replace(floor(recordings, resolution), steps=steps).beside(error)
    nothing = np.empty((0, space.dimension))
    clean = Diagnosis(floor=least, error=error, findings=(), shifts=nothing, shares={})
    if not clean.is_above_floor:
        return clean
    without_model = trivial(recordings)
    if error >= without_model.error:
        return replace(
            clean,
            findings=(SearchFailed(baseline=without_model.kind, baseline_error=without_model.error),),
        )
    length = window_length(recordings, servo.firmware)
    logs = _some([recording for recording in recordings if recording.duration > _LEAST_WINDOWS * length])
    if not logs:
        return replace(clean, findings=(LogsTooShort(),))
    windows = Windows(Rollout.for_servo(logs, servo, restart=length), length)
    deviations = [noise(log, resolution) for log in logs]
    fitted = {axis.name for axis in space.axes}
    controlled = not all(log.open_loop for log in logs)
    fit = normalised(space, vector)
    here, moved, seen = _fitted_to_windows(windows, servo, space, fit, deviations)
    causes = [
        cause
        for cause in (*friction_causes(), *bench_causes(moved), *drive_causes(controlled=controlled))
        if not fitted & set(cause.effects)
    ]
    headers = header_causes(moved, [(_load(log), f"kp {log.kp:g}") for log in logs])
    data = CauseResponses(windows, moved, seen, [*causes, *headers], deviations)
    by_run = data.regression(configuration_groups(logs, seen))
    excess = by_run.excess
    scores = {cause.kind: by_run.score(data.forms[cause.kind], excess) for cause in causes}
    shares = {kind: score.share for kind, score in scores.items()}
    best = _best(causes, scores)
    if headers:
        within = data.regression(time_groups(seen))
        rivals = {cause.kind: within.score(data.forms[cause.kind], within.excess) for cause in headers}
        shares |= {kind: score.share for kind, score in rivals.items()}
        blamed = _best(headers, rivals)
        if blamed is not None and (
            best is None
            or rivals[blamed.kind].share
            > within.score(data.forms[best.kind], within.excess).share + rivals[blamed.kind].error
        ):
            best, scores = blamed, rivals
    shifts = [here - fit]
    findings: list[MisfitFinding] = []
    if best is not None:
        findings.append(data.finding(best, scores[best.kind], servo.friction_model))
        shifts.append(here + scores[best.kind].shift - fit)
        beside = by_run.beside(scores[best.kind])
        rest = [cause for cause in causes if cause is not best]
        left = {cause.kind: beside.score(data.forms[cause.kind], excess) for cause in rest}
        second = _best(rest, left, least=_SECOND)
        if second is not None:
            findings.append(data.finding(second, left[second.kind], servo.friction_model))
            shifts.append(here + left[second.kind].shift - fit)
    if not findings:
        findings.append(_unexplained(causes, scores, by_run.excess_share, errors))
    return Diagnosis(
        floor=least, error=error, findings=tuple(findings), shifts=np.array(shifts), shares=shares
    )


def _fitted_to_windows(
    windows: Windows, servo: ServoModel, space: SearchSpace, fit: Array, deviations: Sequence[float]
) -> tuple[Array, list[Motion], WindowData]:
    """Fit parameters to the windows; return them, with the motions and window data at that point.

    Missing physics biases the fit to whole runs; responses of causes add up linearly only near the truth.
    """

    def see(where: Array) -> tuple[Array, list[Motion], WindowData]:
        vector = vectors_at(space, where[None])[0]
        moved = motions(windows.rollout, *found_servo(servo, friction_model(servo.friction_model), vector))
        return where, moved, windows.see(space, where, moved)

    best = see(fit)
    first = CauseResponses(windows, best[1], best[2], [], deviations)
    before, way, prior = first.cost(best[2]), first.shift(PRIOR), PRIOR
    for _ in range(_ROUNDS):
        there = see(np.clip(best[0] + way, 0.0, 1.0))
        cost = first.cost(there[2])
        if cost < before:
            before, best = cost, there
        else:
            prior *= _CAUTION
        way = CauseResponses(windows, best[1], best[2], [], deviations).shift(prior)
    return best


def _unexplained(
    causes: Sequence[Cause], scores: Mapping[str, Score], excess: float, errors: Mapping[str, float]
) -> UnexplainedMisfit:
    nearest = max(causes, key=lambda cause: scores[cause.kind].share)
    score = scores[nearest.kind]
    share = min(max(score.share, 0.0), 1.0)
    obstacle: Literal["too_small", "by_chance", "inconsistent"]
    if share <= LEAST_SHARE:
        obstacle = "too_small"
    else:
        obstacle = "by_chance" if score.share <= _SURE * score.error else "inconsistent"
    worst = sorted(errors, key=lambda name: errors[name], reverse=True)[:_WORST]
    return UnexplainedMisfit(
        candidates=len(causes),
        nearest=nearest.kind,
        nearest_share=share,
        nearest_error=score.error,
        obstacle=obstacle,
        noise_share=1.0 - excess,
        # Noise is never taken for all of the residual: it is an estimate itself.
        is_noise_bounded=excess <= LEAST_EXCESS,
        worst=tuple((name, errors[name]) for name in worst),
    )


def _best(causes: Sequence[Cause], scores: dict[str, Score], least: float = LEAST_SHARE) -> Cause | None:
    """Return the cause that explains most; None where the best explains too little, or by chance."""
    sure = [
        cause
        for cause in causes
        if scores[cause.kind].share > max(least, _SURE * scores[cause.kind].error)
        and scores[cause.kind].forms
    ]
    return max(sure, key=lambda cause: scores[cause.kind].share, default=None)


def _some(recordings: Sequence[Recording]) -> list[Recording]:
    ordered = sorted(recordings, key=lambda recording: recording.name)
    if len(ordered) <= _LOGS:
        return ordered
    return [ordered[i] for i in np.linspace(0, len(ordered) - 1, _LOGS).round().astype(int)]


def _load(recording: Recording) -> str:
    return recording.bench.words
