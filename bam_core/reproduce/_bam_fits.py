# SPDX-License-Identifier: Apache-2.0
"""M1 to M6 identified as in BAM section V-B: training and test logs, CMA-ES, three repeats."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
        trials: simulations of all training logs.
        seconds: of processor time that it took, of all threads.
    """

    servo: ServoModel
    bench_effects: BenchEffects
    train: float
    tested: Array
    trials: int
    seconds: float


Repeats = Mapping[str, Sequence[Repeat]]
"""Model -> its repeats."""


def identify_repeatedly(
    servo: ServoModel,
    train: Sequence[Recording],
    test: Sequence[Recording],
    *,
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
    unseen = Rollout(test, firmware=servo.firmware)
    found: dict[str, list[Repeat]] = {model: [] for model in FRICTION_MODELS}
    for seed in range(repeats):
        say(f"identifying {servo.name}, repeat {seed + 1} of {repeats}, from {len(train)} logs")
        fitter = Fitter(servo, train, seed=seed)
        for model in FRICTION_MODELS.values():
            begin = time.process_time()
            fit = fitter.plan(model, trials=trials).make()
            fitted, bench_effects = found_servo(servo, model, fit.vector)
            found[model.name].append(
                Repeat(
                    servo=replace(fitted, integrator="midpoint"),
                    bench_effects=bench_effects,
                    train=float(fitter.rollout.errors(fit.vector).mean()),
                    tested=np.asarray(unseen.errors(fit.vector)),
                    trials=fit.result.evaluations,
                    seconds=time.process_time() - begin,
                )
            )
    return found


def best_repeats(repeats: Repeats) -> dict[str, Repeat]:
    """Return by model the repeat with the lowest training error: test logs choose nothing."""
    return {model: min(each, key=lambda repeat: repeat.train) for model, each in repeats.items()}


def spread(values: Sequence[float]) -> float:
    """Return the range of values relative to their mean's magnitude; zero where all are zero."""
    middle = abs(fmean(values))
    return (max(values) - min(values)) / middle if middle > 0.0 else 0.0
