# SPDX-License-Identifier: Apache-2.0
"""Motor and firmware of servos in MuJoCo: the laws of `DcMotor`, heat, torque off, the firmware's period."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from bam_core.mujoco import BenchCommands, replay
from bam_core.servo.friction import Friction
from bam_core.servo.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME
from bam_core.servo.pendulum import GRAVITY
from test.core.mujoco_cases import BENCH, EFFECT_CASES, FREE, SERVO, affected, at_full_duty, on_bench


@pytest.mark.parametrize("saturation", [0.0, 0.4])
def test_a_stalled_motor_warms_and_weakens_and_cools_again(saturation: float) -> None:
    stuck = Friction(coulomb=100.0)
    servo = dataclasses.replace(SERVO, friction_model="m1", friction=stuck)
    servo = affected(servo, torque_saturation=saturation, winding_heating=0.5)
    motor, actuation = servo.motor, on_bench(servo)
    actuation.torque_enabled[0], actuation.goal_position[0] = 1.0, 3.0  # as much duty as there is
    for _ in range(8000):
        actuation.step()
    warming = actuation.winding_warming[0]
    voltage = servo.firmware.duty_limit * servo.nominal_voltage

    def seconds_per_kelvin(warmed: float) -> float:
        gained = motor.winding_heating * voltage**2 / (motor.resistance * (1.0 + COPPER_COEFFICIENT * warmed))
        return 1.0 / (gained - warmed / WINDING_COOLING_TIME)

    assert warming > 50.0
    assert quad(seconds_per_kelvin, 0.0, warming)[0] == pytest.approx(8.0, rel=1e-4)
    current = voltage / (motor.resistance * (1.0 + COPPER_COEFFICIENT * warming))
    torque = motor.torque_constant * current / (1.0 + saturation * current)
    assert actuation.current[0] == pytest.approx(current, rel=1e-4)
    assert actuation.motor_torque[0] == pytest.approx(torque, rel=1e-4)

    actuation.torque_enabled[0] = 0.0
    actuation.step()  # the switch falls into the middle of this step
    warming = actuation.winding_warming[0]
    for _ in range(3000):
        actuation.step()
    assert actuation.winding_warming[0] == pytest.approx(
        warming * np.exp(-3.0 / WINDING_COOLING_TIME), rel=1e-4
    )
    actuation.reset()
    assert actuation.winding_warming[0] == 0.0


def test_windings_start_as_warm_as_their_case_and_cool_down_to_it() -> None:
    actuation = on_bench(affected(SERVO, winding_heating=0.5))
    actuation.case_temperature_rise[0] = 35.0
    actuation.reset()
    assert actuation.winding_warming[0] == 35.0
    actuation.winding_warming[0] = 100.0
    for _ in range(3000):
        actuation.step()
    cooled = 35.0 + 65.0 * np.exp(-3.0 / WINDING_COOLING_TIME)
    assert actuation.winding_warming[0] == pytest.approx(cooled, rel=1e-5)


def test_a_winding_that_does_not_heat_up_ignores_its_case() -> None:
    actuation = at_full_duty(affected(SERVO, torque_saturation=0.3))
    actuation.case_temperature_rise[0] = 35.0
    actuation.reset()
    for _ in range(100):
        actuation.step()
    assert actuation.winding_warming[0] == 0.0


@pytest.mark.parametrize("case", ["torque_saturation", "winding_heating", "all"])
def test_a_short_circuited_motor_only_takes_energy(case: str) -> None:
    dt, steps = 5e-4, 4000
    servo = affected(FREE, **EFFECT_CASES[case])
    run = replay(
        servo,
        BENCH,
        BenchCommands(
            goal_position=np.zeros(steps),
            torque_enabled=np.ones(steps, dtype=bool),
            supply_voltage=0.0,
            position=2.5,
        ),
        dt=dt,
        kp=32.0,
    )
    velocity = (run.position[2:] - run.position[:-2]) / (2.0 * dt)
    position, torque = run.position[1:-1], run.motor_torque[1:-1]
    assert (torque * velocity).max() < 1e-9
    inertia = BENCH.inertia + servo.motor.armature
    energy = 0.5 * inertia * velocity**2 - BENCH.mass * GRAVITY * BENCH.length * np.cos(position)
    taken = np.cumsum((torque * velocity)[:-1]) * dt
    assert taken[-1] < -0.3
    np.testing.assert_allclose(energy[1:] - energy[0], taken, atol=1e-4)


@given(
    saturation=st.floats(0.0, 3.0),
    heating=st.floats(0.0, 20.0),
    warming=st.floats(0.0, 200.0),
    case=st.floats(-30.0, 60.0),
    velocity=st.floats(-10.0, 10.0),
    supply=st.floats(-20.0, 20.0),
)
@settings(deadline=None, max_examples=50)
def test_the_compiled_motor_is_that_of_dc_motor(
    saturation: float, heating: float, warming: float, case: float, velocity: float, supply: float
) -> None:
    servo = affected(SERVO, torque_saturation=saturation, winding_heating=heating)
    motor, actuation = servo.motor, at_full_duty(servo)
    actuation.data.qvel[0] = velocity - 0.5e-3 * actuation.data.qacc[0]
    actuation.winding_warming[0], actuation.supply_voltage[0] = warming, supply
    actuation.case_temperature_rise[0] = case
    actuation.step()
    voltage = servo.firmware.duty_limit * supply
    current = float(motor.current(voltage, velocity, True, warming))
    warmed = warming + 1e-3 * float(motor.warming_rate(current, warming, case if heating else 0.0))
    assert actuation.current[0] == pytest.approx(current, rel=1e-9, abs=1e-9)
    assert actuation.motor_torque[0] == pytest.approx(
        float(motor.torque(voltage, velocity, True, warming)), rel=1e-9, abs=1e-9
    )
    assert actuation.winding_warming[0] == pytest.approx(warmed, rel=1e-9, abs=1e-9)


def test_without_effects_the_motor_is_equation_13_to_the_last_digit() -> None:
    actuation, motor = at_full_duty(SERVO), SERVO.motor
    for k in range(300):
        actuation.supply_voltage[0] = 15.0 * np.sin(0.02 * k)
        velocity = actuation.velocity[0] + 0.5e-3 * actuation.data.qacc[0]
        actuation.step()
        voltage = actuation.duty[0] * actuation.supply_voltage[0]
        torque = motor.torque_constant / motor.resistance * (voltage - motor.torque_constant * velocity)
        assert actuation.motor_torque[0] == torque
        assert actuation.current[0] == torque / motor.torque_constant
    assert actuation.winding_warming[0] == 0.0


def test_torque_off_releases_the_bridge() -> None:
    actuation = on_bench(FREE)
    actuation.torque_enabled[0], actuation.goal_position[0] = 1.0, 1.0
    for _ in range(300):
        actuation.step()
    assert actuation.motor_torque[0] != 0.0
    actuation.torque_enabled[0] = 0.0
    actuation.step()  # the switch falls into the middle of this step
    actuation.step()
    assert actuation.motor_torque[0] == 0.0
    assert actuation.duty[0] == 0.0
    assert actuation.current[0] == 0.0
    assert actuation.velocity[0] != 0.0


def test_the_firmware_holds_its_duty_for_its_period() -> None:
    actuation = on_bench(SERVO, dt=2.5e-4)
    actuation.torque_enabled[0] = 1.0
    duties = []
    for k in range(40):
        actuation.goal_position[0] = 0.001 * k
        actuation.step()
        duties.append(actuation.duty[0])
    blocks = np.reshape(duties, (10, 4))
    assert (blocks == blocks[:, :1]).all()
    assert len(set(blocks[:, 0])) == 10


def test_a_goal_duty_takes_the_place_of_the_position_law_and_keeps_the_limit_of_the_firmware() -> None:
    actuation = on_bench(SERVO)
    actuation.torque_enabled[0], actuation.goal_position[0], actuation.goal_duty[0] = 1.0, -1.0, 0.25
    for _ in range(50):
        actuation.step()
    assert actuation.duty[0] == 0.25
    assert actuation.velocity[0] > 0.0
    actuation.goal_duty[0] = 1.0
    actuation.step()
    assert actuation.duty[0] == SERVO.firmware.duty_limit < 1.0
    actuation.torque_enabled[0] = 0.0
    actuation.step()
    assert actuation.duty[0] == 0.0
    actuation.torque_enabled[0], actuation.goal_duty[0] = 1.0, np.nan
    actuation.step()
    assert actuation.duty[0] < 0.0  # towards the goal position
