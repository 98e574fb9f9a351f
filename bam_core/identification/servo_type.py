# SPDX-License-Identifier: Apache-2.0
"""The servo file of a type: the typical one of several units, and how units scatter around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Conflict
from bam_core.identification.found_servo import found_servo
from bam_core.identification.search.sensitivity import normalised, slope_at, vector_at
from bam_core.identification.search.space import Axis, SearchSpace, axes_of
from bam_core.identification.software import package_versions, software
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.prediction_file import drawable
from bam_core.identification.uncertainty.unit_prior import UnitPrior
from bam_core.identification.variation.few_units import (
    DIRECTION_SPREAD,
    FRICTION_SPREAD,
    MOTOR_SPREAD,
    population_of_few,
)
from bam_core.identification.variation.joint_population import JointPopulation, estimate_joint_population
from bam_core.identification.variation.population import FEWEST_FOR_SPREAD
from bam_core.identification.variation.spread import Spread
from bam_core.identification.variation.variation import Variation
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.parameters import BENCH_EFFECTS, MOTOR_PARAMETERS
from bam_core.servo.provenance import Provenance
from bam_core.simulation.rollout import PARAMETERS, parameter_vector

_LEAST_SPREAD = 1e-6
"""Share of a search range, of a parameter that is zero in all units."""

_OF_A_RUN = ("run", "session")
"""Levels of variation within a unit; how units differ is in the covariance."""


def servo_type(files: Mapping[str, Path]) -> UnitPrior:
    """Return the typical unit and how others scatter, of parameters that all units have.

    Args:
        files: unit -> servo file that `bam identify` wrote, one at least, of one servo and friction model.
            Below three the spread has a prior (`few_units`).

    Raises:
        BamError: a file cannot be read or has no covariance, there is no unit, or a parameter has
            another scale in one of them.
    """
    servos = {unit: load_servo(path) for unit, path in files.items()}
    predictions = {unit: drawable(path) for unit, path in files.items()}
    first = next(iter(servos.values()))
    ranges = _common_ranges(predictions)
    space = SearchSpace(
        axes=axes_of(FRICTION_MODELS[first.friction_model], ranges), base=parameter_vector(first)
    )
    estimates = [normalised(space, parameter_vector(servo)) for servo in servos.values()]
    covariances = [_covariance(prediction, space) for prediction in predictions.values()]
    population = _population(space, np.array(estimates), np.array(covariances))
    typical = normalised(space, vector_at(space, population.mean))
    vector = vector_at(space, typical)
    typical_servo, _ = found_servo(first, FRICTION_MODELS[first.friction_model], vector)
    deviations = np.sqrt(np.diag(population.unseen))
    errors = {
        axis.name: float(slope_at(axis, share) * deviation)
        for axis, share, deviation in zip(space.axes, typical.tolist(), deviations.tolist(), strict=True)
    }
    residuals = [prediction.residual for prediction in predictions.values()]
    alone = [prediction.residual_alone for prediction in predictions.values()]
    prediction = Prediction(
        ranges=ranges,
        factor=np.asarray(
            np.linalg.cholesky(population.unseen + 1e-12 * np.eye(space.dimension)), np.float64
        ),
        inflation=1.0,
        residual=_root_mean_square(residuals),
        residual_alone=_root_mean_square(alone),
        variation=_variation(list(predictions.values())),
        units=len(files),
    )
    return UnitPrior(
        servo=replace(typical_servo, uncertainty=errors, provenance=_provenance(servos)),
        prediction=prediction,
    )


def _population(space: SearchSpace, estimates: Array, covariances: Array) -> JointPopulation:
    if len(estimates) >= FEWEST_FOR_SPREAD:
        return estimate_joint_population(estimates, covariances)
    return population_of_few(estimates, covariances, _prior_spread(space, estimates.mean(axis=0)))


def _prior_spread(space: SearchSpace, shares: Array) -> Array:
    """Return the standard deviation of each parameter between units of any servo, in shares of its range."""
    values = vector_at(space, shares)
    spreads = []
    for axis, share in zip(space.axes, shares.tolist(), strict=True):
        value = abs(float(values[PARAMETERS.index(axis.targets[0])]))
        spread = MOTOR_SPREAD if axis.name in MOTOR_PARAMETERS else FRICTION_SPREAD
        deviation = DIRECTION_SPREAD if axis.name == "friction_direction" else spread * value
        spreads.append(max(deviation / abs(slope_at(axis, share)), _LEAST_SPREAD))
    return np.array(spreads)


def _common_ranges(predictions: Mapping[str, Prediction]) -> dict[str, tuple[float, float]]:
    """Return the widest range of each parameter that all units have, without those of a bench."""
    own = [prediction.ranges for prediction in predictions.values()]
    names = [name for name in own[0] if name not in BENCH_EFFECTS and all(name in ranges for ranges in own)]
    common = {}
    for name in names:
        lows = [ranges[name][0] for ranges in own]
        if len({np.sign(low) for low in lows}) > 1:
            these = ", ".join(
                f"{unit} from {ranges.ranges[name][0]:g}" for unit, ranges in predictions.items()
            )
            raise Conflict(
                "units",
                f"have other search ranges of {name}: {these}",
                advice="identify them with the same ranges",
            )
        common[name] = min(lows), max(ranges[name][1] for ranges in own)
    return common


def _covariance(prediction: Prediction, space: SearchSpace) -> Array:
    """Return the covariance of a unit's estimates in squared shares of the common ranges."""
    names = list(prediction.ranges)
    rows = [names.index(axis.name) for axis in space.axes]
    factor = prediction.factor[rows]
    scales = np.array([_scale(prediction.ranges[axis.name], axis) for axis in space.axes])
    # An estimate that its recordings determine exactly would make the sum over units singular.
    return np.asarray(np.outer(scales, scales) * (factor @ factor.T) + 1e-12 * np.eye(len(rows)))


def _scale(own: tuple[float, float], axis: Axis) -> float:
    """Return how many shares of a common range a whole range of one unit is."""
    low, high = own
    if axis.low > axis.origin:
        origin = axis.origin
        return float(
            np.log((high - origin) / (low - origin)) / np.log((axis.high - origin) / (axis.low - origin))
        )
    return (high - low) / (axis.high - axis.low)


def _variation(predictions: Sequence[Prediction]) -> Variation | None:
    """Return how runs of one unit vary: draws of all units, at the levels that all of them have."""
    own = [prediction.variation for prediction in predictions if prediction.variation is not None]
    if not own:
        return None
    levels = [level for level in _OF_A_RUN if all(level in of.spread.draws for of in own)]
    rows = min(len(of.spread.draws["run"]) for of in own)
    draws = {level: np.concatenate([of.spread.draws[level][:rows] for of in own]) for level in levels}
    residual = _root_mean_square([of.residual for of in own])
    return Variation(spread=Spread(draws=draws), residual=residual)


def _provenance(servos: Mapping[str, ServoModel]) -> Provenance:
    return Provenance(
        source=f"typical of {len(servos)} units: {', '.join(servos)}",
        software=software(),
        packages=package_versions(),
        train_data={
            f"{unit}/{name}": digest
            for unit, servo in servos.items()
            for name, digest in servo.provenance.train_data.items()
        },
    )


def _root_mean_square(values: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
