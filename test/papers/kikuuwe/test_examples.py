# SPDX-License-Identifier: Apache-2.0
"""What Kikuuwe's section 6 says of its two examples."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from papers.kikuuwe.examples import (
    ELBOW_IN,
    ELBOW_OUT,
    RodRun,
    WallRun,
    run_rod,
    run_wall,
    wall_drive,
    wall_place,
)

elbows = pytest.mark.parametrize("elbow", [ELBOW_IN, ELBOW_OUT], ids=["elbow in", "elbow out"])
starts = pytest.mark.parametrize("start", [0.25, 0.5, 1.0])
wall = functools.cache(run_wall)


def at(time: float) -> int:
    return round(1000 * time) - 1


def bounces(run: RodRun) -> int:
    """How often the rod leaves the spring while it is driven towards it."""
    touching = run.position[: at(0.9)] < 0.0
    return int(np.sum(touching[:-1] & ~touching[1:]))


@pytest.mark.parametrize(("side", "feedback"), [(0.2, 0.0), (0.5, -0.15), (0.95, -0.375), (1.05, -0.425)])
def test_the_rods_gears_are_well_posed(side: float, feedback: float) -> None:
    gear = run_rod(side, duration=0.01).gear
    assert gear.feedback == pytest.approx(feedback)
    assert gear.is_well_posed
    assert gear.asymmetry.is_backdrivable == (side < 1.0)


def test_the_rod_bounces_with_little_asymmetry_and_not_with_much() -> None:
    counts = [bounces(run_rod(side)) for side in (0.2, 0.5, 0.95, 1.05)]
    assert counts[0] > 0
    assert counts[1] > 0
    assert counts[2:] == [0, 0]


@starts
@pytest.mark.parametrize("side", [0.95, 1.05])
def test_much_asymmetry_keeps_a_contact_force_far_above_the_drive(side: float, start: float) -> None:
    assert run_rod(side, start=start).contact[at(0.89)] < -3.5 * 40.0


@starts
@pytest.mark.parametrize("side", [0.2, 0.5, 0.95])
def test_a_backdrivable_rod_is_pushed_back_when_the_drive_is_off(side: float, start: float) -> None:
    run = run_rod(side, start=start)
    assert run.position[at(1.4)] > 0.0
    assert abs(run.contact[at(1.4)]) < 1.0


@starts
def test_a_self_locking_rod_stays_stuck_exactly_and_still_comes_off_when_pulled(start: float) -> None:
    run = run_rod(1.05, start=start)
    idle = slice(at(0.9), at(1.399))
    assert not run.velocity[idle].any()
    assert run.contact[at(1.39)] < -150.0
    assert run.position[-1] > 0.3
    assert run.contact[-1] > 0.0


@pytest.mark.long
@elbows
def test_more_asymmetry_means_more_contact_force_while_the_wall_pushes(elbow: tuple[float, float]) -> None:
    means = [-wall((side, side), start=elbow).force[at(1.0) : at(2.0)].mean() for side in (0.1, 0.6, 1.1)]
    assert means[0] < means[1] < means[2]


@elbows
def test_a_self_locking_robot_is_not_moved_by_the_wall_and_lets_go_when_pulled(
    elbow: tuple[float, float],
) -> None:
    run = wall((1.1, 1.1), start=elbow)
    assert np.ptp(run.joints[at(1.0) : at(2.5)], axis=0) == pytest.approx([0.0, 0.0], abs=0.0)
    assert -run.force[at(2.49)] > 5.0 * 500.0
    assert run.force[at(3.0)] == 0.0
    assert run.hand[at(3.0), 0] < run.wall[at(3.0)] - 0.5


@pytest.mark.long
@elbows
@pytest.mark.parametrize(("sides", "locked"), [((0.1, 1.1), 1), ((1.1, 0.1), 0)])
def test_of_two_joints_exactly_the_one_that_does_not_lock_is_moved_by_the_wall(
    sides: tuple[float, float], locked: int, elbow: tuple[float, float]
) -> None:
    moved = np.ptp(wall(sides, start=elbow).joints[at(1.0) : at(1.5)], axis=0)
    assert moved[locked] == 0.0
    assert moved[1 - locked] > 0.05


@pytest.mark.long
@elbows
@pytest.mark.parametrize("sides", [(0.1, 0.1), (0.6, 0.6), (1.1, 1.1), (0.1, 1.1), (1.1, 0.1)])
def test_the_robots_are_well_posed_throughout(sides: tuple[float, float], elbow: tuple[float, float]) -> None:
    run: WallRun = wall(sides, start=elbow)
    assert 0.0 < run.gain < 1.0
    assert run.hand[0] == pytest.approx([1.366, run.hand[0, 1]], abs=1e-3)


def test_wall_and_drive_follow_the_script() -> None:
    assert [wall_drive(t) for t in (0.2, 0.7, 1.2, 1.9, 2.2, 2.7)] == [0, 500, 500, 500, 0, -500]
    assert [round(wall_place(t, 1.37), 4) for t in (0.5, 1.0, 1.25, 1.5, 3.0)] == [
        1.37,
        1.37,
        1.245,
        1.12,
        1.12,
    ]
