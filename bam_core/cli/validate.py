# SPDX-License-Identifier: Apache-2.0
"""``bam validate``: how well servo models reproduce recordings."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bam_core.atomic_file import require_file, write_text
from bam_core.cli.bench_effects import add_bench_effects, bench_effects_for
from bam_core.errors import BamError
from bam_core.text_table import format_table

if TYPE_CHECKING:
    from bam_core.recordings.recording import Recording
    from bam_core.servo.effects import BenchEffects
    from bam_core.servo.model import ServoModel

EXAMPLE = "bam validate recordings/ --params out/xl330/m1.yaml out/xl330/m6.yaml --json validation.json"

_FINEST_DT, _COARSEST_DT = 1e-5, 0.02  # s

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "logs",
        nargs="+",
        metavar="LOGS",
        help="JSON logs, bags, or directories that are searched recursively",
    )
    parser.add_argument(
        "--params",
        nargs="+",
        required=True,
        metavar="FILE",
        help="servo YAML files or names from 'bam servos'",
    )
    add_bench_effects(parser)
    parser.add_argument("--json", metavar="FILE", help="write the errors [rad] to this file")
    parser.add_argument(
        "--dt",
        type=float,
        metavar="SECONDS",
        help=f"step of controller and simulation, {_FINEST_DT:g} to {_COARSEST_DT:g} "
        "(default: the firmware's period, finer physics in between)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate every recording with every servo model and report mean absolute position errors."""
    from bam_core.recordings import load_recordings
    from bam_core.recordings.discovery import unique_names
    from bam_core.servo.model import load_servo

    dt = arguments.dt
    if dt is not None and not _FINEST_DT <= dt <= _COARSEST_DT:
        raise BamError(
            f"--dt: is {dt:g} s (expected {_FINEST_DT:g} to {_COARSEST_DT:g}: firmware computes its duty "
            f"every few milliseconds, coarser steps simulate another controller); correct it or leave it out"
        )
    if arguments.json:
        require_file(arguments.json)
    paths = list(dict.fromkeys(arguments.params))
    names = unique_names([Path(path) for path in paths])
    servos = {name: load_servo(path) for name, path in zip(names, paths, strict=True)}
    recordings = load_recordings(arguments.logs)
    result = {
        name: validate(
            servos[name], recordings, bench_effects_for(arguments.bench_effects, path, recordings), dt=dt
        )
        for name, path in zip(names, paths, strict=True)
    }
    if arguments.json:
        write_text(arguments.json, json.dumps(result, indent=2) + "\n")
    print(_table(result))
    return 0


def validate(
    servo: ServoModel,
    recordings: Sequence[Recording],
    bench_effects: BenchEffects | None = None,
    *,
    dt: float | None = None,
) -> dict[str, Any]:
    """Mean absolute position errors of one servo model.

    Args:
        servo: simulated in closed loop with its own firmware, integrator and friction rule.
        recordings: at least one.
        bench_effects: of the bench that recorded; default none.
        dt: step of controller and simulation [s]; by default the firmware's period.

    Returns:
        ``{"mae": rad, "per_log": {name: rad}}``; ``mae`` is the mean over recordings.

    Raises:
        BamError: there are no recordings, or dt is out of range.
    """
    from bam_core.identification.data.same_servo import other_servos
    from bam_core.servo.effects import IDEAL_BENCH
    from bam_core.simulation.rollout import Rollout, parameter_vector

    bench = bench_effects or IDEAL_BENCH
    for line in other_servos(servo, recordings):
        log.warning(line)
    if servo.gear is None:
        errors = Rollout.for_servo(recordings, servo, dt=dt).errors(parameter_vector(servo, bench)[None])[0]
    else:
        from bam_core.gears.posedness import ill_posed
        from bam_core.gears.rollout import GearRollout, gear_vector

        if warning := ill_posed(servo, (recording.bench for recording in recordings), bench):
            log.warning(warning)
        errors = GearRollout(recordings, firmware=servo.firmware, dt=dt).errors(gear_vector(servo, bench))[0]
    per_log = {recording.name: float(error) for recording, error in zip(recordings, errors, strict=True)}
    return {"mae": float(errors.mean()), "per_log": per_log}


def _table(result: Mapping[str, Mapping[str, Any]]) -> str:
    """Errors in mrad: one row per recording, one column per model, the mean last."""
    models = list(result)
    logs = list(result[models[0]]["per_log"])
    rows = [[name, *(f"{1e3 * result[model]['per_log'][name]:.2f}" for model in models)] for name in logs]
    mean = ["mean", *(f"{1e3 * result[model]['mae']:.2f}" for model in models)]
    return format_table(["MAE [mrad]", *models], [*rows, mean])
