# SPDX-License-Identifier: Apache-2.0
"""The table of a real SO-101: its split, the description's own actuators, and its rows."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from studies.so101.__main__ import main
from studies.so101.described import DescribedArm
from studies.so101.split import TEST, TRAIN
from studies.so101.table import Arm, text, validated, ways
from test.core.whole_robot_cases import JOINTS, arm, goals


def _described() -> mujoco.MjSpec:
    spec = arm()
    for joint in JOINTS:
        spec.joint(joint).damping[0] = 2.0
        actuator = spec.add_actuator(
            name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT, gainprm=[50.0, *[0.0] * 9]
        )
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        actuator.biasprm = [0.0, -50.0, -2.0, *[0.0] * 7]
    return spec


def test_no_run_is_fitted_and_a_test() -> None:
    assert (len(set(TRAIN)), len(set(TEST))) == (8, 16)
    assert not set(TRAIN) & set(TEST)


def test_actuators_of_a_description_hold_their_goals_as_stiffly_as_described() -> None:
    """A pendulum of known weight sags by its torque over the stiffness; half as stiff, by twice as much."""
    run = goals(2.0)
    goal = np.tile([0.5, 0.0], (len(run.time), 1))
    held = replace(run, goal_position=goal, position=goal)
    sags = [0.5 - DescribedArm(spec=_described(), kp=kp).simulate(held)[-1, 0] for kp in (None, 100.0, 200.0)]
    assert sags[0] > sags[1] > sags[2] > 0.0
    assert sags[1] == pytest.approx(2.0 * sags[2], rel=0.25)


def test_the_table_has_a_row_of_each_way_and_a_column_of_each_joint() -> None:
    run = goals(0.5)
    rows = {"half": validated(lambda run: run.position + np.array([0.01, 0.03]), [run])}
    header, _, line = text(rows).splitlines()
    assert header.split("  ")[-1].strip() == "elbow"
    assert line.split()[1:] == ["20.0", "10.0", "30.0"]


def test_short_horizons_start_anew_from_measured_states() -> None:
    """The sagging arm of the library's servos stays nearer to its measurement; actuators have no such row."""
    run = replace(goals(1.0), position=goals(1.0).goal_position)
    small = Arm(spec=_described(), train=[run], test=[run])
    whole, short = (dict(ways(small, None, (), horizon)) for horizon in (None, 0.1))
    assert set(short) == {"library servo"}
    assert len(whole) == 3
    off = [validated(rows["library servo"], [run]).mae for rows in (whole, short)]
    assert off[1] < 0.95 * off[0]


def test_a_folder_without_the_runs_is_one_line(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("so101: ")
