# SPDX-License-Identifier: Apache-2.0
"""Torques of a drive that the model does not know of, along motions made of given numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bam_core.identification.misfit.drive_causes import drive_causes
from bam_core.servo.motor import WINDING_COOLING_TIME
from test.core.misfit_cases import columns, motion


def of(kind: str, **given: Any) -> list[np.ndarray]:
    return columns(drive_causes(), kind, motion(**given))


def test_a_dead_band_takes_torque_from_all_errors_or_from_small_ones() -> None:
    error = np.array([0.002, -0.002, 0.009, 0.013, -0.013, 0.015, 0.2])
    found = of("dead_band", time=np.arange(7.0), error=error, gain=np.full(7, 5.0))
    taken, inside, edge = found[6:9]  # of the band of 12 mrad
    np.testing.assert_allclose(taken, -5.0 * np.array([0.002, -0.002, 0.009, 0.012, -0.012, 0.012, 0.012]))
    np.testing.assert_allclose(inside, -5.0 * np.array([0.002, -0.002, 0.009, 0.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(edge, -5.0 * np.array([0.0, 0.0, 0.0, 0.013, -0.013, 0.0, 0.0]))
    assert len(found) == 3 * 5


def test_a_slewed_goal_pulls_less_until_it_has_arrived() -> None:
    steps, dt = 400, 1e-2
    goal = np.r_[0.0, np.full(steps - 1, 1.0)]
    position = np.full(steps, 0.25)
    found = of(
        "goal_slew",
        time=dt * np.arange(steps),
        goal=goal,
        error=goal - position,
        dt=dt,
        duty=0.5 * (goal - position),
        duty_per_error=0.5,
        full=np.full(steps, 8.0),
    )
    slewed = np.minimum(0.5 * dt * np.arange(steps), 1.0)  # at 0.5 rad/s
    np.testing.assert_allclose(found[0], 8.0 * 0.5 * (slewed - goal), atol=1e-9)
    assert len(found) == 9


def test_a_late_goal_is_the_earlier_one_within_the_limit_of_the_duty() -> None:
    time = 1e-3 * np.arange(100)
    goal = 4.0 * time
    found = of(
        "command_delay",
        time=time,
        goal=goal,
        error=goal,
        duty=np.minimum(20.0 * goal, 1.0),
        duty_per_error=20.0,
        full=np.full(100, 3.0),
    )
    late = np.minimum(20.0 * np.maximum(goal - 4.0 * 0.01, 0.0), 1.0)
    np.testing.assert_allclose(found[2], 3.0 * (late - np.minimum(20.0 * goal, 1.0)), atol=1e-9)
    assert len(found) == 5


def test_a_gain_changes_with_the_error_or_near_zero() -> None:
    error, gain = np.array([0.02, -0.05]), np.array([5.0, 4.0])
    expected = [
        gain * error * np.abs(error),
        *(gain * error * np.exp(-np.abs(error) / s) for s in (0.01, 0.03)),
    ]
    np.testing.assert_allclose(of("gain_curve", time=[0.0, 1.0], error=error, gain=gain), expected)


def test_saturation_takes_torque_with_its_square() -> None:
    np.testing.assert_allclose(of("torque_saturation", time=[0.0, 1.0], motor=[2.0, -3.0]), [[-4.0, 9.0]])


def test_heat_gathers_and_leaves_with_the_time_constant_of_the_winding() -> None:
    steps, dt = 2000, 0.05
    loss = np.where(np.arange(steps) < 500, 2.0, 0.0)
    (found,) = of("winding_heating", time=dt * np.arange(steps), loss=loss, motor=np.full(steps, 1.5), dt=dt)
    assert found[0] == 0.0
    tau = WINDING_COOLING_TIME
    full = 2.0 * tau * (1.0 - math.exp(-500 * dt / tau))
    assert -found[500] / 1.5 == pytest.approx(full, rel=0.05)
    assert found[1999] / found[500] == pytest.approx(math.exp(-1499 * dt / tau), rel=1e-6)


def test_a_shortfall_is_of_full_torque_where_it_is_limited() -> None:
    found = of(
        "limit_shortfall",
        time=np.arange(3.0),
        full=[4.0, 4.0, 4.0],
        duty=[1.0, -1.0, 0.5],
        limited=[1.0, 1.0, 0.0],
    )
    np.testing.assert_allclose(found, [[-4.0, 4.0, 0.0]])


def test_an_old_position_is_ten_milliseconds_behind() -> None:
    found = of("sensor_delay", time=[0.0, 1.0], gain=[5.0, 4.0], velocity=[2.0, -1.0])
    np.testing.assert_allclose(found, [[0.1, -0.04]])


def test_coasting_takes_back_emf_away_while_the_bridge_is_open() -> None:
    found = of(
        "bridge_coasting",
        time=[0.0, 1.0],
        back_emf=[0.5, 0.5],
        duty=[0.25, -0.75],
        velocity=[2.0, -2.0],
    )
    np.testing.assert_allclose(found, [[0.75, -0.25]])


def test_a_regulated_current_takes_all_back_emf_away() -> None:
    found = of("current_law", time=[0.0, 1.0], back_emf=[0.5, 0.4], duty=[0.25, -0.75], velocity=[2.0, -2.0])
    np.testing.assert_allclose(found, [[1.0, -0.8]])


def test_without_a_controller_none_of_its_causes_is_there() -> None:
    alone = {cause.kind for cause in drive_causes(controlled=False)}
    assert alone == {"command_delay", "torque_saturation", "bridge_coasting", "winding_heating"}
    assert alone < {cause.kind for cause in drive_causes()}
