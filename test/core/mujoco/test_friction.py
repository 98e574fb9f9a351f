# SPDX-License-Identifier: Apache-2.0
"""Friction of servos in MuJoCo: it holds, never drives, and is the budget of BAM eq. 10."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.mujoco import _law
from bam_core.mujoco._servo_constants import servo_constants
from bam_core.servo.friction import FRICTION_PARAMETERS, QUADRATIC_RULES, Friction
from bam_core.servo.model import load_servo
from test.core.mujoco_cases import BENCH, EFFECT_CASES, HELD, SERVO, affected, held_bench, on_bench, walker


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("name", HELD)
def test_a_joint_held_by_friction_does_not_drift(name: str, share: float) -> None:
    servo = load_servo(name)
    actuation = on_bench(servo, held_bench(servo, share), position=1.0)
    for _ in range(10_000):
        actuation.step()
    assert -actuation.external_torque[0] == pytest.approx(share * actuation.friction_budget[0], rel=1e-6)
    assert abs(actuation.position[0] - 1.0) < 1e-9


def test_a_joint_slides_once_gravity_exceeds_the_budget() -> None:
    servo = dataclasses.replace(SERVO, friction_model="m1", friction=Friction(coulomb=0.3))
    actuation = on_bench(servo, position=1.0)
    for _ in range(3000):
        actuation.step()
    final = actuation.position[0]
    assert actuation.velocity[0] == pytest.approx(0.0, abs=1e-12)
    assert abs(float(BENCH.external_torque(final))) < 0.3 < abs(float(BENCH.external_torque(1.0)))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    position=st.floats(-3.0, 3.0),
    velocity=st.floats(-20.0, 20.0),
)
def test_friction_never_adds_energy_to_the_bench(seed: int, position: float, velocity: float) -> None:
    coefficients = np.random.default_rng(seed).uniform(0.0, 0.3, len(FRICTION_PARAMETERS))
    friction = Friction(
        **{
            **dict(zip(FRICTION_PARAMETERS, coefficients, strict=True)),
            "stribeck_velocity": 1.0,
            "stribeck_exponent": 1.2,
        }
    )
    actuation = on_bench(dataclasses.replace(SERVO, friction=friction), position=position, dt=2e-4)
    actuation.data.qvel[0] = velocity
    for _ in range(100):
        before = actuation.velocity[0]
        actuation.step()
        without = before + 2e-4 * actuation.data.qacc_smooth[0]
        assert abs(actuation.velocity[0]) <= abs(without) + 1e-9
        assert actuation.friction_torque[0] * actuation.velocity[0] <= 1e-8


@pytest.mark.parametrize("effects", [{}, EFFECT_CASES["all"]], ids=["plain", "all effects"])
def test_friction_never_drives_a_walking_robot(effects: dict[str, float]) -> None:
    actuation = walker(servo=affected(load_servo("mx64"), **effects))
    actuation.torque_enabled[:] = 1.0
    steps_in_contact = 0
    for k in range(2000):
        actuation.goal_position[:] = 0.3 * np.sin(6e-3 * k)
        actuation.step()
        steps_in_contact += actuation.data.ncon > 0
        assert (actuation.friction_torque * actuation.velocity).max() <= 1e-8
        assert (np.abs(actuation.friction_torque) <= actuation.friction_budget * (1.0 + 1e-9)).all()
    assert steps_in_contact > 500


@given(
    coefficients=st.lists(st.floats(0.01, 2.0), min_size=11, max_size=11),
    rule=st.sampled_from(QUADRATIC_RULES),
    motor=st.floats(-10.0, 10.0),
    external=st.floats(-10.0, 10.0),
    velocity=st.floats(-20.0, 20.0),
)
@settings(deadline=None)
def test_the_compiled_budget_is_that_of_friction(
    coefficients: list[float], rule: str, motor: float, external: float, velocity: float
) -> None:
    friction = Friction(**dict(zip(FRICTION_PARAMETERS, coefficients, strict=True)), quadratic_rule=rule)
    row = np.array(servo_constants(dataclasses.replace(SERVO, friction=friction)))
    expected = float(friction.budget(motor, external, velocity))
    assert _law.budget(row, motor, external, velocity) == pytest.approx(expected, rel=1e-12)
