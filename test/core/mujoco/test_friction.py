# SPDX-License-Identifier: Apache-2.0
"""Friction of servos in MuJoCo: it holds, never drives, and is the budget of BAM eq. 10."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.servo.friction import FRICTION_PARAMETERS, QUADRATIC_RULES, Friction
from bam_core.servo.model import load_servo
from test.core.mujoco_cases import BENCH, EFFECT_CASES, HELD, SERVO, affected, held_bench, on_bench, walker
from test.core.robot_cases import EXECUTORS, Executor

ARM_AND_STOP = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body>
      <joint name="j" axis="1 0 0" limited="true" range="-5 5"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.2" mass="0.8"/>
    </body>
  </worldbody>
</mujoco>
"""


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
    duty=st.floats(-1.0, 1.0),
    external=st.floats(-10.0, 10.0),
    velocity=st.floats(-20.0, 20.0),
)
@settings(deadline=None)
def test_the_compiled_budget_is_that_of_friction(
    coefficients: list[float], rule: str, duty: float, external: float, velocity: float
) -> None:
    friction = Friction(**dict(zip(FRICTION_PARAMETERS, coefficients, strict=True)), quadratic_rule=rule)
    actuation = on_bench(dataclasses.replace(SERVO, friction=friction))
    actuation.torque_enabled[0], actuation.goal_duty[0] = 1.0, duty
    actuation.data.qvel[0], actuation.data.qfrc_applied[0] = velocity, external
    actuation.step()
    motor, load = float(actuation.motor_torque[0]), float(actuation.external_torque[0])
    assert load == pytest.approx(external)  # the arm hangs straight down
    expected = float(friction.budget(motor, load, velocity))
    assert actuation.friction_budget[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
def test_with_load_inertia_the_torque_that_accelerates_the_load_presses_on_the_gear(
    executor: type[Executor],
) -> None:
    """Against a stop, too, whose torque changes from step to step."""
    friction = Friction(coulomb=0.05, load_motor=0.2, load_external=0.3)
    servo = affected(dataclasses.replace(SERVO, friction=friction), load_inertia=0.8)
    spec = mujoco.MjSpec.from_string(ARM_AND_STOP)
    simulation = executor(executor.compiled(spec, {"j": servo}), {"j": servo})
    model, data, dt = simulation.model, simulation.data, simulation.model.opt.timestep
    load = float(1.0 / model.dof_invweight0[0]) - servo.motor.armature  # kg·m²
    stopped, inertial, acceleration = [], 0.0, 0.0
    for step in range(500):
        velocity = float(data.qvel[0]) + 0.5 * dt * acceleration
        simulation.step(np.array([2.0 * np.sin(0.02 * step)]), 1.0)
        pressing = simulation.external - servo.servo_effects.load_inertia * inertial
        expected = float(friction.budget(simulation.motor[0], pressing[0], velocity))
        assert simulation.budget[0] == pytest.approx(expected, rel=1e-9, abs=1e-12), step
        acceleration = float(data.qacc[0])
        inertial = load * acceleration
        stopped.append(float(data.qfrc_constraint[0] - simulation.friction[0]))
    assert np.abs(np.diff(stopped)).max() > 0.1  # N·m
