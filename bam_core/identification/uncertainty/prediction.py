# SPDX-License-Identifier: Apache-2.0
"""The predictive distribution of a fitted servo: what its parameters may be, and what no parameter explains.

Parameters are drawn from the covariance of their estimates, widened by an inflation factor as in ensemble
forecasts: much of what a model lacks acts as if its parameters changed from run to run. The rest is a
residual of one standard deviation. `calibration` finds both from training logs alone.

Where `variation` is known, friction and strength are drawn anew for each run, with a smaller residual: an arm
that sticks in one draw and slips in another makes a wide band there, and a narrow one elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, WrongShape
from bam_core.identification.search.sensitivity import normalised, vectors_at
from bam_core.identification.search.space import SearchSpace, axes_of
from bam_core.identification.variation.factors import varied
from bam_core.identification.variation.variation import Variation
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import parameter_vector


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """How far runs that took no part may be from those of the fitted parameters.

    Attributes:
        ranges: (low, high) of every free parameter by name, SI: its search range.
        factor: (n, n) in the order of `ranges`: factor @ factor.T is the covariance of the estimates, in
            squared shares of their search range.
        inflation: by how much draws scatter more than the estimates, 0 or more.
        residual: standard deviation of what no parameter explains, rad.
        residual_alone: the same where parameters are not drawn, rad.
        variation: how runs vary; None: it is not known, and friction is the same in every run.
        units: units whose differences the covariance holds; None: it is that of the estimates of one unit.

    Raises:
        BamError: a wrong shape, or a number that is not finite or below zero.
    """

    ranges: Mapping[str, tuple[float, float]]
    factor: Array
    inflation: float
    residual: float
    residual_alone: float
    variation: Variation | None = None
    units: int | None = None

    def __post_init__(self) -> None:
        n = len(self.ranges)
        if self.factor.shape != (n, n):
            raise WrongShape("factor", self.factor.shape, f"({n}, {n}), a row for each parameter")
        if not np.all(np.isfinite(self.factor)):
            raise OutOfRange("factor", self.factor[~np.isfinite(self.factor)][0], "finite numbers")
        for name in ("inflation", "residual", "residual_alone"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise OutOfRange(name, value, "a finite number >= 0")

    def draw(
        self, servo: ServoModel, bench_effects: BenchEffects = IDEAL_BENCH, *, count: int, seed: int = 0
    ) -> Array:
        """Return parameter vectors (count, PARAMETERS), SI, drawn around a servo on its bench.

        Args:
            servo: the fit; what `ranges` does not name stays as it is.
            bench_effects: likewise.
            count: one or more.
            seed: the same seed gives the same draws.
        """
        base = parameter_vector(servo, bench_effects)
        space = SearchSpace(axes=axes_of(FRICTION_MODELS[servo.friction_model], self.ranges), base=base)
        random = np.random.default_rng(seed).standard_normal((count, len(self.ranges)))
        # Shares beyond the search range, such as friction below zero, count as its end.
        return vectors_at(space, normalised(space, base) + self.inflation * random @ self.factor.T)

    def draw_runs(
        self, servo: ServoModel, bench_effects: BenchEffects = IDEAL_BENCH, *, count: int, seed: int = 0
    ) -> Array:
        """Return parameter vectors (count, PARAMETERS), SI, each of a run of its own.

        Like `draw`, with the factors of `variation`. An inflation above 1 stands for variation, so that it is
        not above 1 here.
        """
        if self.variation is None:
            return self.draw(servo, bench_effects, count=count, seed=seed)
        estimates = replace(self, inflation=min(self.inflation, 1.0))
        vectors = estimates.draw(servo, bench_effects, count=count, seed=seed)
        return varied(vectors, self.variation.draw(count, seed=seed))

    @property
    def residual_of_runs(self) -> float:
        """Standard deviation of what draws of `draw_runs` do not explain, rad."""
        return self.residual if self.variation is None else self.variation.residual

    def with_fixed_friction(self) -> Prediction:
        """Return the predictive distribution with the same friction and strength in every run."""
        return replace(self, variation=None)

    def without_parameters(self, scale: float) -> Prediction:
        """Return the predictive distribution of another model of the same recordings, by its residual alone.

        What errors under new conditions have above those of training is taken to be the same share for both.

        Args:
            scale: training error of the other model by that of this one.
        """
        return Prediction(
            ranges={},
            factor=np.zeros((0, 0)),
            inflation=0.0,
            residual=scale * self.residual_alone,
            residual_alone=scale * self.residual_alone,
        )
