# SPDX-License-Identifier: Apache-2.0
"""From a directory that `bam identify` wrote to `Results`."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bam_core.errors import BamError, Malformed, UnknownName, Unreadable
from bam_core.recordings.header_corrections import FIELDS
from bam_core.report import summary_file
from bam_core.report.results import (
    Estimate,
    LogInfo,
    LogRun,
    Misfit,
    ModelResult,
    Results,
    Uncertainty,
    Verdict,
)
from bam_core.report.summary_file import (
    NAME,
    CorrectionEntry,
    EstimateEntry,
    FloorEntry,
    ModelEntry,
    Summary,
    UncertaintyEntry,
    VerdictEntry,
)
from bam_core.report.trajectories import load_trajectories
from bam_core.servo.bench_effects_file import FOLDER, load_bench_effects
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel, fitted_parameters, load_servo
from bam_core.text.finding import mrad

_SAME = 1e-9  # relative: both files hold every digit


def load_results(directory: str | os.PathLike[str]) -> Results:
    """Read the results of one identification.

    Raises:
        BamError: there is no such directory, it holds no identification, or one of its files is missing,
            damaged, of another identification or not as expected.
    """
    directory = Path(directory)
    summary = summary_file.read_summary(directory, Summary)
    verdicts = {entry.model: entry.verdict for entry in summary.choice}
    models = {
        name: _model(directory, name, entry, verdicts.get(name, "")) for name, entry in summary.models.items()
    }
    if summary.chosen not in models:
        raise UnknownName("model", summary.chosen, models).within(f"{directory / NAME}: chosen")
    chosen = models[summary.chosen]
    logs = _logs(summary, chosen)
    trajectories, without_trajectories = load_trajectories(
        directory, tuple(logs), tuple(models), summary.trajectories_sha256
    )
    return Results(
        directory=directory,
        models=models,
        chosen=summary.chosen,
        reason=summary.reason,
        verdict=None if summary.verdict is None else verdict_of(summary.verdict),
        effects=summary.effects,
        logs=logs,
        rule=summary.split.rule,
        seed=summary.seed,
        test_of_seeds=tuple(seed.test_mae for seed in summary.seeds),
        restarted_every=summary.restarted_every,
        software=summary.software or chosen.servo.provenance.software,
        date=summary.date or chosen.servo.provenance.date,
        trajectories=trajectories,
        without_trajectories=without_trajectories,
    )


def _model(directory: Path, name: str, entry: ModelEntry, verdict: str) -> ModelResult:
    try:
        friction_model(name)
    except BamError as error:
        raise error.within(directory / NAME) from None
    path = directory / f"{name}.yaml"
    if not path.exists():
        raise Unreadable(
            path,
            f"is not there, though {NAME} lists {name}",
            advice="put it back or run 'bam identify' again",
        )
    servo, bench_effects = load_servo(path), load_bench_effects(path)
    _require_same(path, name, servo, bench_effects, entry.parameters)
    return ModelResult(
        servo=servo,
        bench_effects=bench_effects,
        train_mae=entry.train_mae,
        selection_mae=entry.selection_mae,
        test_mae=entry.test_mae,
        test_interval=entry.test_interval,
        test_short=entry.test_mae_short,
        test_longer=entry.test_mae_short_1s,
        per_log=entry.per_log,
        at_bound=entry.at_bound,
        ended_early=not entry.converged if entry.ended_early is None else entry.ended_early,
        spent=entry.spent,
        trials=entry.trials,
        seconds=entry.seconds,
        uncertainty=None if entry.uncertainty is None else _uncertainty(entry.uncertainty),
        verdict=verdict,
        misfit=None if entry.floor is None else _misfit(entry, entry.floor),
    )


def verdict_of(entry: VerdictEntry) -> Verdict:
    """Return the verdict of a summary."""
    reasons = tuple(reason.sentence for reason in entry.reasons)
    return Verdict(
        kind=entry.kind,
        sentence=entry.sentence,
        rule=entry.rule,
        reasons=reasons,
        findings=tuple(finding.sentence for finding in entry.findings),
    )


def _misfit(entry: ModelEntry, floor: FloorEntry) -> Misfit:
    return Misfit(
        # Earlier versions wrote no sentences.
        floor_sentence=floor.sentence or f"Floor {mrad(floor.value)} ({floor.words}).",
        findings=tuple(
            (finding.kind, finding.sentence or f"{finding.evidence}; {finding.suggestion}.")
            for finding in entry.misfit
        ),
        shares=entry.misfit_shares,
    )


def _require_same(
    path: Path, name: str, servo: ServoModel, bench_effects: BenchEffects, parameters: Mapping[str, float]
) -> None:
    """Raise Malformed where the files of servo and bench are not those of the summary."""
    both = f"the {path.name} of this identification, the one in {FOLDER}/ as well"
    cure = f"put back {both}, or run 'bam identify' again"
    if servo.friction_model != name:
        raise Malformed(path, f"friction model is {servo.friction_model}", expected=name, advice=cure)
    if not parameters:  # as early versions wrote it
        return
    stored = fitted_parameters(servo, bench_effects)
    for key in dict.fromkeys((*stored, *parameters)):
        here = stored.get(key, math.nan)
        listed = parameters.get(key, math.nan)
        if not math.isclose(here, listed, rel_tol=_SAME):
            raise Malformed(
                path, f"{key} is {_all_digits(here)}, in {NAME} {_all_digits(listed)}", advice=cure
            )


def _all_digits(value: float) -> str:
    """Return every digit: two that differ by a trifle shall look different."""
    return "missing" if math.isnan(value) else repr(value)


def _uncertainty(entry: UncertaintyEntry) -> Uncertainty:
    correlation, size = entry.correlation, len(entry.correlation.parameters)
    return Uncertainty(
        method=entry.method,
        estimates={name: _estimate(estimate) for name, estimate in entry.estimates.items()},
        names=correlation.parameters,
        correlation=np.array(correlation.matrix, dtype=np.float64).reshape(size, size),
    )


def _estimate(entry: EstimateEntry) -> Estimate:
    low, high = entry.interval
    return Estimate(
        low=low,
        high=high,
        identifiable=entry.identifiable,
        trades_with=entry.trades_with,
        remark=entry.remark,
        remark_kind="" if entry.finding is None else entry.finding.kind,
    )


def _logs(summary: Summary, model: ModelResult) -> dict[str, LogInfo]:
    origin = model.servo.provenance
    digests: Mapping[str, str] = {**origin.train_data, **origin.test_data}
    logs = {}
    for name in (*summary.split.train, *summary.split.test):
        run = vars(summary.logs.get(name, LogRun()))
        logs[name] = LogInfo(
            **{**run, "sha256": run["sha256"] or digests.get(name, "")},
            name=name,
            set="test" if name in summary.split.test else "training",
            left_out=summary.left_out.get(name, ()),
            corrections=tuple(map(_correction, summary.corrections.get(name, ()))),
        )
    return logs


def _correction(entry: CorrectionEntry) -> str:
    unit = FIELDS.get(entry.field, "")
    in_header = f"header: {entry.before}" if entry.before else "not in the header"
    return f"{entry.field} {entry.value} {unit}".strip() + f" ({in_header}; set by {entry.source})"
