# SPDX-License-Identifier: Apache-2.0
"""Joints that a table holds, one at a time, beside the whole robot on the same table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.errors import UnknownName
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.one_joint import OneJointBench
from bam_core.robot.result import RobotTask
from bam_core.robot.run import RobotRun
from bam_core.robot.search_benches import search_benches
from test.core.refusals import refused
from test.core.table_cases import HEIGHT, lowered, table_bench
from test.core.whole_robot_cases import JOINTS, servos

NAMES = ("table tip", "zero shoulder", "zero elbow")
HELD = RobotDeviations(table={"tip": HEIGHT})


def alone(run: RobotRun, robots: list[RobotDeviations], table: dict[str, float]) -> Array:
    """Where weaker servos would be one at a time, (robots, n, joints)."""
    bench = OneJointBench.make(table_bench(), [run], JOINTS, servos("m1"), NAMES, table)
    assert bench is not None
    with ThreadPoolExecutor(1) as pool:
        return bench.positions(pool, [run], [(servos("m1"), robot) for robot in robots])[run.name]


def weaker(robot: RobotDeviations) -> RobotDeviations:
    return replace(robot, strength=dict.fromkeys(JOINTS, -0.2))


def test_a_joint_stays_where_its_table_holds_it() -> None:
    """Nearly, for the spring that stands for the table gives way; without it they go on to their goals."""
    run = lowered(HELD)
    there = table_bench().simulate(run, servos("m1"), weaker(HELD))
    held, free = [
        np.abs(alone(run, [weaker(robot)], table)[0] - there).mean(axis=0)
        for robot, table in ((HELD, {"tip": HEIGHT}), (RobotDeviations(), {}))
    ]
    assert np.all(held < 0.4 * free)
    assert held.max() < 0.25 * free.max()


@pytest.mark.parametrize(
    "change", [{"table": {"tip": HEIGHT + 4e-3}}, {"zero": {"shoulder": 0.01}}, {"zero": {"elbow": 0.01}}]
)
def test_positions_change_with_height_and_zeros_as_those_of_the_whole_robot(
    change: dict[str, object],
) -> None:
    run = lowered(HELD)
    robots = [HELD, replace(HELD, **change)]
    here = np.diff(alone(run, robots, {"tip": HEIGHT}), axis=0)[0]
    there = np.diff([table_bench().simulate(run, servos("m1"), robot) for robot in robots], axis=0)[0]
    assert np.abs(there).mean() > 1e-3
    assert np.abs(here - there).mean() < 0.4 * np.abs(there).mean()


def test_a_search_takes_one_joint_at_a_time_where_a_table_was_found() -> None:
    run = lowered(HELD)
    task = RobotTask(
        bench=table_bench(),
        types=dict.fromkeys(JOINTS, "mx106"),
        servos={"mx106": servos("m1")["shoulder"]},
        joints=JOINTS,
        train=[run],
        table={"tip": HEIGHT},
    )
    bench = search_benches(task, NAMES).one_joint
    assert bench is not None
    with ThreadPoolExecutor(1) as pool:
        (held,) = bench.positions(pool, [run], [(task.given, HELD)])[run.name]
    assert np.abs(held - run.position).mean() < 0.02
    assert np.abs(held - run.goal_position).max() > 0.1


def test_a_point_that_a_robot_does_not_have_is_named_before_it_is_simulated() -> None:
    with refused(UnknownName, kind="point on the table"):
        alone(lowered(HELD), [HELD], {"hand": 0.0})
