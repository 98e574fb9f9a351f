# SPDX-License-Identifier: Apache-2.0
"""``bam gear``: the asymmetric friction of a servo's gear from recordings, beside its friction models."""

from __future__ import annotations

import argparse
import json
import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bam_core.cli.bench_effects import bench_effects_for
from bam_core.cli.logs import add_logs, add_params
from bam_core.errors import Conflict, OutOfRange, WrongType, WrongValue
from bam_core.files.atomic_file import require_file, write_text
from bam_core.text.finding import log_findings
from bam_core.text.split_findings import FittedToTest
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.gears.identification import GearFit
    from bam_core.identification.data.split import Split
    from bam_core.servo.effects import BenchEffects
    from bam_core.servo.model import ServoModel

EXAMPLE = "bam gear recordings/ --servo xl330 --params out/xl330/m1.yaml --output gear.yaml"

_FIT = "gear"  # what the fit is called beside other models
_SYMBOLS = {"input_side": "γ_u", "output_side": "γ_v"}
_WORDS = {
    "BD": "backdrivable",
    "nBD": "self-locking",
    "FD": "forward-drivable",
    "nFD": "not forward-drivable",
}

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_logs(parser)
    parser.add_argument(
        "--servo", required=True, metavar="NAME|FILE", help="servo that was recorded: firmware, search bounds"
    )
    add_params(parser, ", compared on the same logs; bench effects as in 'bam validate'")
    parser.add_argument(
        "--trials", type=int, metavar="N", help="simulations of all training logs, 200 or more (default 4000)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the search (default 0)")
    parser.add_argument("--test", metavar="RULE", help="fraction=0.25 (default) or KEY=VALUE such as kp=400")
    parser.add_argument("--json", metavar="FILE", help="write parameters and errors to this file, SI units")
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write the servo with its gear to this YAML file, to simulate it; the bench effects go into "
        "bench_effects/ beside it",
    )


def run(arguments: argparse.Namespace) -> int:
    """Fit the gear, print its parameters and its errors beside those of others."""
    from tqdm import tqdm

    from bam_core.gears.identification import DEFAULT_TRIALS, LEAST_TRIALS, fit_gear
    from bam_core.gears.posedness import ill_posed
    from bam_core.gears.result import fitted_servo
    from bam_core.identification.data.split import DEFAULT_RULE, split_recordings
    from bam_core.recordings import load_recordings
    from bam_core.recordings.discovery import unique_names
    from bam_core.servo.bench_effects_file import load_bench_effects, save_bench_effects
    from bam_core.servo.model import load_servo

    if arguments.seed < 0:
        raise OutOfRange("--seed", arguments.seed, "0 or more")
    trials = arguments.trials if arguments.trials is not None else DEFAULT_TRIALS
    if trials < LEAST_TRIALS:
        raise OutOfRange("--trials", trials, f"{LEAST_TRIALS} or more", advice="give more")
    for path in (arguments.json, arguments.output):
        if path:
            require_file(path)
    if (
        arguments.json
        and arguments.output
        and Path(arguments.json).resolve() == Path(arguments.output).resolve()
    ):
        raise Conflict(
            "--json and --output",
            f"both are {arguments.json}",
            expected="two files",
            advice="rename one",
        )
    if arguments.output and Path(arguments.output).suffix not in (".yaml", ".yml"):
        raise WrongType("--output", arguments.output, "FILE.yaml, a servo file", advice="rename it")
    servo, recorded = load_servo(arguments.servo), load_bench_effects(arguments.servo)
    paths = list(dict.fromkeys(arguments.params))
    names = unique_names([Path(path) for path in paths])
    others = {
        path if name == _FIT else name: (load_servo(path), bench_effects_for(None, path))
        for name, path in zip(names, paths, strict=True)
    }
    rule = arguments.test or DEFAULT_RULE
    split = split_recordings(load_recordings(arguments.logs), rule, seed=arguments.seed)
    if not split.test:
        raise WrongValue("--test", rule, "a rule that holds logs out, as kp=400")
    with tqdm(desc="gear", total=trials, unit="trial", disable=None, leave=False) as bar:

        def report(done: int, error: float) -> None:
            bar.update(done - bar.n)
            if math.isfinite(error):
                bar.set_postfix_str(f"best {1e3 * error:.2f} mrad", refresh=False)

        fit = fit_gear(
            split.train, servo, trials=trials, seed=arguments.seed, bench_effects=recorded, report=report
        )
    held_out = _mean(fit.validate(split.test, servo))
    errors = {_FIT: (fit.train_mae, held_out)}
    errors |= {name: _errors(compared, bench, split) for name, (compared, bench) in others.items()}
    print(_parameters(fit))
    print()
    print(_comparison(errors))
    print(f"{len(split.train)} recordings to train on, {len(split.test)} held out ({split.rule}).")
    for finding in _known_before(others, split):
        print(finding)
    fitted = fitted_servo(fit, servo, split, held_out)
    benches = [recording.bench for recording in split.logs]
    log_findings(log, ill_posed(fitted, benches, fit.bench_effects))
    if arguments.json:
        write_text(arguments.json, json.dumps(_summary(fit, errors), indent=2) + "\n")
    if arguments.output:
        fitted.save(arguments.output)
        save_bench_effects(arguments.output, fit.bench_effects, fit.standard_errors)
        print(f"\nwrote {arguments.output}, for 'bam simulate' and the node simulator")
    return 0


