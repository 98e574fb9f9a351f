# SPDX-License-Identifier: Apache-2.0
"""Errors on recordings that took no part: each gain, load or script held out in turn, with several seeds.

For each value that is held out and each seed, all models are identified from the other recordings as
`bam identify` does it, with selection inside them; then the recordings held out are simulated. No fit and no
choice has seen the figures of the table but those of training and selection.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bam_core.cli.cluster import add_cluster, executor_for
from bam_core.cli.set_fields import add_set
from bam_core.errors import BamError, Malformed, OutOfRange
from bam_core.files.atomic_file import require_file, write_text
from bam_core.identification.data.split import Split, leave_one_out, split_recordings
from bam_core.identification.execution import Execution
from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.text.table import format_table
from bam_core.validation.settings import ValidateSettings
from bam_core.validation.validation import LEAST_DRAWS, validate

SEEDS = 3
DRAWS = 200


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One model, identified without the recordings that it is tested on; errors in rad.

    Attributes:
        rule: what was held out.
        seed: of the search.
        model: of friction.
        chosen: by selection.
        train: mean absolute position error in training.
        selection: likewise; None where nothing could be left out.
        test: likewise, of what was held out.
        short: of the same, restarted every 0.25 s.
        band_coverage: share of the samples held out that 90 % bands hold.
        band_width: mean.
    """

    rule: str
    seed: int
    model: str
    chosen: bool
    train: float
    selection: float | None
    test: float
    short: float
    band_coverage: float
    band_width: float


def main(argv: Sequence[str] | None = None) -> int:
    """Identify, print a table and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m studies.held_out", description=__doc__.split("\n")[0])
    parser.add_argument(
        "logs", nargs="+", metavar="LOGS", help="recordings of one servo, or directories of such"
    )
    parser.add_argument("--servo", required=True, metavar="NAME|FILE")
    parser.add_argument(
        "--by",
        default="kp",
        metavar="KEY",
        help="kp, mass, length, script, ... as of bam identify --test; or fraction, with --only 0.5",
    )
    parser.add_argument("--only", nargs="+", default=(), metavar="VALUE", help="hold out these values alone")
    parser.add_argument(
        "--most",
        type=int,
        metavar="N",
        help="train on N of the others at most, drawn by the seed (default: all)",
    )
    parser.add_argument("--models", nargs="+", default=list(FRICTION_MODELS), metavar="M1")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"from 0 on (default: {SEEDS})")
    parser.add_argument("--draws", type=int, default=DRAWS, metavar="N", help=f"for bands (default: {DRAWS})")
    parser.add_argument("--json", default="held_out_results.json", metavar="FILE")
    parser.add_argument(
        "--resume", action="store_true", help="keep what --json has of the same call, and do the rest"
    )
    add_set(parser)
    add_cluster(parser)
    arguments = parser.parse_args(argv)
    try:
        return _study(arguments)
    except BamError as error:
        print(f"held_out: {error}", file=sys.stderr)
        return 2


def _study(arguments: argparse.Namespace) -> int:
    if arguments.seeds < 1:
        raise OutOfRange("--seeds", arguments.seeds, "at least 1")
    if arguments.draws < LEAST_DRAWS:
        raise OutOfRange("--draws", arguments.draws, f"at least {LEAST_DRAWS}")
    if arguments.most is not None and arguments.most < 2:
        raise OutOfRange("--most", arguments.most, "at least 2")
    require_file(arguments.json)
    recordings = load_recordings(arguments.logs, set_fields=arguments.set)
    rules = [f"{arguments.by}={value}" for value in arguments.only]
    rules = rules or [split.rule for split in leave_one_out(recordings, arguments.by)]
    entries = _entries(Path(arguments.json)) if arguments.resume else []
    done = {(entry.rule, entry.seed) for entry in entries}
    with executor_for(arguments.cluster) as executor:
        for rule in rules:
            for seed in range(arguments.seeds):
                if (rule, seed) in done:
                    continue
                split = split_recordings(recordings, rule, seed=seed)
                result = identify(
                    _drawn(split, arguments.most, seed),
                    arguments.servo,
                    IdentifySettings(models=arguments.models, seed=seed, test=split.test, uncertainty="all"),
                    execution=Execution(executor=executor),
                )
                for model, fit in result.fits.items():
                    assert fit.uncertainty is not None
                    seen = validate(
                        fit.servo,
                        result.split.test,
                        fit.bench_effects,
                        ValidateSettings(prediction=fit.uncertainty.prediction, draws=arguments.draws),
                    )
                    assert seen.band is not None
                    entries.append(
                        Entry(
                            rule=rule,
                            seed=seed,
                            model=model,
                            chosen=model == result.chosen,
                            train=fit.train_mae,
                            selection=fit.selection_mae,
                            test=seen.mae,
                            short=seen.mae_short,
                            band_coverage=seen.band.coverage,
                            band_width=seen.band.width,
                        )
                    )
                # After each, so that a study that is ended keeps what it has.
                write_text(arguments.json, json.dumps([asdict(entry) for entry in entries], indent=1) + "\n")
                print(f"{rule}, seed {seed}: {result.chosen} chosen", file=sys.stderr, flush=True)
    print(_table(entries))
    print(f"wrote {Path(arguments.json)}")
    return 0


def _drawn(split: Split, most: int | None, seed: int) -> Sequence[Recording]:
    """Return the training logs, or so many of them."""
    if most is None or len(split.train) <= most:
        return split.train
    return random.Random(f"{split.rule}, {seed}").sample(split.train, most)


def _entries(path: Path) -> list[Entry]:
    if not path.exists():
        return []
    try:
        return [Entry(**fields) for fields in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError):
        raise Malformed(str(path), "is not the result of such a study", advice="leave out --resume") from None


def _table(entries: Sequence[Entry]) -> str:
    """Means over seeds, mrad; test errors of every seed."""
    rows = []
    for rule, model in dict.fromkeys((entry.rule, entry.model) for entry in entries):
        own = [entry for entry in entries if (entry.rule, entry.model) == (rule, model)]
        selection = [entry.selection for entry in own if entry.selection is not None]
        rows.append(
            (
                rule,
                model,
                _mrad(entry.train for entry in own),
                _mrad(selection) if selection else "-",
                ", ".join(_mrad([entry.test]) for entry in own),
                _mrad(entry.short for entry in own),
                f"{100.0 * fmean(entry.band_coverage for entry in own):.0f}",
                _mrad(entry.band_width for entry in own),
                str(sum(entry.chosen for entry in own)),
            )
        )
    header = ("held out", "model", "train", "selection", "test, every seed", "every 0.25 s")
    return format_table((*header, "in 90 % band [%]", "its width", "chosen"), rows)


def _mrad(values: Any) -> str:
    return f"{1e3 * fmean(values):.1f}"


if __name__ == "__main__":
    # Under this name: workers elsewhere could not load what is pickled as a part of `__main__`.
    from studies import held_out

    sys.exit(held_out.main())
