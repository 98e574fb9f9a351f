# SPDX-License-Identifier: Apache-2.0
"""Tables that a robot rests on and its description does not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import UnknownName
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.deviations_file import load_deviations, save_deviations
from bam_core.robot.table import find_table
from bam_core.robot.tolerances import RobotTolerances
from bam_core.robot.unknowns import Unknowns
from bam_core.text.robot_evidence_findings import TableFound
from test.core.refusals import refused
from test.core.table_cases import HEIGHT, lowered, table_bench


def test_a_tip_that_rests_above_its_goals_shows_the_table() -> None:
    """Where the hidden table is, within the tip's sinking and a little zero error."""
    run = lowered(RobotDeviations(table={"tip": HEIGHT}))
    found = find_table(table_bench().spec, [run])
    assert found is not None
    assert found.point == "tip"
    assert found.height == pytest.approx(HEIGHT, abs=2e-3)
    assert found.time > 2.0
    assert "tip rests" in TableFound(**vars(found)).sentence


def test_friction_and_gravity_show_no_table() -> None:
    assert find_table(table_bench().spec, [lowered(RobotDeviations())]) is None


def test_no_tip_goes_through_its_table() -> None:
    """Without the table it comes 5 cm lower."""
    free, held = (lowered(RobotDeviations(table=table)) for table in ({}, {"tip": HEIGHT}))
    lowest = [
        (-0.2 * np.cos(run.position[:, 0]) - 0.15 * np.cos(run.position.sum(axis=1))).min()
        for run in (free, held)
    ]
    assert lowest[0] < HEIGHT - 0.03
    assert lowest[1] > HEIGHT - 2e-3


def test_a_point_that_a_robot_does_not_have_is_named() -> None:
    with refused(UnknownName, kind="point on the table"):
        lowered(RobotDeviations(table={"hand": 0.0}))


def test_a_description_with_a_plane_of_its_own_keeps_it() -> None:
    run = lowered(RobotDeviations(table={"tip": HEIGHT}))
    spec = table_bench().spec
    spec.worldbody.add_geom(type=0, size=[0.0, 0.0, 1.0], pos=[0.0, 0.0, -1.0])
    assert find_table(spec, [run]) is None


def test_a_fit_may_change_the_height_of_the_table() -> None:
    """One standard deviation is 5 mm; the file of the deviations keeps it."""
    unknowns = Unknowns(
        servos={}, joints={}, tolerances=RobotTolerances(delay=0.0), bodies=(), table={"tip": HEIGHT}
    )
    assert unknowns.names == ("table tip",)
    assert unknowns.is_wide.all()
    assert unknowns.deviations_at(np.array([2.0])).table == {"tip": pytest.approx(HEIGHT + 0.01)}


def test_the_file_of_deviations_keeps_the_table(tmp_path: Path) -> None:
    path = tmp_path / "m4.yaml"
    save_deviations(RobotDeviations(table={"tip": HEIGHT}), path)
    assert load_deviations(path).table == {"tip": HEIGHT}
