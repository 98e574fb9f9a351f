# SPDX-License-Identifier: Apache-2.0
"""How runs of a servo vary, found from recordings, and what a run that nobody has seen may be like."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Missing, OutOfRange, WrongShape
from bam_core.identification.variation.factors import GROUPS
from bam_core.identification.variation.run_factors import Runs
from bam_core.identification.variation.spread import PRIOR_MEDIAN, Spread, estimate_spread
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoModel

_MOST_RUNS = 48  # they tell a spread to a tenth; more cost time
_ROUNDS = 2  # of factors under the spread of the round before
_FIRST = 2.0  # times the prior's median: of the first round, so that it does not hold runs back
_SEED = 0


@dataclass(frozen=True, kw_only=True)
class Variation:
    """How runs of a servo vary.

    Attributes:
        spread: of the log factors at each level.
        residual: standard deviation of what no factor explains, rad.

    Raises:
        BamError: a wrong shape, or a number that is not finite or below zero.
    """

    spread: Spread
    residual: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.residual) and self.residual >= 0.0):
            raise OutOfRange("residual", self.residual, "a finite number >= 0")
        if "run" not in self.spread.draws:
            raise Missing("spread run", "standard deviations of the log factors of runs")
        rows = len(self.spread.draws["run"])
        for level, deviations in self.spread.draws.items():
            if not rows or deviations.shape != (rows, len(GROUPS)):
                raise WrongShape(f"spread {level}", deviations.shape, f"({max(rows, 1)}, {len(GROUPS)})")
            if not (np.all(np.isfinite(deviations)) and np.all(deviations >= 0.0)):
                raise OutOfRange(f"spread {level}", float(deviations.min()), "finite numbers >= 0")

    def draw(self, count: int, *, seed: int = 0) -> Array:
        """Return log factors (count, GROUPS) of runs, each in a session and on a unit of its own.

        Spreads are drawn, too: few runs leave open how far they scatter.
        """
        random = np.random.default_rng((seed, 1))
        rows = random.integers(len(self.spread.draws["run"]), size=count)
        return np.asarray(
            sum(
                deviations[rows] * random.standard_normal((count, len(GROUPS)))
                for deviations in self.spread.draws.values()
            )
        )


def estimate_variation(
    servo: ServoModel,
    recordings: Sequence[Recording],
    bench_effects: BenchEffects = IDEAL_BENCH,
    labels: Mapping[str, Sequence[Hashable]] | None = None,
    *,
    known: Spread | None = None,
) -> Variation:
    """Return how runs vary around a fit.

    Args:
        servo: the fit, without a gear.
        recordings: that it was fitted to, one at least; of many, 48 at random are used.
        bench_effects: found with it.
        labels: as of `estimate_spread`, one per recording.
        known: spread of other units of the type; None: these recordings determine it.
    """
    kept = list(range(len(recordings)))
    if len(kept) > _MOST_RUNS:
        chosen = np.random.default_rng(_SEED).choice(len(kept), _MOST_RUNS, replace=False)
        kept = sorted(chosen.tolist())
    own = {level: [of_log[i] for i in kept] for level, of_log in (labels or {}).items()}
    runs = Runs(servo, [recordings[i] for i in kept], bench_effects)
    prior = _FIRST * np.array([PRIOR_MEDIAN[group] for group in GROUPS])
    for _ in range(_ROUNDS):
        factors = runs.factors(prior)
        spread = known or estimate_spread(factors.pull, factors.information, own)
        prior = np.sqrt(sum(np.median(level, axis=0) ** 2 for level in spread.draws.values()))
    return Variation(spread=spread, residual=float(np.sqrt(np.mean(factors.deviation**2))))
