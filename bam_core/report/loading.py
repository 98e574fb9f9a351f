# SPDX-License-Identifier: Apache-2.0
"""From a directory that `bam identify` wrote, of this version or an older one, to `Results`."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bam_core.errors import BamError, Malformed, UnknownName, Unreadable
from bam_core.recordings.header_corrections import FIELDS
from bam_core.report._fields import Fields, read_json
from bam_core.report.results import (
    EffectResult,
    Estimate,
    LogInfo,
    Misfit,
    ModelResult,
    Results,
    Uncertainty,
)
from bam_core.report.trajectories import load_trajectories
from bam_core.servo.bench_effects_file import FOLDER, load_bench_effects
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel, fitted_parameters, load_servo

SUMMARY = "summary.json"

_SAME = 1e-9  # relative: both files hold every digit


def load_results(directory: str | os.PathLike[str]) -> Results:
    """Read the results of one identification.

    Raises:
        BamError: there is no such directory, it holds no identification, or one of its files is missing,
            damaged, of another identification or not as expected.
    """
    directory = Path(directory)
    summary = read_summary(directory)
    summary.require("models", "chosen")
    verdicts = {entry.text("model"): entry.text("verdict") for entry in summary.children("choice")}
    entries = summary.child("models")
    models = {name: _model(directory, name, entries.child(name), verdicts.get(name, "")) for name in entries}
    chosen = summary.text("chosen")
    if chosen not in models:
        raise UnknownName("model", chosen, models).within(f"{directory / SUMMARY}: chosen")
    logs = _logs(summary, models[chosen])
    trajectories, without_trajectories = load_trajectories(
        directory, tuple(logs), tuple(models), summary.text("trajectories_sha256")
    )
    every = summary.child("restarted_every")
    return Results(
        directory=directory,
        models=models,
        chosen=chosen,
        reason=summary.text("reason"),
        effects=(
            tuple(_effect(entry) for entry in summary.children("effects")) if "effects" in summary else None
        ),
        logs=logs,
        rule=summary.child("split").text("rule"),
        seed=summary.number("seed"),
        test_of_seeds=tuple(each.number("test_mae") for each in summary.children("seeds")),
        restarted_every={side: every.number(side) for side in every},
        software=summary.text("software") or models[chosen].servo.provenance.software,
        date=summary.text("date") or models[chosen].servo.provenance.date,
        trajectories=trajectories,
        without_trajectories=without_trajectories,
    )


def read_summary(directory: Path) -> Fields:
    """Return the content of a directory's summary.

    Raises:
        BamError: there is no such directory, it holds no identification, or its summary is damaged.
    """
    if not directory.is_dir():
        what = "is a file" if directory.exists() else "is not there"
        raise Unreadable(
            directory, what, expected="a directory that 'bam identify' wrote", advice="correct the path"
        )
    if not (directory / SUMMARY).exists():
        raise Malformed(
            directory,
            f"is no identification, it has no {SUMMARY}",
            advice="give the --output of 'bam identify'",
        )
    return read_json(directory / SUMMARY)


def _model(directory: Path, name: str, entry: Fields, verdict: str) -> ModelResult:
    try:
        friction_model(name)
    except BamError as error:
        raise error.within(directory / SUMMARY) from None
    path = directory / f"{name}.yaml"
    if not path.exists():
        raise Unreadable(
            path,
            f"is not there, though {SUMMARY} lists {name}",
            advice="put it back or run 'bam identify' again",
        )
    servo, bench_effects = load_servo(path), load_bench_effects(path)
    _require_same(path, name, servo, bench_effects, entry.child("parameters"))
    per_log = entry.child("per_log")
    uncertainty = _uncertainty(entry.child("uncertainty")) if "uncertainty" in entry else None
    return ModelResult(
        servo=servo,
        bench_effects=bench_effects,
        train_mae=entry.number("train_mae"),
        selection_mae=entry.number("selection_mae"),
        test_mae=entry.number("test_mae"),
        test_interval=_ends(entry, "test_interval"),
        test_short=entry.number("test_mae_short"),
        test_longer=entry.number("test_mae_short_1s"),
        per_log={log: per_log.number(log) for log in per_log},
        at_bound=entry.texts("at_bound"),
        ended_early="converged" in entry and not entry.flag("converged"),
        spent="spent" not in entry or entry.flag("spent"),
        trials=entry.number("trials"),
        seconds=entry.number("seconds"),
        uncertainty=uncertainty,
        verdict=verdict,
        misfit=_misfit(entry) if "floor" in entry else None,
    )


def _misfit(entry: Fields) -> Misfit:
    floor, shares = entry.child("floor"), entry.child("misfit_shares")
    return Misfit(
        floor=floor.number("value"),
        floor_words=floor.text("words"),
        findings=tuple(
            (each.text("kind"), each.text("evidence"), each.text("suggestion"))
            for each in entry.children("misfit")
        ),
        shares={kind: shares.number(kind) for kind in shares},
    )


def _require_same(
    path: Path, name: str, servo: ServoModel, bench_effects: BenchEffects, parameters: Fields
) -> None:
    """Raise Malformed where the files of servo and bench are not those that the summary tells of."""
    both = f"the {path.name} of this identification, the one in {FOLDER}/ as well"
    cure = f"put back {both}, or run 'bam identify' again"
    if servo.friction_model != name:
        raise Malformed(path, f"friction model is {servo.friction_model}", expected=name, advice=cure)
    if len(parameters) == 0:  # as early versions wrote it
        return
    found = fitted_parameters(servo, bench_effects)
    for key in dict.fromkeys((*found, *parameters)):
        here = found.get(key, math.nan)
        told = parameters.number(key)
        if not math.isclose(here, told, rel_tol=_SAME):
            raise Malformed(path, f"{key} is {_told(here)}, in {SUMMARY} {_told(told)}", advice=cure)


def _told(value: float) -> str:
    """Tell every digit: two that differ by a trifle shall look different."""
    return "missing" if math.isnan(value) else repr(value)


def _uncertainty(entry: Fields) -> Uncertainty:
    estimates = entry.child("estimates")
    correlation = entry.child("correlation")
    names = correlation.texts("parameters")
    return Uncertainty(
        method=entry.text("method"),
        estimates={name: _estimate(estimates.child(name)) for name in estimates},
        names=names,
        correlation=np.array(correlation.matrix("matrix", len(names)), dtype=np.float64),
    )


def _estimate(entry: Fields) -> Estimate:
    low, high = _ends(entry, "interval")
    return Estimate(
        low=low,
        high=high,
        identifiable=entry.flag("identifiable"),
        trades_with=entry.texts("trades_with"),
        remark=entry.text("remark"),
    )


def _ends(entry: Fields, key: str) -> tuple[float, float]:
    low, high = entry.numbers(key, 2) if key in entry else (np.nan, np.nan)
    return low, high


def _effect(entry: Fields) -> EffectResult:
    entry.require("name")
    return EffectResult(
        name=entry.text("name"),
        unit=entry.text("unit"),
        value=entry.number("value"),
        train_without=entry.number("train_mae_without"),
        train_with=entry.number("train_mae"),
        selection_without=entry.number("selection_mae_without"),
        selection_with=entry.number("selection_mae"),
        chance=entry.number("chance") if "chance" in entry else 0.0,
        kept=entry.flag("kept"),
        reason=entry.text("reason"),
    )


def _logs(summary: Fields, model: ModelResult) -> dict[str, LogInfo]:
    split = summary.child("split")
    in_test = split.texts("test")
    origin = model.servo.provenance
    digests: Mapping[str, str] = {**origin.train_data, **origin.test_data}
    about = summary.child("logs")
    left_out, corrections = summary.child("left_out"), summary.child("corrections")
    logs = {}
    for name in (*split.texts("train"), *in_test):
        entry = about.child(name)
        logs[name] = LogInfo(
            name=name,
            set="test" if name in in_test else "training",
            script=entry.text("script"),
            kp=entry.number("kp"),
            mass=entry.number("mass"),
            arm_mass=entry.number("arm_mass"),
            length=entry.number("length"),
            supply_voltage=entry.number("supply_voltage"),
            sha256=entry.text("sha256") or digests.get(name, ""),
            left_out=left_out.texts(name),
            corrections=tuple(map(_correction, corrections.children(name))),
            open_loop=entry.flag("open_loop"),
            inertia=entry.number("inertia") if "inertia" in entry else 0.0,
        )
    return logs


def _correction(entry: Fields) -> str:
    name, before = entry.text("field"), entry.told("before")
    unit = FIELDS.get(name, "")
    in_header = f"header: {before}" if before else "not in the header"
    return f"{name} {entry.told('value')} {unit}".strip() + f" ({in_header}; set by {entry.text('source')})"
