# SPDX-License-Identifier: Apache-2.0
"""Simulations of a robot that start anew from measured states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import OutOfRange
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.restarts import LEAD, pieces, start_states
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from test.core.whole_robot_cases import JOINTS, arm, bench, recorded, servos

HORIZON = 0.7


@pytest.fixture(scope="module")
def run() -> RobotRun:
    return recorded(servos("m1"), duration=3.0, deviations=RobotDeviations(zero={"elbow": 0.05}))


def errors(found: np.ndarray, run: RobotRun) -> np.ndarray:
    return np.abs(found - run.position).mean(axis=0)


def test_pieces_count_every_step_once_and_begin_a_little_earlier() -> None:
    times = -0.5 + 4e-3 * np.arange(1001)
    parts = pieces(times, 0.0, HORIZON)
    assert parts[0].start == 0
    assert times[parts[0].counts] == pytest.approx(0.0)
    assert [part.end for part in parts[:-1]] == [part.counts for part in parts[1:]]
    assert parts[-1].end == len(times) - 1
    for part in parts[1:]:
        assert times[part.counts] - times[part.start] == pytest.approx(LEAD)
    assert times[parts[1].counts] - times[parts[0].counts] == pytest.approx(HORIZON)


def test_states_are_what_was_measured_and_how_fast_it_changed(run: RobotRun) -> None:
    at = np.arange(0.3, 2.8, 0.1)
    position, speed = start_states(run, servos(), at)
    clean = bench().trace(
        replace(run, position=run.position), servos("m1"), RobotDeviations(zero={"elbow": 0.05})
    )
    for column in range(len(JOINTS)):
        true = np.interp(at, clean.time, clean.speed[:, column])
        assert np.abs(position[:, column] - np.interp(at, run.time, run.position[:, column])).max() < 1e-9
        assert np.abs(speed[:, column] - true).mean() < 0.05
        assert np.abs(true).mean() > 0.3


def test_with_the_true_servos_pieces_follow_within_encoder_counts(run: RobotRun) -> None:
    zero = RobotDeviations(zero={"elbow": 0.05})
    found = bench().restarted(HORIZON).simulate(run, servos("m1"), zero)
    assert errors(found, run).max() < 1.5e-3
    assert np.abs(found - run.position).max() < 12e-3  # a start without the velocity is 40 mrad off


def test_pieces_begin_at_measured_positions(run: RobotRun) -> None:
    wrong = RobotDeviations(zero={"elbow": 0.05, "shoulder": -0.05}, strength={"shoulder": -0.4})
    at_once = replace(bench().restarted(HORIZON), restart_lead=0.0)
    found = at_once.simulate(run, servos("m1"), wrong)
    starts = np.searchsorted(run.time, HORIZON * np.arange(1, 5))
    assert np.abs(found - run.position)[starts].max() < 2e-3
    assert np.abs(found - run.position).max() > 0.03


def test_a_joint_that_sticks_elsewhere_is_back_at_the_next_start(run: RobotRun) -> None:
    stuck = servos("m1")
    stuck["elbow"] = replace(stuck["elbow"], friction=replace(stuck["elbow"].friction, coulomb=50.0))
    whole, short = (each.simulate(run, stuck) for each in (bench(), bench().restarted(HORIZON)))
    assert np.ptp(whole[:, 1]) < 1e-3
    assert errors(short, run)[1] < 0.7 * errors(whole, run)[1]
    second = np.searchsorted(run.time, HORIZON)
    assert short[second, 1] == pytest.approx(run.position[second - round(LEAD / 0.01), 1], abs=0.02)


def test_where_no_state_is_measured_nothing_starts_anew() -> None:
    spec = arm()
    spec.delete(spec.joint("shoulder"))
    spec.body("upper").add_freejoint()
    free = RobotBench.make(spec, "free")
    assert free.restarted(HORIZON) is free
    alone = RobotBench.make(arm(), "fixed", others="measured")
    assert alone.restarted(HORIZON) is alone
    with pytest.raises(OutOfRange, match="horizon"):
        bench().restarted(0.0)
