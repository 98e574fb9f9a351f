# SPDX-License-Identifier: Apache-2.0
"""Runs that begin with a jump of their goals, as episodes of a teleoperated arm do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.robot.deviations import NO_DEVIATIONS
from bam_core.robot.gaps import SETTLING
from bam_core.robot.joint_rollout import JointRollout
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from test.core.whole_robot_cases import JOINTS, arm, bench, goals, servos

JUMP = np.array([0.5, -0.3])  # rad
AT = 80  # sample
KP = 32.0


def run_with_jump() -> RobotRun:
    """Return a simulated run whose arm rests, and whose goals jump, and move on from there."""
    plain = goals(4.0)
    goal = plain.goal_position + JUMP
    goal[:AT] = goal[AT] - JUMP
    run = replace(plain, goal_position=goal, position=np.tile(goal[0], (len(goal), 1)), kp=KP)
    return replace(run, position=bench().simulate(run, servos()))


def from_row(run: RobotRun, row: int) -> RobotRun:
    """Return a run without its first rows."""
    return replace(
        run, time=run.time[row:], goal_position=run.goal_position[row:], position=run.position[row:]
    )


@pytest.fixture(scope="module")
def whole() -> RobotRun:
    return run_with_jump()


def test_an_episode_that_begins_with_a_jump_is_simulated_from_where_the_arm_was(whole: RobotRun) -> None:
    episode = from_row(whole, AT)
    assert np.allclose(episode.goal_before, episode.position[0])
    simulated = bench().simulate(episode, servos())
    assert np.abs(simulated - episode.position)[episode.counts].mean() < 0.5e-3
    # Not as if it had rested at its first goal: the jump itself is simulated.
    assert np.abs(simulated - episode.position)[:30].mean() < 0.1 * np.abs(JUMP).mean()


def test_one_joint_at_a_time_begins_there_too(whole: RobotRun) -> None:
    episode = from_row(whole, AT)
    one = {"shoulder": servos()["shoulder"]}
    model = RobotBench.make(arm(), "fixed", step=1e-3).compiled(episode, servos())
    rollout = JointRollout(model, episode, one, [], step=1e-3, table={})
    (simulated,) = rollout.positions([one], [NO_DEVIATIONS])[:, :, 0]
    error = np.abs(simulated - episode.position[:, 0])
    assert error[episode.counts].mean() < 0.5e-3
    assert error[:30].mean() < 0.1 * np.abs(JUMP).mean()


def test_what_follows_a_jump_does_not_count_at_once(whole: RobotRun) -> None:
    episode = from_row(whole, AT)
    assert not episode.counts[episode.time < episode.time[0] + SETTLING].any()
    assert episode.counts[episode.time >= episode.time[0] + SETTLING].all()


def test_a_run_that_rests_below_its_first_goal_counts_from_its_start(whole: RobotRun) -> None:
    """Gravity pulls a resting arm off its goals; it begins there, and stays."""
    resting = from_row(whole, AT // 2)
    sagging = replace(resting, position=resting.position - 0.1)
    for run in (resting, sagging):
        assert run.counts.all()
        assert np.array_equal(run.goal_before, run.goal_position[0])


def test_goals_that_move_on_at_once_are_no_jump() -> None:
    """An arm that rests off its goal follows it, and comes no nearer."""
    run = goals(3.0)
    time = run.time[:, None]
    goal = np.array([0.1, 0.1]) + np.minimum(time, 1.0)
    moved = replace(run, goal_position=goal, position=goal - 0.1)
    assert moved.counts.all()
    assert np.array_equal(moved.goal_before, goal[0])
    assert moved.joints == JOINTS
