# SPDX-License-Identifier: Apache-2.0
"""What a motion tells is what the laws of servo and bench say at each of its steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.identification.misfit.motion import EVERY, Motion, motions, slewed, smoothed
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.identification_cases import mx106

BENCH = PendulumBench(mass=0.8, arm_mass=0.1, length=0.15)
VOLTAGE = mx106("m1")
CURRENT = replace(
    load_servo("xl330"),
    firmware=load_servo("erob80_100").firmware,
    friction_model="m1",
    friction=VOLTAGE.friction,
)


def test_a_cubic_is_smoothed_to_itself_and_a_line_also_at_its_ends() -> None:
    time = 0.002 * np.arange(400)
    position = 0.3 + 0.5 * time - 2.0 * time**2 + 1.5 * time**3
    found = smoothed(position, 0.002, 0.01)
    inside = slice(20, -20)
    np.testing.assert_allclose(found[0][inside], position[inside], atol=1e-9)
    np.testing.assert_allclose(found[1][inside], (0.5 - 4.0 * time + 4.5 * time**2)[inside], atol=1e-7)
    np.testing.assert_allclose(found[2][inside], (-4.0 + 9.0 * time)[inside], atol=1e-5)
    line = smoothed(0.3 + 0.5 * time, 0.002, 0.01)
    np.testing.assert_allclose(line[1], 0.5, atol=1e-9)
    assert len(line[0]) == len(time)


@pytest.mark.parametrize(("period", "half"), [(0.002, 0.025), (0.02, 0.07)])
def test_it_is_smoothed_over_fifty_milliseconds_or_seven_samples(period: float, half: float) -> None:
    step = np.r_[np.zeros(300), 1.0, np.zeros(300)]
    reached = np.flatnonzero(np.abs(smoothed(step, 0.001, period)[0]) > 1e-12)
    assert (300 - reached[0]) * 0.001 == pytest.approx(half, abs=0.002)


def test_a_slewed_goal_follows_by_so_much_per_step_and_is_where_the_servo_is_while_torque_is_off() -> None:
    goal, enabled = np.array([0.0, 1.0, 1.0, 1.0, 1.0, -1.0]), np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    position = np.full(6, 0.7)
    np.testing.assert_allclose(slewed(goal, enabled, position, 0.2), [0.0, 0.2, 0.4, 0.7, 0.9, 0.7])


def moved(
    servo: ServoModel, bench_effects: BenchEffects, kp: float, demand_limit: float = np.inf
) -> tuple[Motion, Rollout]:
    recording = synthesize(
        servo, BENCH, "lift_and_drop", kp, SynthesisSettings(sample_period=0.002, bench_effects=bench_effects)
    )
    rollout = Rollout.for_servo([replace(recording, demand_limit=demand_limit)], servo)
    (found,) = motions(rollout, servo, bench_effects)
    return found, rollout


@pytest.mark.parametrize(("servo", "kp"), [(VOLTAGE, 16.0), (CURRENT, None)], ids=["voltage", "current"])
def test_torques_and_their_slopes_are_those_of_the_laws(servo: ServoModel, kp: float | None) -> None:
    kp = servo.firmware.factory_kp if kp is None else kp
    servo = replace(servo, servo_effects=ServoEffects(firmware_gain=0.2))
    effects = BenchEffects(zero_offset=0.05, command_delay=0.01, arm_mass=0.04)
    found, rollout = moved(servo, effects, kp)
    (recording,) = rollout.recordings
    firmware, motor, bench = servo.firmware, servo.motor, effects.corrected(BENCH)
    goal = np.interp(found.time - 0.01, recording.time - recording.time[0], recording.goal_position)
    enabled = np.interp(found.time - 0.01, recording.time - recording.time[0], recording.torque_enabled)
    switches = np.abs(np.gradient(goal)) > 0.05
    switches |= (enabled > 0.0) & (enabled < 1.0)
    voltage = recording.supply_voltage

    def torque(angle: np.ndarray, velocity: np.ndarray, ahead: float = 0.0) -> np.ndarray:
        demand = firmware.demand(1.2 * kp, found.goal + ahead - angle, velocity)
        if firmware.regulates_current:
            applied = motor.regulating_voltage(demand, velocity, voltage)
        else:
            applied = demand * voltage
        return np.asarray(motor.torque(applied, velocity, found.enabled))

    angle, velocity, h = found.position + 0.05, found.velocity, 1e-6
    np.testing.assert_allclose(found.goal[~switches], goal[~switches], atol=4e-3)
    np.testing.assert_allclose(found.error, found.goal - angle, atol=1e-12)
    np.testing.assert_allclose(found.motor, torque(angle, velocity), atol=1e-9)
    np.testing.assert_allclose(found.gravity, bench.external_torque(found.position))
    np.testing.assert_allclose(found.budget, servo.friction.budget(found.motor, found.gravity, velocity))
    # The gains of a regulator that brakes along a square root are those at its goal.
    near, close = (1e-3, 0.05) if firmware.regulates_current else (np.inf, 1e-4)
    free = (found.limited == 0.0) & (np.abs(found.error) < near) & (np.abs(velocity) < 5.0 * near)
    assert np.sum(free) > 5
    by_goal = (torque(angle, velocity, h) - torque(angle, velocity, -h)) / (2.0 * h)
    np.testing.assert_allclose(found.gain[free], by_goal[free], rtol=close, atol=1e-6)
    weight = (bench.external_torque(found.position - h) - bench.external_torque(found.position + h)) / (
        2.0 * h
    )
    np.testing.assert_allclose(found.stiffness, found.gain + weight, rtol=1e-4, atol=1e-5)
    by_speed = (torque(angle, velocity - h) - torque(angle, velocity + h)) / (2.0 * h)
    expected = by_speed + servo.friction.viscous
    np.testing.assert_allclose(found.damping[free], expected[free], rtol=10.0 * close, atol=1e-5)
    assert found.inertia == pytest.approx(bench.inertia + motor.armature)
    assert (found.bench_inertia, found.mass) == (pytest.approx(bench.inertia), bench.mass)
    assert found.gravity_torque == pytest.approx(bench.gravity_torque)
    assert found.dt == pytest.approx(EVERY * rollout.dt)
    np.testing.assert_allclose(np.diff(found.time), found.dt, atol=1e-9)


def test_a_full_duty_and_what_is_asked_for_make_the_motors_torque() -> None:
    found, _ = moved(VOLTAGE, BenchEffects(), 32.0, demand_limit=0.05)
    np.testing.assert_allclose(
        found.motor, found.full * found.duty - found.back_emf * found.velocity, atol=1e-9
    )
    assert set(np.unique(found.limited)) >= {0.0, 1.0}
    np.testing.assert_array_equal(np.abs(found.duty[found.limited == 1.0]) > 0.999, True)
    free = found.limited == 0.0
    np.testing.assert_allclose(
        found.duty[free & (found.enabled == 1.0)],
        (found.duty_per_error * found.error)[free & (found.enabled == 1.0)],
        atol=1e-9,
    )
    assert np.all(found.full[found.enabled == 0.0] == 0.0)
    motor = VOLTAGE.motor
    current = found.motor / motor.torque_constant
    np.testing.assert_allclose(found.loss, motor.resistance * current**2, atol=1e-9)


def test_the_torques_of_a_motion_accelerate_its_arm() -> None:
    found, _ = moved(VOLTAGE, BenchEffects(), 16.0)
    moving = np.abs(found.velocity) > 0.5
    taken = found.inertia * found.acceleration
    left = taken - (found.motor + found.gravity - found.direction * found.budget)
    assert np.median(np.abs(left[moving])) < 0.03 * np.median(np.abs(taken[moving]))
    assert found.direction[moving] == pytest.approx(np.sign(found.velocity[moving]), abs=2e-3)
    np.testing.assert_allclose(found.moves, np.abs(found.direction))
