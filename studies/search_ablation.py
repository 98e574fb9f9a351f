# SPDX-License-Identifier: Apache-2.0
"""What each field of the search's schedule is worth: sessions searched again with one changed at a time.

Sessions are recorded in simulation, as `coverage` does it: with the servo's own parameters, other loads and
noise for each seed. Every second run is searched (see --every), those in between are the test. Models are
fitted one after the other, each helping the next, as `bam identify` does it; figures are those of the last.
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

import numpy as np

from bam_core.errors import BamError, OutOfRange
from bam_core.files.atomic_file import require_file, write_text
from bam_core.identification.fitting import Fitter
from bam_core.identification.search.methods import MIN_EVALUATIONS
from bam_core.recordings.recording import Recording
from bam_core.servo.bench_effects_file import load_bench_effects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.simulation.rollout import Rollout
from bam_core.text.table import format_table
from studies.coverage import case_for, record_session
from studies.search_variants import AS_IT_IS, VARIANTS, Variant

SERVOS = ("mx106", "xl330")
SEEDS = 2
EVERY = 2
MODELS = ("m1", "m3", "m4")
SAME_OPTIMUM = 0.01
"""Relative difference to the lowest training error that any variant reached: for use, the same optimum."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One session, searched in one way.

    Attributes:
        variant: its title.
        servo: that was recorded.
        seed: of session and search.
        train: mean absolute position error of the last model in training, rad.
        test: likewise, on the other runs.
        trials: simulations of all training runs, of all models.
        seconds: of the processor.
    """

    variant: str
    servo: str
    seed: int
    train: float
    test: float
    trials: int
    seconds: float


def searched(
    servo: ServoModel,
    session: Sequence[Recording],
    variant: Variant,
    *,
    seed: int,
    models: Sequence[str] = MODELS,
    every: int = EVERY,
    trials: int | None = None,
) -> Entry:
    """Search some runs of a session in one way.

    Args:
        servo: whose firmware, search ranges and effects count.
        session: `every` runs at least.
        variant: the way.
        seed: of the search.
        models: of friction, each after those that it contains.
        every: which runs are searched, 2 or more: as many in the middle between them are the test.
        trials: for each model; default as many as the variant has.
    """
    begin = time.process_time()
    fitter = Fitter(servo, session[::every], seed=seed, method=variant.method, schedule=variant.schedule)
    fits = [fitter.plan(FRICTION_MODELS[name], trials=trials).make() for name in models]
    seconds = time.process_time() - begin
    vector = fits[-1].vector[None]
    return Entry(
        variant=variant.title,
        servo=servo.name,
        seed=seed,
        train=float(fitter.rollout.errors(vector).mean()),
        test=float(Rollout.for_servo(session[every // 2 :: every], servo).errors(vector).mean()),
        trials=sum(fit.result.evaluations for fit in fits),
        seconds=seconds,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Search, print a table and write JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.search_ablation", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--servos", nargs="+", default=list(SERVOS), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"from 0 on (default: {SEEDS})")
    parser.add_argument(
        "--models", nargs="+", choices=list(FRICTION_MODELS), default=list(MODELS), metavar="M1"
    )
    parser.add_argument(
        "--every", type=int, default=EVERY, metavar="N", help=f"of 24 runs are searched (default: {EVERY})"
    )
    parser.add_argument("--only", metavar="WORD", help="those changes alone whose name has this word")
    parser.add_argument("--trials", type=int, metavar="N", help="for each model (default: as many as usual)")
    parser.add_argument("--json", default="search_ablation_results.json", metavar="FILE")
    arguments = parser.parse_args(argv)
    try:
        return _study(arguments)
    except BamError as error:
        print(f"search_ablation: {error}", file=sys.stderr)
        return 2


def _study(arguments: argparse.Namespace) -> int:
    if arguments.seeds < 1:
        raise OutOfRange("--seeds", arguments.seeds, "at least 1")
    if arguments.trials is not None and arguments.trials < MIN_EVALUATIONS:
        raise OutOfRange("--trials", arguments.trials, f"at least {MIN_EVALUATIONS}")
    if not 2 <= arguments.every <= 12:
        raise OutOfRange("--every", arguments.every, "from 2 to 12")
    require_file(arguments.json)
    variants = [
        variant for variant in VARIANTS if variant is AS_IT_IS or (arguments.only or "") in variant.name
    ]
    cases = [case_for(load_servo(name), load_bench_effects(name)) for name in arguments.servos]
    entries: list[Entry] = []
    for seed in range(arguments.seeds):
        for case in cases:
            session = record_session(case, np.random.default_rng(seed))
            for variant in variants:
                entry = searched(
                    case.servo,
                    session,
                    variant,
                    seed=seed,
                    models=arguments.models,
                    every=arguments.every,
                    trials=arguments.trials,
                )
                entries.append(entry)
                # After each, so that a study that is ended keeps what it has.
                write_text(arguments.json, json.dumps([asdict(entry) for entry in entries], indent=1) + "\n")
                print(
                    f"{entry.servo}, seed {seed}, {entry.variant}: {1e3 * entry.train:.2f} mrad",
                    file=sys.stderr,
                    flush=True,
                )
    print(table(entries, variants))
    print(f"wrote {Path(arguments.json)}")
    return 0


def table(entries: Sequence[Entry], variants: Sequence[Variant] = VARIANTS) -> str:
    """Return what every variant did in all sessions, beside the search as it is.

    Args:
        entries: every variant in the same sessions, the search as it is among them.
        variants: rows.
    """
    lowest: dict[tuple[str, int], float] = {}
    for entry in entries:
        session = entry.servo, entry.seed
        lowest[session] = min(entry.train, lowest.get(session, entry.train))
    usual = {(entry.servo, entry.seed): entry for entry in entries if entry.variant == AS_IT_IS.title}
    rows = []
    for variant in variants:
        own = [entry for entry in entries if entry.variant == variant.title]
        beside = [usual[entry.servo, entry.seed] for entry in own]
        above = [entry.train / lowest[entry.servo, entry.seed] - 1.0 for entry in own]
        rows.append(
            (
                variant.name,
                variant.usual,
                variant.here,
                f"{100.0 * fmean(above):.1f}",
                f"{100.0 * max(above):.1f}",
                f"{sum(excess <= SAME_OPTIMUM for excess in above)} of {len(own)}",
                f"{fmean(one.test / other.test for one, other in zip(own, beside, strict=True)):.2f}",
                f"{fmean(one.trials / other.trials for one, other in zip(own, beside, strict=True)):.2f}",
                f"{fmean(one.seconds / other.seconds for one, other in zip(own, beside, strict=True)):.2f}",
            )
        )
    header = ("changed", "usual", "here", "above the lowest [%]", "worst", "found", "test", "trials", "time")
    return format_table(header, rows)


if __name__ == "__main__":
    sys.exit(main())
