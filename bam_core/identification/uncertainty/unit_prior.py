# SPDX-License-Identifier: Apache-2.0
"""The distribution of a unit that nobody has measured, by its servo type: the prior of its identification.

The file of a type (`bam fleet`) has the parameters of the typical unit and a joint covariance of units around
them. Few runs of a new unit then move what they determine. Parameters that trade with these follow, by their
correlation over units, and the others stay typical.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Missing, Unsupported
from bam_core.identification.search.sensitivity import normalised
from bam_core.identification.search.space import Axis, SearchSpace
from bam_core.identification.search.space_prior import SpacePrior
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.prediction_file import load_prediction, prediction_path
from bam_core.identification.variation.factors import GROUPS
from bam_core.identification.variation.spread import Spread
from bam_core.servo.model import ServoModel, load_servo, servo_path
from bam_core.servo.parameters import BENCH_EFFECTS
from bam_core.simulation.rollout import PARAMETERS, parameter_vector

_LEAST_DEVIATION = 1e-4  # share of a search range: no population is known more closely


@dataclass(frozen=True, kw_only=True)
class UnitPrior:
    """The distribution of the units of a servo type.

    Attributes:
        servo: the typical unit.
        prediction: how units scatter around it; its `units` are as many as it was found from.
    """

    servo: ServoModel
    prediction: Prediction

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """Search ranges, SI, of what it knows; the bench of another unit is none of it."""
        own = self.prediction.ranges
        return {name: ends for name, ends in own.items() if name not in BENCH_EFFECTS}

    @property
    def spread(self) -> Spread | None:
        """How runs of one unit vary; None: it is not known."""
        variation = self.prediction.variation
        return None if variation is None else variation.spread

    def over(self, space: SearchSpace) -> SearchSpace:
        """Return a search space with this prior; its parameters have the `ranges`.

        Args:
            space: free parameters, of which the prior may know only some.
        """
        mean = normalised(space, self.start(space))
        names = [axis.name for axis in space.axes]
        own = list(self.prediction.ranges)
        known = [i for i, name in enumerate(names) if name in self.ranges]
        rows = [own.index(names[i]) for i in known]
        covariance = (self.prediction.factor @ self.prediction.factor.T)[np.ix_(rows, rows)]
        precision = np.zeros((space.dimension, space.dimension))
        precision[np.ix_(known, known)] = np.linalg.inv(covariance + _LEAST_DEVIATION**2 * np.eye(len(known)))
        prior = SpacePrior(
            mean=mean,
            precision=precision,
            run_factor=self._run_factor(space, mean),
        )
        return replace(space, prior=prior)

    def start(self, space: SearchSpace) -> Array:
        """Return the typical unit as a parameter vector (PARAMETERS,) of a space, SI."""
        vector = np.array(space.base)
        typical = parameter_vector(self.servo)
        for axis in space.axes:
            for target in axis.targets:
                at = PARAMETERS.index(target)
                vector[at] = typical[at]
        return space.vectors(space.point(vector)[None])[0]

    def _run_factor(self, space: SearchSpace, mean: Array) -> Array:
        """Return how parameters deviate in one run, (dimension, GROUPS) in shares."""
        if self.spread is None:
            return np.zeros((space.dimension, len(GROUPS)))
        variances = sum(np.median(draws, axis=0) ** 2 for draws in self.spread.draws.values())
        slopes = np.array(
            [_slopes(axis, share) for axis, share in zip(space.axes, mean.tolist(), strict=True)]
        )
        return np.asarray(slopes * np.sqrt(variances))


def load_unit_prior(servo: str | os.PathLike[str]) -> UnitPrior:
    """Read the prior of a type's units.

    Args:
        servo: file that `bam fleet` wrote, or that of an identified unit, whose further runs are to follow.

    Raises:
        BamError: a file cannot be read or has no covariance, or the servo has a gear.
    """
    path = servo_path(servo)
    model, prediction = load_servo(path), load_prediction(path)
    if model.gear is not None:
        raise Unsupported(
            f"prior '{model.name}'", "has a gear, whose uncertainty is not known", advice="name another file"
        )
    if prediction is None or not prediction.ranges:
        raise Missing(
            str(prediction_path(path)),
            "the covariance of the prior",
            advice="take a file that 'bam fleet' wrote",
        )
    return UnitPrior(servo=model, prediction=prediction)


def _slopes(axis: Axis, share: float) -> list[float]:
    """Return how the share of a parameter changes with each of the log factors of `GROUPS`."""
    slope = 1.0 / float(np.log(axis.high / axis.low)) if axis.low > 0.0 else share
    return [slope if set(axis.targets) & set(names) else 0.0 for names in GROUPS.values()]
