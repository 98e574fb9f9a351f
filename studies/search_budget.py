# SPDX-License-Identifier: Apache-2.0
"""Whether the default budget of a search is enough: errors with it and with multiples of it, seed by seed.

Training and test recordings are split once, by seed 0, as `bam identify --seeds` does; the seeds are those of
the searches.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from bam_core.errors import BamError, OutOfRange
from bam_core.files.atomic_file import require_file, write_text
from bam_core.identification.data.split import Split
from bam_core.identification.fitting import Fitter
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.threads import one_blas_thread
from bam_core.text.table import format_table
from studies.search_methods import read_case

SEEDS = 3
BUDGETS = (1, 2, 4)
"""Times the default budget."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One search.

    Attributes:
        session: name of the recordings.
        seed: of the search.
        budget: times the default one.
        model: of friction.
        train: mean absolute position error in training, rad.
        test: the same on the test recordings, rad.
        trials: simulations of all training recordings that it made.
        spent: whether its trials were.
        converged: as `Outcome` has it.
        spread: likewise; None where it is infinite.
    """

    session: str
    seed: int
    budget: int
    model: str
    train: float
    test: float
    trials: int
    spent: bool
    converged: bool
    spread: float | None


def searched(
    session: str, servo: ServoModel, split: Split, *, seed: int, budget: int, models: Sequence[str]
) -> list[Entry]:
    """Search for the models of one servo in their order, each helping the next, as `bam identify` does.

    Args:
        session: name of the recordings.
        servo: whose firmware, search ranges and effects count.
        split: its recordings.
        seed: of the search.
        budget: times the default one.
        models: of friction, from the simplest on.
    """
    fitter = Fitter(servo, split.train, seed=seed)
    test = Rollout(split.test, servo.firmware, RolloutSettings(integrator=INTEGRATOR))
    entries = []
    for name in models:
        model = FRICTION_MODELS[name]
        default = fitter.plan(model).search.evaluations
        fit = fitter.plan(model, trials=budget * default).make()
        with one_blas_thread():
            errors = fitter.rollout.errors(fit.vector)[0], test.errors(fit.vector)[0]
        outcome = fit.result
        entries.append(
            Entry(
                session=session,
                seed=seed,
                budget=budget,
                model=name,
                train=fmean(errors[0].tolist()),
                test=fmean(errors[1].tolist()),
                trials=outcome.evaluations,
                spent=fit.spent,
                converged=outcome.converged,
                spread=outcome.spread if math.isfinite(outcome.spread) else None,
            )
        )
    return entries


def main(argv: Sequence[str] | None = None) -> int:
    """Search, print a table and write JSON."""
    parser = argparse.ArgumentParser(prog="search_budget", description=__doc__.split("\n")[0])
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
        "--models", nargs="+", choices=list(FRICTION_MODELS), default=["m1", "m4", "m6"], metavar="M1"
    )
    parser.add_argument(
        "--budgets", nargs="+", type=int, default=list(BUDGETS), metavar="N", help="times the default one"
    )
    parser.add_argument("--json", default="search_budget_results.json", metavar="FILE")
    arguments = parser.parse_args(argv)
    try:
        return _study(arguments)
    except BamError as error:
        print(f"search_budget: {error}", file=sys.stderr)
        return 2


def _study(arguments: argparse.Namespace) -> int:
    for name, value in (
        ("seeds", arguments.seeds),
        ("every", arguments.every),
        ("budgets", min(arguments.budgets)),
    ):
        if value < 1:
            raise OutOfRange(f"--{name}", value, "at least 1")
    require_file(arguments.json)
    entries: list[Entry] = []
    for word in arguments.recordings:
        servo, split = read_case(word, arguments.every)
        session = f"{servo.name} {Path(word).name}"
        for seed in range(arguments.seeds):
            for budget in arguments.budgets:
                entries += searched(session, servo, split, seed=seed, budget=budget, models=arguments.models)
                # After each, so that a study that is ended keeps what it has.
                write_text(arguments.json, json.dumps([asdict(entry) for entry in entries], indent=1) + "\n")
                print(f"{session}, seed {seed}, {budget}: done", file=sys.stderr, flush=True)
    print(table(entries))
    print(f"wrote {Path(arguments.json)}")
    return 0


def table(entries: Sequence[Entry]) -> str:
    """Return errors of each model with each budget, the seeds side by side, mrad."""
    rows = []
    for session, model, budget in dict.fromkeys(
        (entry.session, entry.model, entry.budget) for entry in entries
    ):
        own = [
            entry
            for entry in entries
            if (entry.session, entry.model, entry.budget) == (session, model, budget)
        ]
        rows.append(
            (
                session,
                model,
                str(budget),
                " / ".join(f"{1e3 * entry.train:.2f}" for entry in own),
                " / ".join(f"{1e3 * entry.test:.2f}" for entry in own),
                " / ".join(str(entry.trials) for entry in own),
                " / ".join("yes" if entry.converged else "no" for entry in own),
                " / ".join("-" if entry.spread is None else f"{100 * entry.spread:.1f}" for entry in own),
            )
        )
    rows.sort(key=lambda row: row[:2])
    header = (
        "session",
        "model",
        "budget",
        "training [mrad]",
        "test [mrad]",
        "trials",
        "converged",
        "spread [%]",
    )
    return format_table(header, rows)


if __name__ == "__main__":
    sys.exit(main())
