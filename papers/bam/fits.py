# SPDX-License-Identifier: Apache-2.0
"""M1 to M6 identified as in BAM section V-B by the default search: training and test logs, three repeats."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.fitting import Fitter
from bam_core.identification.found_servo import found_servo
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout

REPEATS = 3
"""Section V-B."""

TRIALS = 4000
"""Simulations of all training logs per model and repeat; section V-B."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeat:
    """One model, identified once.

    Attributes:
        servo: with the parameters that were found.
        bench_effects: those that were fitted.
        train: mean absolute position error of the training logs, rad.
        tested: likewise of each log that took no part, (logs,).
        fresh: likewise of logs under other conditions, (logs,); empty where there are none.
        trials: simulations of all training logs.
        seconds: of processor time that it took, of all threads.
    """

    servo: ServoModel
    bench_effects: BenchEffects
    train: float
    tested: Array
    fresh: Array = field(default_factory=lambda: np.empty(0))
    trials: int
    seconds: float


Repeats = Mapping[str, Sequence[Repeat]]
"""Model -> its repeats."""


def identify_repeatedly(
    servo: ServoModel,
    train: Sequence[Recording],
    test: Sequence[Recording],
    *,
    fresh: Sequence[Recording] = (),
    models: Sequence[str] = tuple(FRICTION_MODELS),
    effects: Sequence[str] = (),
    repeats: int = REPEATS,
    trials: int = TRIALS,
    say: Callable[[str], None],
) -> Repeats:
    """Identify M1 to M6 on the same logs with several seeds.

    A model that contains an earlier one starts from that one's optimum as well, so its training error is
    never the higher one; what it is worth shows on the test logs alone.

    Args:
        servo: whose firmware and search bounds count, its parameters do not.
        train: logs.
        test: logs that take no part.
        fresh: logs under other conditions, that take no part either.
        models: that are identified.
        effects: of bench and servo that are fitted besides motor and friction.
        repeats: seeds, from 0 on.
        trials: at most, per model and repeat.
        say: told the repeat at hand.
    """
    servo = replace(
        servo,
        search=replace(servo.search, effects=tuple(effects)),
        friction=replace(servo.friction, quadratic_rule="paper"),
    )
    unseen, elsewhere = (Rollout(logs, firmware=servo.firmware) if logs else None for logs in (test, fresh))
    result: dict[str, list[Repeat]] = {model: [] for model in models}
    for seed in range(repeats):
        say(f"identifying {servo.name}, repeat {seed + 1} of {repeats}, from {len(train)} logs")
        fitter = Fitter(servo, train, seed=seed)
        for model in (FRICTION_MODELS[name] for name in models):
            begin = time.process_time()
            fit = fitter.plan(model, trials=trials).make()
            fitted, bench_effects = found_servo(servo, model, fit.vector)
            result[model.name].append(
                Repeat(
                    servo=replace(fitted, integrator="midpoint"),
                    bench_effects=bench_effects,
                    train=float(fitter.rollout.errors(fit.vector).mean()),
                    tested=_errors(unseen, fit.vector),
                    fresh=_errors(elsewhere, fit.vector),
                    trials=fit.result.evaluations,
                    seconds=time.process_time() - begin,
                )
            )
    return result


def _errors(rollout: Rollout | None, vector: Array) -> Array:
    """Return mean absolute errors of logs, (logs,) rad; of no logs where there is no rollout."""
    return np.asarray(rollout.errors(vector)).reshape(-1) if rollout is not None else np.empty(0)


def best_repeats(repeats: Repeats) -> dict[str, Repeat]:
    """Return by model the repeat with the lowest training error: test logs choose nothing."""
    return {model: min(of_model, key=lambda repeat: repeat.train) for model, of_model in repeats.items()}


def error_table(rows: Iterable[tuple[str, Mapping[str, float]]]) -> tuple[tuple[str, ...], ...]:
    """Return mean errors (rad) by model as text in mrad, a row for each name, after a header."""
    return (
        ("mean error [mrad]", *(model.upper() for model in FRICTION_MODELS)),
        *((name, *(f"{1e3 * mae[model]:.2f}" for model in FRICTION_MODELS)) for name, mae in rows),
    )


def training_rows(label: str, repeats: Repeats) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield a row of training errors for each repeat."""
    count = len(next(iter(repeats.values())))
    for number in range(count):
        name = f"{label}, training" + (f", repeat {number + 1}" if count > 1 else "")
        yield name, {model: repeat[number].train for model, repeat in repeats.items()}


def spread(values: Sequence[float]) -> float:
    """Return the range of values relative to their mean's magnitude; zero where all are zero."""
    middle = abs(fmean(values))
    return (max(values) - min(values)) / middle if middle > 0.0 else 0.0
