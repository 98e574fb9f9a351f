# SPDX-License-Identifier: Apache-2.0
"""``bam view``: recordings as they are, and what servo models make of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.bench_effects import add_bench_effects, bench_effects_for, warn_of_bench
from bam_core.cli.logs import add_logs, add_params
from bam_core.cli.map_words import add_map, map_words
from bam_core.cli.set_fields import add_set
from bam_core.errors import Conflict, WrongShape
from bam_core.files.atomic_file import require_file, write_text

if TYPE_CHECKING:
    from bam_core.arrays import Array
    from bam_core.recordings.recording import Recording
    from bam_core.report import ModelView
    from bam_core.servo.effects import BenchEffects
    from bam_core.servo.model import ServoModel

EXAMPLE = "bam view recordings/ --params out/xl330/m6.yaml --output view.html"

FIRST_SCREEN = ("--params", "--bench-effects", "--set", "--map", "--output", "--rerun")

PAGE = "view.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_logs(parser)
    add_params(parser, ", which are simulated and compared")
    add_bench_effects(parser)
    add_set(parser)
    add_map(parser)
    parser.add_argument(
        "--output", metavar="FILE", help=f"page to write (default: {PAGE} where the command is run)"
    )
    parser.add_argument(
        "--rerun",
        nargs="?",
        const="",
        metavar="FILE.rrd",
        help="show them in Rerun instead, or write a file for it (needs: pip install 'bam_bench[rerun]')",
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate what is to be compared, and write the page."""
    from bam_core.recordings import load_recordings
    from bam_core.recordings.discovery import unique_names
    from bam_core.report import MOST_MODELS, ModelView
    from bam_core.servo.model import load_servo
    from bam_core.validation.validation import validate

    if arguments.rerun is not None and arguments.output:
        raise Conflict("--output", "is for the page", expected="--rerun FILE.rrd for a file of Rerun")
    if arguments.rerun is not None:
        from bam_core.cli.view_rerun import require_rerun

        require_rerun(arguments.rerun)
    else:
        require_file(arguments.output or PAGE)
    paths = list(dict.fromkeys(arguments.params))
    if len(paths) > MOST_MODELS:
        raise WrongShape("--params", len(paths), f"{MOST_MODELS} models at most", advice="leave some out")
    titles = unique_names([Path(path) for path in paths])
    servos = [load_servo(path) for path in paths]
    recordings = load_recordings(arguments.logs, set_fields=arguments.set, map=map_words(arguments))
    benches = [bench_effects_for(arguments.bench_effects, path) for path in paths]
    models = [
        ModelView(
            title=title,
            servo=servo,
            positions=simulated(servo, recordings, bench),
            errors=validate(servo, recordings, bench).per_log,
        )
        for title, servo, bench in zip(titles, servos, benches, strict=True)
    ]
    if arguments.rerun is not None:
        from bam_core.cli.view_rerun import show

        show(recordings, models, arguments.rerun)
    else:
        _write(recordings, models, Path(arguments.output or PAGE))
    for path in paths:
        warn_of_bench(arguments.bench_effects, path, recordings)
    return 0


def simulated(servo: ServoModel, recordings: Sequence[Recording], bench: BenchEffects) -> Sequence[Array]:
    """Return the simulated positions of each recording, (n,) rad at its own times."""
    if servo.gear is None:
        from bam_core.simulation.rollout import Rollout, parameter_vector

        return Rollout.for_servo(recordings, servo).positions(parameter_vector(servo, bench))
    from bam_core.mujoco import simulate_recording  # a gear's rollout has positions on its own grid only

    return [simulate_recording(servo, recording, bench_effects=bench) for recording in recordings]


def _write(recordings: Sequence[Recording], models: Sequence[ModelView], output: Path) -> None:
    from bam_core.report import render_view

    write_text(output, render_view(recordings, models))
    print(f"wrote {output}")
