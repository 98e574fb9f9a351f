# SPDX-License-Identifier: Apache-2.0
"""Both searches of `bam identify` on recordings of real servos, with the same number of simulations.

Every search gets the default budget of its model, in simulations of all training recordings. CMA-ES spends
all of it; the Gauss-Newton search ends earlier where nothing leads further down. Training and test recordings
are split once, by seed 0, as `bam identify --seeds` does; the seeds are those of the searches.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from bam_core.errors import BadData, BamError, OutOfRange, WrongType
from bam_core.files.atomic_file import require_file, write_text
from bam_core.identification.data.split import ENOUGH, Split, split_recordings
from bam_core.identification.fitting import Fitter
from bam_core.identification.search.methods import METHODS
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.recordings import find_sources, load_recordings
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.threads import one_blas_thread
from bam_core.text.table import format_table

SEEDS = 2


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One model of one servo, found by one search.

    Attributes:
        servo: that was recorded.
        recordings: (training, test) counts.
        method: of search.
        seed: of the search.
        model: of friction.
        train: mean absolute position error in training, rad.
        test: the same on the test recordings, rad.
        budget: simulations of all training recordings that the search was allowed.
        trials: how many it made.
        seconds: of the processor.
    """

    servo: str
    recordings: tuple[int, int]
    method: str
    seed: int
    model: str
    train: float
    test: float
    budget: int
    trials: int
    seconds: float


def searched(
    servo: ServoModel,
    split: Split,
    method: str,
    *,
    seed: int,
    models: Sequence[str],
    trials: int | None = None,
) -> list[Entry]:
    """Search for the models of one servo in their order, each helping the next, as `bam identify` does.

    Args:
        servo: whose firmware, search ranges and effects count.
        split: its recordings.
        method: of search.
        seed: of the search.
        models: of friction, from the simplest on.
        trials: of each model; default as many as `bam identify` gives it.
    """
    fitter = Fitter(servo, split.train, seed=seed, method=method)
    test = Rollout(split.test, servo.firmware, RolloutSettings(integrator=INTEGRATOR))
    entries = []
    for name in models:
        begin = time.process_time()
        fit = fitter.plan(FRICTION_MODELS[name], trials=trials).make()
        seconds = time.process_time() - begin
        with one_blas_thread():
            errors = fitter.rollout.errors(fit.vector)[0], test.errors(fit.vector)[0]
        entries.append(
            Entry(
                servo=servo.name,
                recordings=(len(split.train), len(split.test)),
                method=method,
                seed=seed,
                model=name,
                train=fmean(errors[0].tolist()),
                test=fmean(errors[1].tolist()),
                budget=fit.budget,
                trials=fit.result.evaluations,
                seconds=seconds,
            )
        )
    return entries


def main(argv: Sequence[str] | None = None) -> int:
    """Search, print a table and write JSON."""
    parser = argparse.ArgumentParser(prog="search_methods", description=__doc__.split("\n")[0])
    parser.add_argument(
        "recordings",
        nargs="+",
        metavar="SERVO=DIRECTORY",
        help="a servo and its recordings, as xl330=recordings/xl330",
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"from 0 on (default: {SEEDS})")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="take every N-th recording, by name (default: 1)"
    )
    parser.add_argument(
        "--models", nargs="+", choices=list(FRICTION_MODELS), default=list(FRICTION_MODELS), metavar="M1"
    )
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--trials", type=int, metavar="N", help="for each model (default: as many as usual)")
    parser.add_argument("--json", default="search_methods_results.json", metavar="FILE")
    arguments = parser.parse_args(argv)
    try:
        return _study(arguments)
    except BamError as error:
        print(f"search_methods: {error}", file=sys.stderr)
        return 2


def _study(arguments: argparse.Namespace) -> int:
    for name in ("seeds", "every"):
        if getattr(arguments, name) < 1:
            raise OutOfRange(f"--{name}", getattr(arguments, name), "at least 1")
    require_file(arguments.json)
    cases = [read_case(word, arguments.every) for word in arguments.recordings]
    entries: list[Entry] = []
    for servo, split in cases:
        for seed in range(arguments.seeds):
            for method in arguments.methods:
                entries += searched(
                    servo, split, method, seed=seed, models=arguments.models, trials=arguments.trials
                )
                # After each, so that a study that is ended keeps what it has.
                write_text(arguments.json, json.dumps([asdict(entry) for entry in entries], indent=1) + "\n")
                print(f"{servo.name}, seed {seed}, {method}: done", file=sys.stderr, flush=True)
    print(table(entries))
    print(f"wrote {Path(arguments.json)}")
    return 0


def read_case(word: str, every: int) -> tuple[ServoModel, Split]:
    """Return a servo and its recordings, split by seed 0.

    Args:
        word: SERVO=DIRECTORY.
        every: how many recordings there are, by name, to one that is taken.
    """
    name, equals, directory = word.partition("=")
    if not equals:
        raise WrongType("recordings", word, "SERVO=DIRECTORY, as in xl330=recordings/xl330")
    paths = sorted(source.path for source in find_sources([directory]))
    recordings = load_recordings(paths[::every])
    split = split_recordings(recordings, None, seed=0)
    if not split.test:
        raise BadData(
            directory,
            f"has {len(recordings)} recordings",
            expected=f"{ENOUGH} or more, a quarter of which are the test",
            advice="give more, or a smaller --every",
        )
    return load_servo(name), split


def table(entries: Sequence[Entry]) -> str:
    """Return training and test errors of each model by both methods, the seeds side by side, mrad."""
    rows = []
    keys = dict.fromkeys((entry.servo, entry.model, entry.method) for entry in entries)
    for servo, model, method in sorted(keys, key=lambda key: (key[0], key[1], list(METHODS).index(key[2]))):
        own = [
            entry for entry in entries if (entry.servo, entry.model, entry.method) == (servo, model, method)
        ]
        rows.append(
            (
                servo,
                model,
                method,
                " / ".join(f"{1e3 * entry.train:.2f}" for entry in own),
                " / ".join(f"{1e3 * entry.test:.2f}" for entry in own),
                f"{own[0].budget}",
                " / ".join(f"{entry.trials}" for entry in own),
                f"{fmean(entry.seconds for entry in own):.0f}",
            )
        )
    header = (
        "servo",
        "model",
        "search",
        "training [mrad]",
        "test [mrad]",
        "allowed",
        "trials",
        "processor [s]",
    )
    return format_table(header, rows)


if __name__ == "__main__":
    sys.exit(main())
