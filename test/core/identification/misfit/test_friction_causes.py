# SPDX-License-Identifier: Apache-2.0
"""Torques of friction that M1-M6 lack, along motions of two steps: forth at 3 rad/s and back at 4 rad/s."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.misfit.friction_causes import friction_causes
from test.core.misfit_cases import columns, motion

VELOCITY = np.array([3.0, -4.0])
SPEED = np.abs(VELOCITY)
ALONG = VELOCITY / np.hypot(VELOCITY, 0.03)
BUDGET = np.array([0.5, 0.25])
MOVED = motion(
    time=[0.0, 2.0],
    velocity=VELOCITY,
    position=[0.1, -0.2],
    budget=BUDGET,
    temperature_rise=15.0,
    motor=[-2.0, 0.7],
    gravity=[-1.5, -1.2],
    acceleration=[10.0, -20.0],
    bench_inertia=0.03,
)
WAVES = np.array([0.1, -0.2])


def of(kind: str) -> list[np.ndarray]:
    return columns(friction_causes(), kind, MOVED)


def test_direction_is_a_torque_to_one_side_whichever_way_the_arm_moves() -> None:
    both = np.abs(ALONG)
    np.testing.assert_allclose(of("direction_asymmetry"), [both, BUDGET * both, both, SPEED])


def test_ripple_is_a_wave_over_the_angle() -> None:
    found = of("torque_ripple")
    assert len(found) == 2 * 58
    for n in (3, 17, 60):
        np.testing.assert_allclose(found[2 * (n - 3)], np.cos(n * WAVES))
        np.testing.assert_allclose(found[2 * (n - 3) + 1], np.sin(n * WAVES))


def test_friction_over_angle_brakes_by_a_wave() -> None:
    found = of("friction_over_angle")
    assert len(found) == 2 * 24
    for n in (1, 24):
        np.testing.assert_allclose(found[2 * n - 2], -ALONG * np.cos(n * WAVES))
        np.testing.assert_allclose(found[2 * n - 1], -ALONG * np.sin(n * WAVES))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_presliding_is_the_friction_that_is_not_there_yet_after_a_start(sign: float) -> None:
    steps, dt, speed = 200, 1e-3, 2.0
    moved = motion(
        time=dt * np.arange(steps),
        velocity=np.full(steps, sign * speed),
        budget=np.full(steps, 0.4),
        dt=dt,
    )
    for way, found in zip(
        (0.003, 0.006, 0.012, 0.025, 0.05, 0.1), columns(friction_causes(), "presliding", moved), strict=True
    ):
        strain = 1.0 - (1.0 + speed * dt / way) ** -np.arange(steps)
        np.testing.assert_allclose(found, sign * 0.4 * (speed / np.hypot(speed, 0.03) - strain), atol=1e-12)


def test_drift_changes_friction_over_the_run() -> None:
    braking = -ALONG * BUDGET
    expected = [
        braking * shape for shape in ([0.0, 1.0], *([1.0, np.exp(-2.0 / fade)] for fade in (0.5, 1.5, 4.0)))
    ]
    np.testing.assert_allclose(of("friction_drift"), expected)


def test_temperature_is_friction_per_ten_kelvin() -> None:
    np.testing.assert_allclose(of("friction_temperature"), [-ALONG * BUDGET * 1.5])


def test_velocity_is_the_square_and_what_fades() -> None:
    fades = [-ALONG * np.exp(-SPEED / fade) for fade in (0.05, 0.2, 0.8)]
    np.testing.assert_allclose(of("friction_over_velocity"), [-ALONG * SPEED**2, *fades])


def test_load_is_of_motor_and_gravity_and_of_lifting_alone() -> None:
    motor, gravity, lifting = np.array([2.0, 0.7]), np.array([1.5, 1.2]), np.array([1.0, 0.0])
    shapes = (motor, gravity, motor**2, gravity**2, lifting * motor, lifting * gravity)
    np.testing.assert_allclose(of("friction_over_load"), [-ALONG * shape for shape in shapes])


def test_load_inertia_is_what_acceleration_adds_to_the_load() -> None:
    # 0.03 kg·m² at 10 rad/s² adds 0.3 to 1.5 N·m; at -20 rad/s² it takes 0.6 from 1.2 N·m.
    np.testing.assert_allclose(of("load_inertia"), [-ALONG * [0.3, -0.6]])
