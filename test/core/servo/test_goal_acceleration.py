# SPDX-License-Identifier: Apache-2.0
"""Set-points of limited acceleration: one law in every executor, and what a profile must keep."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from bam_core.errors import OutOfRange
from bam_core.gears.rollout import GEAR_PARAMETERS, GearRollout
from bam_core.mujoco import simulate_recording
from bam_core.servo.effects import BenchEffects
from bam_core.servo.firmware import followed, profiled
from bam_core.servo.firmware_library import FIRMWARES, firmware_fields, firmware_from_fields
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import ServoModel
from bam_core.simulation.law import profiled as compiled_profiled
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from test.core.physics_cases import law, random_run, reference_positions, run, servo
from test.core.refusals import refused

LIMIT = 38.6  # rad/s²: LeRobot's register 41 of 254
STS = dataclasses.replace(
    servo(law("m4"), model="m4"),
    firmware=dataclasses.replace(FIRMWARES["feetech-sts"], goal_acceleration_limit=LIMIT),
)
CASES = {
    "no speed limit": dataclasses.replace(
        servo(), firmware=dataclasses.replace(FIRMWARES["mx-protocol1"], goal_acceleration_limit=LIMIT)
    ),
    "shaped, slewed and protected": STS,
}
TIME = 1e-3


def path_to(goals: np.ndarray, *, fastest: float = 4.8, acceleration: float = LIMIT) -> np.ndarray:
    """Return (n, 2) set-points and their speeds, from rest at 0 on."""
    point = speed = 0.0
    rows = []
    for goal in goals:
        point, speed = profiled(point, speed, goal, time=TIME, fastest=fastest, acceleration=acceleration)
        rows.append((point, speed))
    return np.array(rows)


def wandering_goals(seed: int = 0) -> np.ndarray:
    """Return goals that jump at 30 Hz, and stay at the end."""
    random = np.random.default_rng(seed)
    return np.append(np.repeat(np.cumsum(random.normal(0.0, 0.1, 60)), 33), np.full(1000, 0.4))


def test_a_goal_far_away_is_reached_by_a_trapezoid_of_speed() -> None:
    path = path_to(np.full(1000, 2.0))
    expected = 2.0 / 4.8 + 4.8 / LIMIT  # way at full speed, and once the time of acceleration
    arrival = np.flatnonzero(path[:, 0] == 2.0)[0] * TIME
    assert arrival == pytest.approx(expected, abs=3 * TIME)
    assert path[:, 1].max() == pytest.approx(4.8)
    assert path[:, 0].max() == 2.0


def test_a_near_goal_is_reached_by_a_triangle() -> None:
    path = path_to(np.full(400, 0.1))
    assert np.flatnonzero(path[:, 0] == 0.1)[0] * TIME == pytest.approx(
        2.0 * math.sqrt(0.1 / LIMIT), abs=3 * TIME
    )
    assert path[:, 0].max() == 0.1


@pytest.mark.parametrize("fastest", [4.8, math.inf])
def test_no_goals_accelerate_a_set_point_more_than_the_limit(fastest: float) -> None:
    path = path_to(wandering_goals(), fastest=fastest)
    speeds = np.diff(path[:, 0], prepend=0.0) / TIME
    assert np.abs(speeds).max() <= fastest * (1.0 + 1e-9)
    changes = np.abs(np.diff(speeds, prepend=0.0)) / TIME
    assert changes.max() <= 2.0 * LIMIT  # the last way to the goal may be shorter than a period's
    assert np.quantile(changes, 0.95) <= LIMIT * (1.0 + 1e-6)
    assert path[-1, 0] == 0.4
    assert path[-1, 1] == 0.0


def test_a_goal_that_moves_against_the_set_point_is_passed() -> None:
    goals = np.full(800, 1.0)
    goals[150:] = path_to(goals)[149, 0] + 1e-3
    path = path_to(goals)
    assert path[:, 0].max() > goals[150] + 0.1
    assert path[-1, 0] == goals[150]


def test_a_large_limit_comes_to_the_set_point_that_is_followed() -> None:
    goals = wandering_goals()
    point, points = 0.0, []
    for goal in goals:
        point = followed(point, goal, 4.8 * TIME)
        points.append(point)
    errors = [np.abs(path_to(goals, acceleration=limit)[:, 0] - points).max() for limit in (1e2, 1e3, 1e4)]
    assert errors[0] > 4.0 * errors[1]
    assert errors[2] == 0.0  # a period is enough to turn round at full speed
    assert np.array_equal(path_to(goals, acceleration=math.inf)[:, 0], points)


def test_the_compiled_profile_is_the_specification() -> None:
    for limit in (LIMIT, 1e4):
        point = speed = 0.0
        for goal, (expected, expected_speed) in zip(
            wandering_goals(1), path_to(wandering_goals(1), acceleration=limit), strict=True
        ):
            point, speed = compiled_profiled(point, speed, goal, TIME, 4.8, limit)
            assert point == pytest.approx(expected, abs=1e-12)
            assert speed == pytest.approx(expected_speed, abs=1e-9)
    assert compiled_profiled(0.1, 3.0, 1.0, TIME, 4.8, 0.0) == (pytest.approx(0.1048), 0.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("periods", [1, 3])
def test_the_kernel_is_the_reference(case: str, integrator: str, periods: int) -> None:
    """Steps of several periods of the firmware take the mean of their set-points."""
    model = dataclasses.replace(CASES[case], integrator=integrator)
    recordings = [random_run(seed, 1e-3 * periods) for seed in range(3)]
    settings = RolloutSettings(
        substeps=4, periods=periods, integrator=integrator, quadratic_rule=model.friction.quadratic_rule
    )
    rollout = Rollout(recordings, model.firmware, settings)
    bench_effects = BenchEffects(zero_offset=0.03)
    positions = rollout.positions(parameter_vector(model, bench_effects))
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, model, recording, index, 4, bench_effects)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


def limited(model: ServoModel, limit: float = math.inf) -> ServoModel:
    return dataclasses.replace(
        model, firmware=dataclasses.replace(model.firmware, goal_acceleration_limit=limit)
    )


@pytest.mark.parametrize("case", CASES)
def test_mujoco_moves_like_the_kernel(case: str) -> None:
    model = CASES[case]
    recording = random_run(1, 2e-3)
    recording = dataclasses.replace(recording, goal_position=0.3 * np.sign(np.sin(6.0 * recording.time)))
    ours = simulate_recording(model, recording, dt=2.5e-4)
    kernel = Rollout.for_servo([recording], model).positions(parameter_vector(model))[0]
    without = Rollout.for_servo([recording], limited(model)).positions(parameter_vector(model))[0]
    effect = np.abs(without - kernel).mean()
    assert effect > 1e-3
    assert np.abs(ours - kernel).mean() < 0.05 * effect


def test_a_gear_rollout_has_it_too() -> None:
    """A gear whose sides are alike and lossless is the kernel with friction that knows no load."""
    model = dataclasses.replace(servo(law("m1"), model="m1"), firmware=CASES["no speed limit"].firmware)
    recording = random_run(2, 2e-3)
    vector = parameter_vector(model)
    plain = [vector[PARAMETERS.index(name)] for name in GEAR_PARAMETERS[:8]]
    geared = np.array([*plain, *np.zeros(len(GEAR_PARAMETERS) - 8)])
    changes = []
    for errors in (
        lambda firmware: GearRollout([recording], firmware=firmware).errors(geared)[0],
        lambda firmware: Rollout([recording], firmware).errors(vector)[0],
    ):
        changes.append(errors(model.firmware) - errors(limited(model).firmware))
    assert abs(changes[1]) > 1e-3
    assert changes[0] == pytest.approx(changes[1], rel=0.1)


def test_a_recording_says_which_limit_was_in_force() -> None:
    recording = random_run(3, 2e-3)
    for acceleration, model in ((None, STS), (0.0, limited(STS)), (20.0, limited(STS, 20.0))):
        told = dataclasses.replace(recording, goal_acceleration=acceleration)
        for simulate in (
            lambda one, of: Rollout.for_servo([of], one).positions(parameter_vector(one))[0],
            lambda one, of: simulate_recording(one, of),
        ):
            assert np.array_equal(simulate(STS, told), simulate(model, recording))


def test_set_points_before_a_simulation_are_those_within_it() -> None:
    """Long steps take the means of set-points that were computed before; short ones compute them."""
    time = np.arange(400) * 1e-2
    recording = run(time, np.repeat(np.random.default_rng(4).normal(0.0, 0.3, 100), 4))
    exact = Rollout([recording], STS.firmware)
    long = Rollout([recording], STS.firmware, RolloutSettings(periods=5, slew_first=True))
    vector = parameter_vector(STS)
    np.testing.assert_allclose(long.positions(vector)[0], exact.positions(vector)[0], atol=1e-3)


def test_torque_that_comes_on_starts_the_set_point_at_rest_where_the_servo_is() -> None:
    time = np.arange(600) * 2e-3
    enabled = (time < 0.2) | (time > 0.6)
    recording = run(time, 1.0, position=0.0, enabled=enabled, kp=32.0)
    free = limited(STS)
    paths = {
        name: Rollout.for_servo([recording], one).positions(parameter_vector(one))[0]
        for name, one in (("limited", STS), ("free", free))
    }
    after = (time > 0.6) & (time < 0.66)
    fastest = {name: np.diff(path[after]).max() for name, path in paths.items()}
    assert 0.0 < fastest["limited"] < 0.5 * fastest["free"]


def test_a_servo_file_keeps_it() -> None:
    fields = firmware_fields(STS.firmware)
    assert fields["goal_acceleration_limit"] == LIMIT
    assert firmware_from_fields("x", fields).goal_acceleration_limit == LIMIT
    assert "goal_acceleration_limit" not in firmware_fields(FIRMWARES["feetech-sts"])
    with refused(OutOfRange, thing="firmware 'feetech-sts' goal_acceleration_limit"):
        dataclasses.replace(STS.firmware, goal_acceleration_limit=0.0)
    for wrong in (-1.0, math.nan, math.inf):
        with refused(OutOfRange, thing="recording, goal_acceleration"):
            dataclasses.replace(random_run(0, 2e-3), goal_acceleration=wrong)
