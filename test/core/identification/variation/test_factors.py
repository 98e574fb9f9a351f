# SPDX-License-Identifier: Apache-2.0
"""A factor multiplies the coefficients of its group and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.variation.factors import GROUPS, varied
from bam_core.servo.friction import FRICTION_PARAMETERS
from bam_core.simulation.rollout import PARAMETERS, parameter_vector
from test.core.identification_cases import mx106


@pytest.mark.parametrize("group", list(GROUPS))
def test_a_factor_multiplies_its_own_parameters(group: str) -> None:
    vector = parameter_vector(mx106("m6"))
    log_factors = np.log([[1.5 if name == group else 1.0 for name in GROUPS]])
    (changed,) = varied(vector, log_factors)
    for name, before, after in zip(PARAMETERS, vector, changed, strict=True):
        assert after == pytest.approx(1.5 * before if name in GROUPS[group] else before), name


def test_both_kinds_of_friction_are_all_of_it_but_the_shape_of_the_stribeck_curve() -> None:
    shape = {"stribeck_velocity", "stribeck_exponent"}
    assert {*GROUPS["no_load"], *GROUPS["load"]} == {*FRICTION_PARAMETERS} - shape
    friction = mx106("m6").friction
    both = friction.scaled(no_load=1.2, load=0.7)
    vector = parameter_vector(mx106("m6"))
    (changed,) = varied(vector, np.log([[1.2, 0.7, 1.0]]))
    found = dict(zip(PARAMETERS, changed, strict=True))
    assert {name: found[name] for name in both.coefficients()} == pytest.approx(both.coefficients())


def test_each_vector_has_its_own_factors() -> None:
    vectors = np.tile(parameter_vector(mx106("m1")), (2, 1))
    changed = varied(vectors, np.array([[0.0, 0.0, 0.0], [np.log(2.0), 0.0, 0.0]]))
    assert np.array_equal(changed[0], vectors[0])
    column = PARAMETERS.index("coulomb")
    assert changed[1, column] == pytest.approx(2.0 * vectors[1, column])
