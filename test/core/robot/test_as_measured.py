# SPDX-License-Identifier: Apache-2.0
"""One joint at a time by its servo, the others as measured."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from bam_core.robot.as_measured import measured_path, move_as_measured
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.simulation import RobotBench
from test.core.whole_robot_cases import JOINTS, arm, bench, goals, servos


def test_joints_go_through_their_measured_positions_whatever_acts_on_them() -> None:
    spec = arm()
    spec.option.timestep = 1e-3
    model = spec.compile()
    data = mujoco.MjData(model)
    time = 1e-3 * np.arange(3001)
    path = 0.8 * np.stack([1.0 - np.cos(3.0 * time), np.cos(5.0 * time) - 1.0], axis=1)
    forces = move_as_measured(model, JOINTS, path)
    seen = [data.qpos.copy()]
    for force in forces:
        data.qfrc_applied[:] = force
        mujoco.mj_step(model, data)
        seen.append(data.qpos.copy())
    assert np.abs(np.array(seen) - path).max() < 1e-4  # under gravity of up to 3 N·m


def test_counts_and_jitter_do_not_reach_the_accelerations() -> None:
    time = np.arange(0.0, 4.0, 0.01)
    clean = (0.5 * np.sin(2.0 * np.pi * 0.7 * time))[:, None]
    counts = np.round(clean / 1.5e-3) * 1.5e-3
    fine = np.arange(0.5, 3.5, 1e-3)
    path = measured_path(fine, time, counts)[:, 0]
    true = 0.5 * np.sin(2.0 * np.pi * 0.7 * fine)
    assert np.abs(path - true).max() < 1e-3
    acceleration = np.diff(path, 2) / 1e-6
    assert np.abs(acceleration - np.diff(true, 2) / 1e-6).max() < 4.0  # 15 rad/s² are a count in 10 ms


@pytest.fixture(scope="module")
def whole() -> np.ndarray:
    return bench().simulate(goals(), servos())


def test_both_ways_agree_where_the_measurement_is_what_the_servos_do(whole: np.ndarray) -> None:
    run = replace(goals(), position=whole)
    alone = RobotBench.make(arm(), "fixed", others="measured").simulate(run, servos())
    assert np.abs(alone - whole).mean() < 1e-3
    assert np.ptp(whole[:, 0]) > 0.5  # it does move


def test_a_joint_that_errs_does_not_mislead_the_others(whole: np.ndarray) -> None:
    run = replace(goals(), position=whole)
    weak = RobotDeviations(strength={"shoulder": -0.3})
    alone = RobotBench.make(arm(), "fixed", others="measured").simulate(run, servos(), weak)
    together = bench().simulate(run, servos(), weak)
    errors = [np.abs(each - whole).mean(axis=0) for each in (alone, together)]
    assert errors[0][0] > 3e-3  # the shoulder itself
    assert errors[0][1] < 0.5 * errors[1][1]  # the elbow
