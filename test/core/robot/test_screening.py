# SPDX-License-Identifier: Apache-2.0
"""Runs of a robot get the checks of bench logs: what cannot be right takes no part, joint by joint."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bam_core.errors import BadData, Missing
from bam_core.recordings.recording_map import RecordingMap
from bam_core.robot.checked_validation import validate_robot
from bam_core.robot.gaps import SETTLING
from bam_core.robot.run import RobotRun
from bam_core.robot.run_findings import run_findings
from bam_core.robot.screening import screened_run
from bam_core.text.left_out import Reason
from bam_core.text.robot_run_findings import CountedTurns, RunLeftOut
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, bench, recorded, servos


@pytest.fixture(scope="module")
def clean() -> RobotRun:
    return recorded(servos("m1"), duration=4.0)


def screened(clean: RobotRun, position: np.ndarray, **changed: object) -> RobotRun:
    fields = {"time": clean.time, "goal_position": clean.goal_position, "position": position, **changed}
    settings = {"kp": clean.kp, "supply_voltage": clean.supply_voltage}
    return screened_run(name="run", joints=clean.joints, **fields, **settings)


def error(run: RobotRun) -> float:
    return validate_robot(bench(), [run], JOINTS, servos("m1")).mae


def test_a_clean_run_stays_as_it_is(clean: RobotRun) -> None:
    run = screened(clean, clean.position)
    assert np.array_equal(run.position, clean.position)
    assert run.compared(JOINTS).all()
    assert not run.left_out
    assert not list(run_findings([run]))


def test_failed_reads_are_left_out_of_every_joint_even_near_its_zero(clean: RobotRun) -> None:
    far = np.abs(clean.position[:, 0]) > 0.3
    here = np.flatnonzero(far & (np.abs(clean.position[:, 1]) < 0.05))[7]  # only the other joint shows it
    position = clean.position.copy()
    position[[150, here]] = 0.0
    run = screened(clean, position)
    assert not run.is_sound[[150, here]].any()
    assert error(run) == pytest.approx(error(clean), rel=0.05)


def test_a_spike_of_one_joint_costs_the_other_joint_nothing(clean: RobotRun) -> None:
    position = clean.position.copy()
    position[80, 1] += 0.9
    run = screened(clean, position)
    assert not run.is_sound[80, 1]
    assert run.is_sound[:, 0].all()
    assert run.left_out.keys() == {"elbow"}
    assert run.position[80, 1] == pytest.approx(clean.position[80, 1], abs=0.01)
    assert error(run) == pytest.approx(error(clean), rel=0.05)


def test_readings_that_freeze_in_motion_are_left_out_and_simulations_begin_anew(clean: RobotRun) -> None:
    fastest = int(np.argmax(np.abs(np.diff(clean.position[100:200, 0])))) + 100
    position = clean.position.copy()
    position[fastest : fastest + 60] = position[fastest]
    run = screened(clean, position)
    assert run.left_out["shoulder"][0].kind is Reason.FROZEN
    (row,) = run.restarts
    assert row == fastest + 60
    assert not run.counts[row : row + round(SETTLING / 0.01)].any()
    assert error(run) == pytest.approx(error(clean), rel=0.25)
    (finding,) = run_findings([run])
    assert isinstance(finding, RunLeftOut)
    assert finding.gaps == ((pytest.approx(clean.time[fastest]), pytest.approx(clean.time[row])),)


def test_behind_a_gap_a_simulation_begins_anew_in_the_measured_state(clean: RobotRun) -> None:
    kept = np.r_[0:120, 200 : len(clean.time)]
    run = screened(
        clean, clean.position[kept], time=clean.time[kept], goal_position=clean.goal_position[kept]
    )
    assert run.restarts.tolist() == [120]
    simulated = bench().simulate(run, servos("m1"))
    assert np.abs(simulated - run.position)[run.counts].max() < 5e-3
    assert error(run) == pytest.approx(error(clean), rel=0.25)
    held = clean.goal_position.copy()
    held[120:200] = held[119]
    wrong = screened(clean, clean.position, goal_position=held)
    assert error(wrong) > 10.0 * error(run)


def test_readings_over_whole_turns_are_counted_on(clean: RobotRun) -> None:
    shift = math.pi - float(np.median(clean.position[:, 1]))
    goal, position = clean.goal_position.copy(), clean.position.copy()
    goal[:, 1] += shift
    position[:, 1] = np.mod(position[:, 1] + shift + math.pi, 2.0 * math.pi) - math.pi
    run = screened(clean, position, goal_position=goal)
    assert run.wraps["elbow"] >= 1
    assert np.ptp(run.position[:, 1]) == pytest.approx(np.ptp(clean.position[:, 1]))
    off = np.median(run.position[:, 1] - run.goal_position[:, 1])
    assert abs(off) < 0.5
    assert isinstance(next(iter(run_findings([run]))), CountedTurns)


def test_a_joint_whose_zero_jumps_keeps_the_part_that_is_near_its_goals(clean: RobotRun) -> None:
    position = clean.position.copy()
    position[250:, 0] += 0.8
    run = screened(clean, position)
    assert run.left_out["shoulder"][-1].kind is Reason.OTHER_ZERO
    assert run.is_sound[:250, 0].all()
    assert not run.is_sound[250:, 0].any()
    assert run.is_sound[:, 1].all()


@pytest.mark.parametrize(("amplitude", "is_clipped"), [(0.6, True), (0.35, False)])
def test_readings_at_one_end_are_left_out_where_goals_move_on(
    clean: RobotRun, amplitude: float, is_clipped: bool
) -> None:
    phase = 4.0 * (clean.time - clean.time[0])
    position, goal = clean.position.copy(), clean.goal_position.copy()
    goal[:, 0], position[:, 0] = amplitude * np.sin(phase), np.minimum(amplitude * np.sin(phase - 0.2), 0.3)
    run = screened(clean, position, goal_position=goal)
    kinds = [part.kind for part in run.left_out.get("shoulder", ())]
    assert (Reason.AT_END in kinds) == is_clipped
    beyond = (position[:, 0] == 0.3) & (goal[:, 0] > 0.3)
    assert run.is_sound[beyond, 0].all() != is_clipped
    assert run.is_sound[position[:, 0] < 0.3, 0].all()


def test_numbers_that_are_missing_are_left_out_and_goals_are_held(clean: RobotRun) -> None:
    position, goal = clean.position.copy(), clean.goal_position.copy()
    position[50:53, 0] = np.nan
    goal[:2] = np.nan
    goal[70, 1] = np.nan
    run = screened(clean, position, goal_position=goal)
    assert len(run.time) == len(clean.time) - 2
    assert run.left_out["shoulder"][0].kind is Reason.MISSING
    assert run.goal_position[68, 1] == clean.goal_position[69, 1]
    goal[100:, 1] = np.nan
    with refused(Missing, thing="run, goal_position of 'elbow', sample 100"):
        screened(clean, clean.position, goal_position=goal)


def test_samples_that_were_written_twice_are_one(clean: RobotRun) -> None:
    twice = np.sort(np.r_[np.arange(len(clean.time)), 30, 31])
    run = screened(
        clean, clean.position[twice], time=clean.time[twice], goal_position=clean.goal_position[twice]
    )
    assert np.array_equal(run.position, clean.position)


def test_a_run_with_too_little_left_is_refused_with_joint_and_reason(clean: RobotRun) -> None:
    position = clean.position.copy()
    position[20:260, 1] = np.nan
    with refused(BadData, thing="run, position of 'elbow'") as caught:
        screened(clean, position)
    assert "240 of" in caught.value.problem


def test_degrees_with_few_decimals_are_no_fault_of_the_encoder(clean: RobotRun) -> None:
    position, goals = (
        np.round(np.degrees(values[::8]), 2) for values in (clean.position, clean.goal_position)
    )
    with refused(BadData, thing="run, goal_position"):
        screened(clean, position, goal_position=goals, time=clean.time[::8])


@pytest.mark.parametrize("recorded_unit", ["rad", "deg"])
@pytest.mark.parametrize("declared", ["rad", "deg"])
def test_what_counts_show_is_held_against_the_declared_unit(
    clean: RobotRun, recorded_unit: str, declared: str
) -> None:
    count = 2.0 * np.pi / 4096 if recorded_unit == "rad" else 360.0 / 4096
    position = count * np.round(clean.position / (2.0 * np.pi / 4096))
    goals = clean.goal_position * (180.0 / np.pi if recorded_unit == "deg" else 1.0)
    recording_map = RecordingMap(unit=declared)
    if recorded_unit == declared:
        run = screened(clean, position, goal_position=goals, recording_map=recording_map)
        np.testing.assert_allclose(run.position, clean.position, atol=1e-3)
        return
    with refused(BadData, thing="run, position of 'shoulder'"):
        screened(clean, position, goal_position=goals, recording_map=recording_map)
