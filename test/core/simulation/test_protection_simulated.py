# SPDX-License-Identifier: Apache-2.0
"""Overload protection in rollouts: kernel and reference alike, and an arm that falls when it sets in."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.gears.rollout import TRACE_STEPS, GearRollout
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.friction import Friction
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.protection import OverloadProtection
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from test.core.physics_cases import law, reference_positions, run, servo

DT = 2e-3
HEAVY = PendulumBench(mass=12.0, length=0.15)
"""17.7 N·m: all of the motor holds it at 1.1 rad, a fifth at 0.2 rad."""
SMOOTH = servo(law("m1"), model="m1")
PROTECTION = OverloadProtection(threshold=0.5, time=0.1, limit=0.2)


def protected(model, protection=PROTECTION, firmware=None):
    """Return a servo whose firmware protects itself."""
    return dataclasses.replace(
        model, firmware=dataclasses.replace(firmware or model.firmware, name="own", protection=protection)
    )


def steps_of_goals(seed, samples=300):
    """Return a run whose goals stay for a while, with loads that take large demands; torque is off twice."""
    rng = np.random.default_rng(seed)
    time = np.arange(samples) * DT
    pieces = np.searchsorted(np.sort(rng.uniform(0.0, time[-1], 5)), time)
    away = time - rng.uniform(0.0, time[-1])
    return run(
        time,
        rng.uniform(-2.5, 2.5, 6)[pieces],
        position=rng.uniform(-1.0, 1.0),
        enabled=(pieces != 3) & ((away < 0.0) | (away > 0.01)),
        voltage=rng.uniform(11.0, 15.0, samples),
        kp=rng.choice([8.0, 16.0, 32.0]),
        bench=PendulumBench(mass=rng.uniform(1.0, 8.0), arm_mass=0.1, length=0.15),
        name=f"steps{seed}",
    )


protections = st.builds(
    OverloadProtection, threshold=st.floats(0.05, 1.0), time=st.floats(1e-3, 0.15), limit=st.floats(0.0, 1.0)
)


@pytest.mark.long
@settings(deadline=None, max_examples=40)
@given(
    protections, st.sampled_from(["voltage", "slewed", "current"]), st.integers(1, 3), st.integers(0, 1000)
)
def test_the_kernel_is_the_reference_with_any_protection(protection, kind, substeps, seed):
    plain = servo()
    firmware = {"voltage": plain.firmware, "slewed": FIRMWARES["feetech-sts"], "current": FIRMWARES["erob80"]}
    effects = ServoEffects(limit_shortfall=0.1, bridge_coasting=0.3, sensor_delay=1e-3, load_inertia=1.0)
    model = protected(dataclasses.replace(plain, servo_effects=effects), protection, firmware[kind])
    recordings = [steps_of_goals(seed + k, 150) for k in range(2)]
    rollout = Rollout.for_servo(recordings, model, dt=DT, substeps=substeps)
    positions = rollout.positions(parameter_vector(model))
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, model, recording, index, substeps)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


@pytest.mark.parametrize("name", ["mx-protocol1", "feetech-sts", "erob80"])
def test_so_it_is_where_it_matters(name):
    bare = dataclasses.replace(servo(), firmware=dataclasses.replace(FIRMWARES[name], protection=None))
    model = protected(bare, dataclasses.replace(PROTECTION, time=0.05))
    recordings = [steps_of_goals(seed) for seed in range(6)]
    rollout = Rollout.for_servo(recordings, model, dt=DT, substeps=2)
    positions = rollout.positions(parameter_vector(model))
    unprotected = Rollout.for_servo(recordings, bare, dt=DT, substeps=2).positions(parameter_vector(bare))
    differ = 0
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, model, recording, index, 2)
        np.testing.assert_allclose(ours, expected, atol=1e-9)
        differ += np.max(np.abs(ours - unprotected[index])) > 1e-2
    assert differ >= 3


def held_arm(goal, enabled=True, samples=1500, start=1.1):
    """Return a run at 1 kHz with an arm that takes most of the duty to be held up."""
    return run(np.arange(samples) * 1e-3, goal, position=start, enabled=enabled, kp=32.0, bench=HEAVY)


def positions(model, recording):
    return Rollout.for_servo([recording], model, dt=1e-3, substeps=2).positions(parameter_vector(model))[0]


def test_an_arm_that_takes_too_much_is_held_for_the_time_and_then_falls():
    recording, bare = held_arm(2.5), SMOOTH
    for time in (0.1, 0.4):
        model = protected(bare, dataclasses.replace(PROTECTION, time=time))
        free, ours = positions(bare, recording), positions(model, recording)
        trip = round(time / 1e-3)
        np.testing.assert_allclose(ours[: trip + 1], free[: trip + 1], atol=1e-12)
        assert ours[trip + 1] < free[trip + 1]
        assert np.max(ours[trip + 400 :]) < 1.0 < np.min(free)


def test_another_goal_lifts_it_again_and_torque_off_and_on_too():
    steps = np.arange(1500)
    model = protected(SMOOTH, dataclasses.replace(PROTECTION, time=0.3))
    again = positions(model, held_arm(np.where(steps < 500, 2.5, 2.4)))
    same = positions(model, held_arm(np.where(steps < 500, 2.5, 2.5 + 1e-4)))  # within a count
    assert np.array_equal(again[:500], same[:500])
    assert np.max(again[500:]) > again[500] + 0.1
    assert np.max(same[600:]) <= same[500]
    off = positions(model, held_arm(2.5, (steps < 500) | (steps > 503)))
    assert np.max(off[505:]) > off[505] + 0.1


def test_a_protection_that_never_sets_in_changes_nothing():
    never = OverloadProtection(threshold=1.0, time=1e3, limit=0.0)
    for firmware in (FIRMWARES["mx-protocol1"], FIRMWARES["feetech-sts"], FIRMWARES["erob80"]):
        bare = dataclasses.replace(SMOOTH, firmware=dataclasses.replace(firmware, protection=None))
        recording = steps_of_goals(4)
        ours = positions(protected(bare, never), recording)
        np.testing.assert_allclose(ours, positions(bare, recording), atol=1e-12)


def test_a_duty_that_is_commanded_in_open_loop_is_not_limited():
    recording = dataclasses.replace(
        held_arm(2.5),
        open_loop=True,
        kp=0.0,
        duty=np.full(1500, 0.4),
        goal_position=np.full(1500, np.nan),
        demand_limit=0.3,
    )
    assert np.array_equal(
        positions(protected(SMOOTH), recording), positions(protected(SMOOTH, None), recording)
    )


def test_a_late_command_ends_it_late():
    model = protected(SMOOTH, dataclasses.replace(PROTECTION, time=0.3))
    recording = held_arm(np.where(np.arange(1500) < 600, 2.5, 2.4))
    rollout = Rollout.for_servo([recording], model, dt=1e-3, substeps=2)
    late = rollout.positions(parameter_vector(model, BenchEffects(command_delay=0.05)))[0]
    never = positions(model, held_arm(2.5))
    ends = [np.argmax(np.abs(each - never) > 1e-9) for each in (positions(model, recording), late)]
    assert ends == [601, 651]


def test_a_step_that_stands_for_several_periods_trips_at_the_same_time():
    recording = held_arm(2.5)
    model = protected(SMOOTH, dataclasses.replace(PROTECTION, time=0.4))
    vector = parameter_vector(model)
    fine, coarse = (
        Rollout([recording], model.firmware, RolloutSettings(periods=periods, substeps=periods)).positions(
            vector
        )[0]
        for periods in (1, 4)
    )
    assert fine[-1] < 1.0
    assert np.max(np.abs(fine - coarse)) < 5e-3


def test_a_rollout_with_a_gear_has_it_too():
    friction = Friction(viscous=0.05, coulomb=0.04, stribeck_velocity=1.0, stribeck_exponent=1.0)
    bare = dataclasses.replace(SMOOTH, friction=friction)
    model = protected(bare, dataclasses.replace(PROTECTION, time=0.4))
    recording = held_arm(np.where(np.arange(1500) < 900, 2.5, 2.4))
    vector = np.array([2.2, 2.0, 0.02, 0.05, 0.04, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    geared = GearRollout([recording], firmware=model.firmware, substeps=2).positions(vector)[0]
    plain = Rollout([recording], model.firmware, RolloutSettings(dt=1e-3, substeps=2))
    expected = plain.positions(parameter_vector(model))[0][::TRACE_STEPS]
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(geared, expected, atol=1e-4)


def test_the_library_s_feetech_servos_have_the_registers_defaults():
    for name in ("sts3215", "sts3250"):
        protection = load_servo(name).firmware.protection
        assert protection == OverloadProtection(threshold=0.8, time=2.0, limit=0.2)
