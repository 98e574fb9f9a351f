# SPDX-License-Identifier: Apache-2.0
"""Errors of a robot whose joints are simulated one at a time, and when a search may use them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from bam_core.robot.deviations import NO_DEVIATIONS
from bam_core.robot.one_joint import OneJointBench, OneJointErrors
from bam_core.robot.result import RobotTask
from bam_core.robot.run_errors import RunErrors
from bam_core.robot.search_benches import search_benches
from bam_core.robot.simulation import RobotBench
from bam_core.robot.tolerances import DEFAULT
from bam_core.robot.unknowns import Unknowns, bodies_for
from bam_core.servo.model import load_servo
from test.core.whole_robot_cases import JOINTS, arm, recorded, servos

TYPES = dict(zip(JOINTS, ("mx106", "mx64"), strict=True))
RUNS = [recorded(servos(), seed=seed, duration=1.5) for seed in (1, 2)]


def unknowns() -> Unknowns:
    return Unknowns(
        servos={name: load_servo(name) for name in TYPES.values()},
        joints=TYPES,
        tolerances=DEFAULT,
        bodies=bodies_for(arm(), DEFAULT),
    )


def measured_bench(step: float = 1e-3) -> RobotBench:
    return RobotBench.make(arm(), "fixed", step=step, others="measured")


def one_joint_bench() -> OneJointBench:
    given = {joint: load_servo(name) for joint, name in TYPES.items()}
    found = OneJointBench.make(measured_bench(), RUNS, JOINTS, given, unknowns().names)
    assert found is not None
    return found


def task(**changes: object) -> RobotTask:
    settings = {
        "bench": RobotBench.make(arm(), "fixed"),
        "types": TYPES,
        "servos": {name: load_servo(name) for name in TYPES.values()},
        "joints": JOINTS,
        "train": RUNS[:1],
        "test": RUNS[1:],
        **changes,
    }
    return RobotTask(**settings)


def test_errors_and_how_they_change_are_those_of_mujoco() -> None:
    """At a point where all unknowns are off, and between it and one nearby."""
    random = np.random.default_rng(0)
    names = unknowns().names
    points = [0.2 * np.abs(random.standard_normal(len(names))) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        slow = RunErrors(bench=measured_bench(), runs=RUNS, joints=JOINTS, unknowns=unknowns(), pool=pool)
        quick = OneJointErrors(
            bench=slow.bench,
            runs=RUNS,
            joints=JOINTS,
            unknowns=slow.unknowns,
            pool=pool,
            one_joint=one_joint_bench(),
        )
        here, there = quick.at(points), slow.at(points)
    off = [np.abs(a - b).mean() for a, b in zip(here, there, strict=True) if a is not None and b is not None]
    assert len(off) == 2
    assert max(off) < 2e-4
    assert (
        np.abs((here[1] - here[0]) - (there[1] - there[0])).mean() < 0.1 * np.abs(there[1] - there[0]).mean()
    )


@pytest.mark.parametrize("workers", [1, 3])
def test_positions_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    bench, given = one_joint_bench(), servos()
    robots = [(given, replace(NO_DEVIATIONS, delay=1e-4 * number)) for number in range(200)]
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(workers) as several:
        alone, together = (bench.positions(pool, RUNS, robots) for pool in (one, several))
    assert set(alone) == {run.name for run in RUNS}
    assert all(np.array_equal(alone[name], together[name]) for name in alone)


def test_a_search_takes_one_joint_at_a_time_where_that_moves_as_mujoco_does() -> None:
    benches = search_benches(task(), unknowns().names)
    assert benches.one_joint is not None
    assert set(benches.one_joint.rollouts) == {run.name for run in RUNS}
    alone = benches.one_at_a_time(RUNS, servos(), NO_DEVIATIONS)
    right = measured_bench(benches.search.step)
    for run in RUNS:
        assert np.abs(alone[run.name] - right.simulate(run, servos())).mean() < 2e-4


def test_runs_with_gaps_and_robots_on_other_bases_are_simulated_as_before() -> None:
    whole = RUNS[0]
    kept = np.abs(whole.time - 0.7) > 0.2
    gap = replace(
        whole, time=whole.time[kept], goal_position=whole.goal_position[kept], position=whole.position[kept]
    )
    assert len(gap.restarts)
    benches = search_benches(task(train=[gap]), unknowns().names)
    assert benches.quick is None
    right = replace(benches.search, others="measured").simulate(gap, servos())
    assert np.array_equal(benches.one_at_a_time([gap], servos(), NO_DEVIATIONS)[gap.name], right)
    given = {joint: load_servo(name) for joint, name in TYPES.items()}
    assert OneJointBench.make(replace(measured_bench(), root="free"), RUNS, JOINTS, given, ()) is None
    tied = arm()
    tied.add_equality(type=2, name1="shoulder", name2="elbow", objtype=3)
    tied_bench = RobotBench.make(tied, "fixed")
    assert OneJointBench.make(tied_bench, RUNS, JOINTS, given, ()) is None
