# SPDX-License-Identifier: Apache-2.0
"""Tables that a robot rests on and its description does not have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import UnknownName
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.deviations_file import load_deviations, save_deviations
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.table import find_table
from bam_core.robot.tolerances import RobotTolerances
from bam_core.robot.unknowns import Unknowns
from bam_core.text.robot_findings import TableFound
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, arm, servos

_HEIGHT = -0.25  # m; the arm hangs 0.35 m down


def _bench() -> RobotBench:
    """The arm with a site at its tip."""
    spec = arm()
    spec.body("lower").add_site(name="tip", pos=[0.0, 0.0, -0.15])
    return RobotBench.make(spec, "fixed", step=4e-3)


def _told() -> RobotRun:
    """The arm is lowered from the side in steps, lower and lower, and raised between them."""
    time = np.arange(0.0, 16.0, 0.02)
    lift = 1.2 - 0.6 * np.interp(time % 4.0, [0.6, 1.2, 2.4, 3.0], [0.0, 1.0, 1.0, 0.0]) * (
        0.8 + 0.2 * (time // 4.0)
    )
    goal = np.stack([lift, np.full_like(lift, 0.1)], axis=1)
    return RobotRun(
        name="down", joints=JOINTS, time=time, goal_position=goal, position=goal, kp=32.0, supply_voltage=12.0
    )


def _recorded(deviations: RobotDeviations) -> RobotRun:
    run = _told()
    return replace(run, position=_bench().simulate(run, servos("m1"), deviations))


def test_a_tip_that_rests_above_its_goals_shows_the_table() -> None:
    """Where the hidden table is, within the tip's sinking and a little zero error."""
    run = _recorded(RobotDeviations(table={"tip": _HEIGHT}))
    found = find_table(_bench().spec, [run])
    assert found is not None
    assert found.point == "tip"
    assert found.height == pytest.approx(_HEIGHT, abs=2e-3)
    assert found.time > 2.0
    assert "tip rests" in TableFound(**vars(found)).sentence


def test_friction_and_gravity_show_no_table() -> None:
    assert find_table(_bench().spec, [_recorded(RobotDeviations())]) is None


def test_no_tip_goes_through_its_table() -> None:
    """Without the table it comes 5 cm lower."""
    free, held = (_recorded(RobotDeviations(table=table)) for table in ({}, {"tip": _HEIGHT}))
    lowest = [
        (-0.2 * np.cos(run.position[:, 0]) - 0.15 * np.cos(run.position.sum(axis=1))).min()
        for run in (free, held)
    ]
    assert lowest[0] < _HEIGHT - 0.03
    assert lowest[1] > _HEIGHT - 2e-3


def test_a_point_that_a_robot_does_not_have_is_named() -> None:
    with refused(UnknownName, kind="point on the table"):
        _recorded(RobotDeviations(table={"hand": 0.0}))


def test_a_description_with_a_plane_of_its_own_keeps_it() -> None:
    run = _recorded(RobotDeviations(table={"tip": _HEIGHT}))
    spec = _bench().spec
    spec.worldbody.add_geom(type=0, size=[0.0, 0.0, 1.0], pos=[0.0, 0.0, -1.0])
    assert find_table(spec, [run]) is None


def test_a_fit_may_change_the_height_of_the_table() -> None:
    """One standard deviation is 5 mm; the file of the deviations keeps it."""
    unknowns = Unknowns(
        servos={}, joints={}, tolerances=RobotTolerances(delay=0.0), bodies=(), table={"tip": _HEIGHT}
    )
    assert unknowns.names == ("table tip",)
    assert unknowns.is_wide.all()
    assert unknowns.deviations_at(np.array([2.0])).table == {"tip": pytest.approx(_HEIGHT + 0.01)}


def test_the_file_of_deviations_keeps_the_table(tmp_path: Path) -> None:
    path = tmp_path / "m4.yaml"
    save_deviations(RobotDeviations(table={"tip": _HEIGHT}), path)
    assert load_deviations(path).table == {"tip": _HEIGHT}
