# SPDX-License-Identifier: Apache-2.0
"""The last steps of a fit, on the linear model that its uncertainty is computed from."""

from __future__ import annotations

import numpy as np

from bam_core.identification.evidence import Weighing, evidence
from bam_core.identification.sensitivity import Sensitivity, residuals_at, sensitivity, vector_at
from bam_core.identification.space import SearchSpace
from bam_core.rollout import Rollout

_DAMPING = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0)  # of a step, tried in turn until one gains
_WORTHWHILE = 1e-4  # relative gain that pays for another step: a fraction of a standard error


def settle(
    rollout: Rollout, space: SearchSpace, vector: np.ndarray, *, steps: int = 5, workers: int = 2
) -> Sensitivity:
    """Go from a good point to the optimum of its linear model, again and again, while errors shrink.

    A search ends somewhere near an optimum; its distance to it would have to count as doubt.

    Args:
        rollout: simulates the training recordings.
        space: free parameters.
        vector: (PARAMETERS,) SI, where to start.
        steps: at most; each costs two to three simulations of all recordings per parameter.
        workers: simulations at a time.

    Returns:
        The sensitivity at the point arrived at, with its vector; what a fit minimises is no higher there.
    """
    here = sensitivity(rollout, space, vector, thorough=False, workers=workers)
    thorough = False
    for _ in range(steps):
        there = _step(rollout, here)
        if there is not None and there[0] > _WORTHWHILE:
            vector, thorough = there[1], False
            here = sensitivity(rollout, space, vector, guess=here.jacobian, thorough=False, workers=workers)
        elif thorough:
            break
        else:  # a Jacobian that was carried along has missed valleys that a new one may find
            vector, thorough = here.vector if there is None else there[1], True
            here = sensitivity(rollout, space, vector, workers=workers)
    return here if thorough else sensitivity(rollout, space, vector, workers=workers)


def _step(rollout: Rollout, here: Sensitivity) -> tuple[float, np.ndarray] | None:
    """Return relative gain and place of the first shortening of the step that gains anything."""
    weighing = Weighing(here)
    cost = weighing.cost(here.residuals)
    found = evidence(here, cautious=True)
    for damping in _DAMPING:
        vector = vector_at(here.space, here.shares + found.shift(damping))
        gained = 1.0 - weighing.cost(residuals_at(rollout, vector)) / cost
        if gained > 0.0:
            return gained, vector
    return None
