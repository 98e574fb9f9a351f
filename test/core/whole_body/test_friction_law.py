# SPDX-License-Identifier: Apache-2.0
"""The friction law (3.5): signs, power, derivatives, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import OutOfRange
from bam_core.whole_body import JOINT_FRICTION_PARAMETERS, JointFriction
from bam_core.whole_body.friction_law import friction_curve, friction_curve_jacobian
from test.core.refusals import refused

amounts = st.floats(0.0, 5.0)
laws = st.builds(
    JointFriction,
    viscous=amounts,
    coulomb=amounts,
    stribeck=amounts,
    stribeck_velocity=st.floats(0.02, 2.0),
    offset=st.floats(-3.0, 3.0),
    slope=st.floats(1.0, 200.0),
)


def test_the_curve_is_equation_3_5() -> None:
    law = JointFriction(viscous=0.2, coulomb=1.0, stribeck=0.2, stribeck_velocity=0.2, offset=0.3, slope=40.0)
    speed = 0.1
    expected = 0.2 * speed + np.tanh(4.0) * (1.0 + 0.2 * np.exp(-0.25)) + 0.3
    assert law.curve(speed) == pytest.approx(expected, abs=1e-15)


@given(law=laws, velocity=st.floats(-10.0, 10.0))
def test_friction_without_its_offset_never_drives(law: JointFriction, velocity: float) -> None:
    assert (law.torque(velocity) + law.offset) * velocity <= 1e-12


@given(law=laws, velocity=st.floats(0.0, 10.0))
def test_friction_without_its_offset_is_odd(law: JointFriction, velocity: float) -> None:
    there, back = law.curve(velocity) - law.offset, law.curve(-velocity) - law.offset
    assert there == pytest.approx(-back, abs=1e-12)


@given(law=laws, velocity=st.floats(-2.0, 2.0))
def test_the_jacobian_is_that_of_the_curve(law: JointFriction, velocity: float) -> None:
    at = np.array([velocity])
    jacobian = friction_curve_jacobian(law.values, at)[0]
    for index in range(len(JOINT_FRICTION_PARAMETERS)):
        step = np.zeros(6)
        step[index] = 1e-6 * max(1.0, law.values[index])
        slope = (friction_curve(law.values + step, at) - friction_curve(law.values - step, at))[0]
        assert jacobian[index] == pytest.approx(slope / (2.0 * step[index]), rel=1e-4, abs=1e-6)


@given(law=laws)
def test_values_come_back(law: JointFriction) -> None:
    assert JointFriction.from_values(law.values) == law


@pytest.mark.parametrize(
    ("name", "value"), [("viscous", -0.1), ("coulomb", np.nan), ("slope", 0.0), ("stribeck_velocity", 0.0)]
)
def test_impossible_values_are_refused_by_name(name: str, value: float) -> None:
    with refused(OutOfRange) as caught:
        JointFriction(**{name: value})
    assert caught.value.thing.endswith(name)
