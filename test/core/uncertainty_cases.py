# SPDX-License-Identifier: Apache-2.0
"""Linear problems whose answers are known, and fits of synthetic logs, for the tests of uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.search.sensitivity import Sensitivity, normalised, vector_at
from bam_core.identification.search.space import Axis, SearchSpace, search_space
from bam_core.identification.uncertainty.estimates import Uncertainty
from bam_core.identification.uncertainty.terms import uncertainty_terms
from bam_core.identification.uncertainty.uncertainty import describe
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector

_SAMPLES = 50


def linear_space(dimension: int) -> SearchSpace:
    """Parameters between -1 and 1 on linear scales."""
    axes = tuple(Axis(name=name, low=-1.0, high=1.0, targets=(name,)) for name in PARAMETERS[:dimension])
    return SearchSpace(axes=axes, base=np.zeros(len(PARAMETERS)))


def toy(logs: int, dimension: int, seed: int, *, kind: int = 0) -> Sensitivity:
    """A linear problem at its truth; what a log is off by, it is off by throughout.

    `kind` chooses the Jacobian, `seed` the errors.
    """
    jacobian = np.random.default_rng(kind).normal(0.0, 1.0, (logs, dimension)).repeat(_SAMPLES, axis=0)
    jacobian += np.random.default_rng(kind + 1).normal(0.0, 0.3, jacobian.shape)
    random = np.random.default_rng(seed)
    errors = random.normal(0.0, 5e-3, logs).repeat(_SAMPLES) + random.normal(0.0, 1e-3, len(jacobian))
    space = linear_space(dimension)
    return Sensitivity(
        space=space,
        vector=vector_at(space, np.full(dimension, 0.5)),
        jacobian=jacobian,
        residuals=errors,
        counts=np.full(logs, _SAMPLES),
    )


def space_for(servo: ServoModel, logs: Sequence[Recording]) -> SearchSpace:
    """The space that an identification of this servo's own friction model searches."""
    return search_space(
        FRICTION_MODELS[servo.friction_model], logs, servo.search.ranges, servo.search.effects
    )


def fitted(
    servo: ServoModel, logs: Sequence[Recording], away: float = 0.01, seed: int = 0
) -> tuple[Sensitivity, Uncertainty]:
    """Fit the servo's logs from some way off its parameters, and say how sure that is."""
    space = space_for(servo, logs)
    start = normalised(space, parameter_vector(servo))
    start = start * (1.0 + np.random.default_rng(seed).normal(0.0, away, len(start)))
    fit = nearest_optimum(Rollout.for_servo(logs, servo), space, vector_at(space, start))
    return fit, describe(uncertainty_terms(servo, fit.vector, logs, fit), fit.normalised)
