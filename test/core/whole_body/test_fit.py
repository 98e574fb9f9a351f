# SPDX-License-Identifier: Apache-2.0
"""Parameters fitted to friction torques (6.4), and which of them the data do not tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BadData
from bam_core.whole_body import JointFriction, fit_friction
from test.core.refusals import refused

VELOCITY = np.concatenate((np.linspace(-2.5, 2.5, 600), 0.3 * np.sin(np.linspace(0.0, 20.0, 800))))


@settings(max_examples=25, deadline=None)
@given(
    viscous=st.floats(0.05, 1.0),
    coulomb=st.floats(0.1, 3.0),
    stribeck=st.floats(0.1, 1.0),
    stribeck_velocity=st.floats(0.1, 0.5),
    offset=st.floats(-2.0, 2.0),
    slope=st.floats(20.0, 80.0),
)
def test_exact_torques_give_back_the_parameters(**values: float) -> None:
    law = JointFriction(**values)
    fit = fit_friction("joint", VELOCITY, law.torque(VELOCITY))
    np.testing.assert_allclose(fit.friction.values, law.values, rtol=1e-4, atol=1e-6)
    assert fit.rms < 1e-7
    assert fit.unidentifiable == ()


def test_errors_are_shares_of_the_target() -> None:
    law = JointFriction(viscous=0.2, coulomb=1.0, stribeck=0.2, offset=1.0)
    other = JointFriction(viscous=0.21, coulomb=0.9, stribeck=0.2, offset=1.0)
    fit = fit_friction("joint", VELOCITY, law.torque(VELOCITY))
    np.testing.assert_allclose(fit.errors(other), [0.01 / 0.21, 0.1 / 0.9, 0, 0, 0, 0], atol=1e-5)


@pytest.mark.long
def test_slow_motion_leaves_parameters_vague_and_says_so() -> None:
    law = JointFriction(viscous=0.2, coulomb=1.0, stribeck=0.2, offset=1.0)
    slow = 0.05 * np.sin(np.linspace(0.0, 40.0, 500))
    noise = 0.02 * np.random.default_rng(1).standard_normal(len(slow))
    fit = fit_friction("joint", slow, law.torque(slow) + noise)
    assert fit.speed == pytest.approx(0.05, rel=1e-3)
    assert "viscous" in fit.unidentifiable
    assert "stribeck" in fit.unidentifiable
    assert "offset" not in fit.unidentifiable


def test_samples_without_a_torque_are_left_out() -> None:
    law = JointFriction(viscous=0.2, coulomb=1.0, stribeck=0.2, offset=0.5)
    torque = law.torque(VELOCITY)
    torque[::3] = np.nan
    wanted = np.arange(len(VELOCITY)) % 2 == 0
    spoilt = np.where(wanted, torque, 100.0)
    fit = fit_friction("joint", VELOCITY, spoilt, wanted)
    np.testing.assert_allclose(fit.friction.values, law.values, rtol=1e-4)


def test_motion_one_way_is_refused_by_name() -> None:
    with refused(BadData, thing="joint 'knee'"):
        fit_friction("knee", np.linspace(0.1, 1.0, 100), np.ones(100))


def test_too_few_samples_are_refused_by_name() -> None:
    with refused(BadData, thing="joint 'knee'"):
        fit_friction("knee", np.array([-1.0, 1.0]), np.ones(2))
