# SPDX-License-Identifier: Apache-2.0
"""Three log factors by which a servo differs from run to run: friction without load, under load, strength.

A factor multiplies all coefficients of its group, so that the law keeps its shape. Friction without load is
K_v, K_c and K_c^s, friction under load is every coefficient of a torque (BAM eq. 10). Strength is k_t.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from bam_core.arrays import Array
from bam_core.simulation.rollout import PARAMETERS

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "no_load": ("viscous", "coulomb", "stribeck_coulomb"),
        "load": (
            "load_motor",
            "load_external",
            "load_motor_stribeck",
            "load_external_stribeck",
            "quadratic_motor",
            "quadratic_external",
        ),
        "strength": ("torque_constant",),
    }
)
"""Name of a factor -> parameters that it multiplies."""

_COLUMNS = tuple([PARAMETERS.index(name) for name in names] for names in GROUPS.values())


def varied(vectors: Array, log_factors: Array) -> Array:
    """Return parameter vectors with their groups multiplied.

    Args:
        vectors: (n, PARAMETERS) SI, or one, (PARAMETERS,).
        log_factors: (n, GROUPS) natural logarithms of the factors.

    Returns:
        (n, PARAMETERS) SI.
    """
    changed = np.array(np.broadcast_to(vectors, (len(log_factors), len(PARAMETERS))))
    for columns, logarithms in zip(_COLUMNS, log_factors.T, strict=True):
        changed[:, columns] *= np.exp(logarithms)[:, None]
    return changed
