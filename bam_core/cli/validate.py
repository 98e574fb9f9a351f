# SPDX-License-Identifier: Apache-2.0
"""``bam validate``: how well servo models reproduce recordings."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bam_core.cli.bench_effects import add_bench_effects, bench_effects_for, warn_of_bench
from bam_core.cli.logs import add_logs, add_params, add_strict
from bam_core.cli.map_words import add_map, map_words
from bam_core.cli.quantities import quantity_in
from bam_core.cli.set_fields import add_set
from bam_core.errors import Missing, OutOfRange
from bam_core.files.atomic_file import require_file, write_text
from bam_core.text.quantity import TIME
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.identification.uncertainty.prediction import Prediction
    from bam_core.recordings.recording import Recording
    from bam_core.servo.model import ServoModel
    from bam_core.validation.validation import Validation

EXAMPLE = "bam validate recordings/ --params out/xl330/m1.yaml out/xl330/m6.yaml --json validation.json"

FIRST_SCREEN = ("--params", "--bench-effects", "--set", "--draws", "--json")

log = logging.getLogger(__name__)

_FINEST_DT, _COARSEST_DT = 1e-5, 0.02  # s


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_logs(parser)
    add_params(parser, "; required")
    add_bench_effects(parser, "; beside it, zero offset and delay fitted to the logs")
    add_set(parser)
    add_map(parser)
    add_strict(parser)
    parser.add_argument("--json", metavar="FILE", help="write the errors [rad] to this file")
    parser.add_argument(
        "--dt",
        type=quantity_in(TIME),
        metavar="SECONDS",
        help=f"step of controller and simulation, {_FINEST_DT:g} to {_COARSEST_DT:g} "
        "(default: the firmware's period, finer physics in between)",
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=0,
        metavar="N",
        help="draw the parameters so many times, misfit included, and compare 90 %% bands with what was "
        "measured; 200 are plenty (default: none)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws (default: 0)")
    parser.add_argument(
        "--fixed-friction",
        action="store_true",
        help="draws with the same friction and strength in every run (default: both vary as in training)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate every recording with every servo model and report mean absolute position errors."""
    if not arguments.params:
        raise Missing("--params", "servo files or names from 'bam servos'")
    from bam_core.identification.data.data_warnings import full_demand_errors
    from bam_core.identification.data.screening import warn_unsuitable
    from bam_core.recordings import load_usable
    from bam_core.recordings.discovery import unique_names
    from bam_core.servo.model import load_servo
    from bam_core.simulation.rollout_settings import OPEN_LOOP_HORIZON
    from bam_core.text.error_findings import OpenLoopErrors
    from bam_core.text.finding import log_findings
    from bam_core.text.split_findings import TrainedOn
    from bam_core.validation.bench_fit import fit_bench
    from bam_core.validation.settings import ValidateSettings
    from bam_core.validation.validation import LEAST_DRAWS, errors_of, validate

    dt = arguments.dt
    if dt is not None and not _FINEST_DT <= dt <= _COARSEST_DT:
        raise OutOfRange(
            "--dt",
            dt,
            f"{_FINEST_DT:g} to {_COARSEST_DT:g}: firmware computes its duty every few milliseconds, coarser "
            "steps simulate another controller",
            printed=f"{dt:g} s",
            advice="correct it or leave it out",
        )
    if arguments.draws and arguments.draws < LEAST_DRAWS:
        raise OutOfRange("--draws", arguments.draws, f"at least {LEAST_DRAWS}, or 0 for none")
    if arguments.seed < 0:
        raise OutOfRange("--seed", arguments.seed, "0 or more")
    if arguments.json:
        require_file(arguments.json)
    paths = list(dict.fromkeys(arguments.params))
    names = unique_names([Path(path) for path in paths])
    servos = {name: load_servo(path) for name, path in zip(names, paths, strict=True)}
    loaded = load_usable(
        arguments.logs, set_fields=arguments.set, strict=arguments.strict, map=map_words(arguments)
    )
    recordings = loaded.recordings
    warn_unsuitable(servos[names[0]], recordings)
    trained = {name: _trained_on(servo, recordings) for name, servo in servos.items()}
    log_findings(
        log,
        [TrainedOn(model=name, logs=logs, total=len(recordings)) for name, logs in trained.items() if logs],
    )
    log_findings(log, full_demand_errors(servos[names[0]], recordings))
    if all(recording.open_loop for recording in recordings):
        log_findings(log, [OpenLoopErrors(restart=OPEN_LOOP_HORIZON)])
    result, fitted = {}, {}
    for name, path in zip(names, paths, strict=True):
        prediction = _prediction(path) if arguments.draws else None
        bench = bench_effects_for(arguments.bench_effects, path)
        if arguments.bench_effects is None:
            fit = fit_bench(servos[name], recordings, bench, dt=dt)
            fitted[name] = fit, errors_of(servos[name], recordings, fit.bench_effects, dt)
        result[name] = validate(
            servos[name],
            recordings,
            bench,
            ValidateSettings(
                dt=dt,
                prediction=prediction,
                draws=arguments.draws if prediction is not None else 0,
                seed=arguments.seed,
                fixed_friction=arguments.fixed_friction,
            ),
        )
    if arguments.json:
        readings = {
            "dropped_samples": {recording.name: recording.dropped_samples for recording in recordings},
            "position_update_period": {
                recording.name: recording.position_update_period for recording in recordings
            },
        }
        content: dict[str, Any] = {
            name: validation.summary() | readings | {"trained_on": list(trained[name])}
            for name, validation in result.items()
        }
        for name, (fit, errors) in fitted.items():
            finding = fit.finding(name, result[name].mae, errors.mae)
            words = {"kind": finding.kind, "sentence": finding.sentence}
            content[name]["bench_fitted"] = fit.summary() | errors.summary() | words
        if loaded.excluded:
            content["excluded"] = [excluded.summary() for excluded in loaded.excluded]
        write_text(arguments.json, json.dumps(content, indent=2) + "\n")
    columns = result | {f"{name}, bench fitted": errors for name, (_, errors) in fitted.items()}
    print(_table(columns))
    for name, (fit, errors) in fitted.items():
        print(fit.finding(name, result[name].mae, errors.mae))
    sys.stdout.flush()  # warnings go elsewhere, and belong below
    for path in paths:
        warn_of_bench(arguments.bench_effects, path, recordings)
    return 0


