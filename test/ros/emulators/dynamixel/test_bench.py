# SPDX-License-Identifier: Apache-2.0
"""The physics behind the registers: at rest, driven, released, and equal to bam_core's laws."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.servo.firmware_library import find_firmware
from bam_core.servo.friction import FRICTION_PARAMETERS, Friction
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.bench import Bench
from bam_ros.emulators.dynamixel.hidden_servo import draw_hidden_servo, typical_servo
from bam_ros.emulators.hidden_servo import SPREAD

LOAD = PendulumBench(mass=1.0, arm_mass=0.05, length=0.15)
FIRMWARE = find_firmware("mx-protocol1")


def drive(bench: Bench, goal: float, kp: float = 32.0) -> None:
    commands = bench.commands
    commands[:] = 0.0
    commands[k.MODE] = k.POSITION_MODE
    commands[k.GOAL] = round(goal * k.COUNTS_PER_RAD)
    commands[k.P_GAIN] = FIRMWARE.duty_per_kp_rad * kp / k.COUNTS_PER_RAD
    commands[k.DUTY_LIMIT] = FIRMWARE.duty_limit
    commands[k.CURRENT_LIMIT] = math.inf


def test_without_a_command_the_arm_rests():
    bench = Bench(draw_hidden_servo("mx106", 1), LOAD)
    bench.advance_to(2.0)
    assert bench.state[physics.POSITION] == 0.0
    assert bench.state[physics.VELOCITY] == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_driven_it_converges_within_the_friction_band(seed):
    hidden = draw_hidden_servo("mx106", seed)
    bench = Bench(hidden, LOAD)
    drive(bench, 1.0)
    bench.advance_to(2.0)
    stiffness = FIRMWARE.duty_per_kp_rad * 32 * bench.state[physics.SUPPLY]
    stiffness *= hidden.motor.torque_constant / hidden.motor.resistance
    # It stands where the motor holds gravity plus or minus what friction takes.
    gravity = float(LOAD.external_torque(bench.state[physics.POSITION]))
    motor = hidden.motor.torque_constant * float(bench.state[physics.CURRENT])
    band = float(hidden.friction.budget(motor, gravity, 0.0)) + 1.5 * FIRMWARE.resolution * stiffness
    assert abs(bench.state[physics.VELOCITY]) < 1e-6
    assert abs(stiffness * (1.0 - bench.state[physics.POSITION]) + gravity) <= band


def test_released_it_swings_and_comes_to_rest():
    bench = Bench(draw_hidden_servo("mx106", 3), PendulumBench(mass=2.0, length=0.2))
    bench.place(2.0)
    positions = []
    for i in range(1, 20_000):
        bench.advance_to(i * 1e-3)
        positions.append(float(bench.state[physics.POSITION]))
    assert min(positions) < -0.3
    assert bench.state[physics.VELOCITY] == pytest.approx(0.0, abs=1e-9)


@given(
    seed=st.integers(0, 50),
    position=st.floats(-3.0, 3.0),
    velocity=st.floats(-8.0, 8.0),
    servo=st.sampled_from(["mx64", "mx106", "xl330"]),
)
@settings(max_examples=30, deadline=None)
def test_with_torque_off_energy_never_grows(seed, position, velocity, servo):
    bench = Bench(draw_hidden_servo(servo, seed), LOAD)
    bench.place(position, velocity)
    energy = bench.energy
    for i in range(1, 400):
        bench.advance_to(i * 5e-3)
        assert bench.energy <= energy + 1e-9
        energy = bench.energy


def test_without_friction_the_pendulum_keeps_its_amplitude():
    hidden = replace(typical_servo("mx106"), friction=Friction())
    bench = Bench(hidden, LOAD)
    bench.place(1.0)
    start = bench.energy
    bench.advance_to(6.0)
    assert bench.energy == pytest.approx(start, rel=1e-6)


def test_braked_it_falls_slower_than_released():
    fallen = {}
    for mode in (k.RELEASED, k.BRAKE):
        bench = Bench(draw_hidden_servo("mx106", 2), LOAD)
        bench.place(1.5)
        bench.commands[k.MODE] = mode
        bench.advance_to(0.3)
        fallen[mode] = 1.5 - bench.state[physics.POSITION]
    assert 0.0 < fallen[k.BRAKE] < 0.7 * fallen[k.RELEASED]


def test_friction_is_the_law_of_bam_core():
    random = np.random.default_rng(0)
    assert FRICTION_PARAMETERS[0] == "viscous"
    for seed in range(20):
        hidden = draw_hidden_servo("mx106", seed)
        parameters = hidden.parameters()
        assert parameters[physics.QUADRATIC_EXTERNAL] == hidden.friction.quadratic_external
        motor, external, velocity = random.uniform(-5, 5, 3)
        expected = float(hidden.friction.budget(motor, external, velocity))
        assert physics.budget(parameters, motor, external, velocity) == pytest.approx(expected, rel=1e-12)


def test_one_step_is_motor_gravity_and_friction_of_bam_core():
    hidden = draw_hidden_servo("mx106", 5)
    bench = Bench(hidden, LOAD)
    drive(bench, 0.5)
    bench.place(0.2, 1.0)
    bench.advance_to(1.5 * physics.STEP)
    voltage = bench.state[k.DUTY] * hidden.supply_voltage
    per_count = float(FIRMWARE.duty(32, FIRMWARE.resolution))
    assert bench.state[k.DUTY] == pytest.approx(float(FIRMWARE.duty(32, 0.5 - 0.2)), abs=per_count)
    motor = float(hidden.motor.torque(voltage, 1.0))
    middle = 0.2 + 0.5 * physics.STEP * 1.0
    external = float(LOAD.external_torque(middle))
    inertia = LOAD.inertia + hidden.motor.armature
    friction = float(hidden.friction.applied(motor, external, 1.0, inertia, physics.STEP))
    velocity = 1.0 + (motor + external + friction) / inertia * physics.STEP
    assert bench.state[physics.VELOCITY] == pytest.approx(velocity, rel=1e-12)
    assert bench.state[physics.POSITION] == pytest.approx(middle + 0.5 * physics.STEP * velocity, rel=1e-14)


def test_the_path_does_not_depend_on_how_often_it_is_looked_at():
    benches = [Bench(draw_hidden_servo("mx64", 7), LOAD) for _ in range(2)]
    for bench in benches:
        drive(bench, 1.2)
    benches[0].advance_to(1.0)
    for i in range(1, 1001):
        benches[1].advance_to(i * 1e-3 + (0.0 if i == 1000 else 3e-4 * math.sin(i)))
    assert np.array_equal(benches[0].state, benches[1].state)


def test_the_supply_sags_with_the_current_it_gives():
    hidden = draw_hidden_servo("mx106", 4)
    bench = Bench(hidden, PendulumBench(mass=20.0, length=0.3))  # too heavy to lift
    drive(bench, 2.0)
    bench.advance_to(3.0)
    state = bench.state
    drawn = float(state[k.DUTY] * state[physics.CURRENT])
    assert drawn > 3.0
    sag = hidden.supply_voltage - float(state[physics.SUPPLY])
    assert sag == pytest.approx(hidden.supply_resistance * drawn, abs=0.03)
    assert state[physics.TEMPERATURE] > hidden.ambient + 0.1


def test_hidden_parameters_follow_the_seed_and_stay_near_the_typical_servo():
    assert draw_hidden_servo("mx106", 3) == draw_hidden_servo("mx106", 3)
    assert draw_hidden_servo("mx106", 3) != draw_hidden_servo("mx106", 4)
    typical = typical_servo("mx106").friction.coefficients()
    for seed in range(30):
        drawn = draw_hidden_servo("mx106", seed).friction.coefficients()
        assert all(abs(drawn[name] / typical[name] - 1.0) <= SPREAD for name in typical)


def test_a_millisecond_costs_less_than_20_microseconds():
    bench = Bench(draw_hidden_servo("mx106", 0), LOAD)
    drive(bench, 1.0)
    bench.advance_to(0.5)
    best = math.inf
    for repeat in range(20):
        start = time.thread_time()  # of the processor: other programs do not count
        for i in range(50):
            bench.advance_to(0.5 + 1e-3 * (50 * repeat + i + 1))
        best = min(best, (time.thread_time() - start) / 50)
    assert best < 20e-6