def _errors(servo: ServoModel, bench_effects: BenchEffects, split: Split) -> tuple[float, float]:
    """Return the training and held-out error of a servo model, rad."""
    from bam_core.validation.validation import validate

    per_log = validate(servo, split.logs, bench_effects).per_log
    train, held_out = ({log.name: per_log[log.name] for log in part} for part in (split.train, split.test))
    return _mean(train), _mean(held_out)


def _mean(values: dict[str, float]) -> float:
    return sum(values.values()) / len(values)


def _parameters(fit: GearFit) -> str:
    from bam_core.servo.parameters import PARAMETER_UNITS

    rows = [
        (
            f"{name} ({_SYMBOLS[name]})" if name in _SYMBOLS else name,
            f"{value:.4g}",
            f"± {error:.2g}" if math.isfinite(error := fit.standard_errors.get(name, math.inf)) else "",
            PARAMETER_UNITS[name],
        )
        for name, value in fit.parameters.items()
    ]
    gear = fit.asymmetry
    rows.append(("forward efficiency (η_f)", f"{gear.forward_efficiency:.4g}", "", "-"))
    rows.append(("backward efficiency (η_b)", f"{gear.backward_efficiency:.4g}", "", "-"))
    backward, forward = gear.drivability.split(" & ")
    lines = [
        format_table(("parameter", "value", "", "unit"), rows),
        f"This gear is {_WORDS[backward]} and {_WORDS[forward]} ({gear.drivability}).",
    ]
    if fit.unidentifiable:
        lines.append(
            f"not identifiable: {', '.join(fit.unidentifiable)}: the recordings do not "
            f"narrow their search ranges; record other loads and gains, or give more --trials"
        )
    return "\n".join(lines)


def _comparison(errors: dict[str, tuple[float, float]]) -> str:
    rows = [
        (name, f"{1e3 * train:.2f}", f"{1e3 * held_out:.2f}") for name, (train, held_out) in errors.items()
    ]
    return format_table(("model", "train [mrad]", "held out [mrad]"), rows)


def _known_before(others: Mapping[str, tuple[ServoModel, BenchEffects]], split: Split) -> list[FittedToTest]:
    """Return which of the others were fitted to recordings that are held out here."""
    held_out = {recording.sha256 for recording in split.test}
    seen = {
        name: len(held_out & set(compared.provenance.train_data.values()))
        for name, (compared, _) in others.items()
    }
    return [
        FittedToTest(model=name, seen=number, total=len(held_out)) for name, number in seen.items() if number
    ]


def _summary(fit: GearFit, errors: dict[str, tuple[float, float]]) -> dict[str, Any]:
    gear = fit.asymmetry
    finite = {name: error for name, error in fit.standard_errors.items() if math.isfinite(error)}
    return {
        "parameters": dict(fit.parameters),
        "standard_errors": finite,
        "not_identifiable": list(fit.unidentifiable),
        "efficiencies": {"forward": gear.forward_efficiency, "backward": gear.backward_efficiency},
        "drivability": gear.drivability,
        "models": {
            name: {"train_mae": train, "test_mae": held_out} for name, (train, held_out) in errors.items()
        },
        "trials": fit.trials,
    }