def _trained_on(servo: ServoModel, recordings: Sequence[Recording]) -> tuple[str, ...]:
    """Return the names of the recordings that a servo was fitted to, by the digests in its file."""
    digests = set(servo.provenance.train_data.values())
    return tuple(recording.name for recording in recordings if recording.sha256 in digests)


def _prediction(path: str) -> Prediction | None:
    """Return what to draw a servo from; None, with a warning, where its file has no errors."""
    from bam_core.identification.uncertainty.prediction_file import prediction_for

    try:
        return prediction_for(path)
    except Missing as error:
        log.warning("%s: no 90 %% band (%s)", path, error)
        return None


def _table(result: Mapping[str, Validation]) -> str:
    """Errors in mrad: one row per recording, one column per model, then means and bands."""
    logs = next(iter(result.values())).per_log
    rows = [
        [log, *(f"{1e3 * validation.per_log[log]:.2f}" for validation in result.values())] for log in logs
    ]
    means = {
        "mean": [validation.mae for validation in result.values()],
        "mean, restarted every 0.25 s": [validation.mae_short for validation in result.values()],
        "mean, restarted every 1 s": [validation.mae_longer for validation in result.values()],
    }
    rows += [[label, *(f"{1e3 * value:.2f}" for value in values)] for label, values in means.items()]
    bands = [validation.band for validation in result.values()]
    if any(bands):
        rows.append(
            ["width of the 90 % band", *(f"{1e3 * band.width:.2f}" if band else "-" for band in bands)]
        )
        rows.append(["samples in it [%]", *(f"{100 * band.coverage:.1f}" if band else "-" for band in bands)])
        rows.append(["CRPS of the draws", *(f"{1e3 * band.crps:.2f}" if band else "-" for band in bands)])
    return format_table(["MAE [mrad]", *result], rows)
