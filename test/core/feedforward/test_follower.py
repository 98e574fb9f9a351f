# SPDX-License-Identifier: Apache-2.0
"""Followers take trajectories at any time, keep what they had where they refuse, and never run away."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import OutOfRange, Unavailable, WrongShape, WrongValue
from bam_core.feedforward import (
    DelayMeter,
    Follower,
    FollowerSettings,
    Guard,
    Limits,
    PidGains,
    Points,
)
from bam_core.feedforward.buffer import Reference
from bam_core.feedforward.piece import Piece
from bam_core.servo.firmware_library import FIRMWARES
from test.core.feedforward_cases import LIMITS, MODEL, VIRTUAL_SUPPLY, Plant
from test.core.refusals import refused

STEP = 2.5e-3
SETTINGS = FollowerSettings(
    laws=[MODEL.law] * 2,
    supply=[VIRTUAL_SUPPLY] * 2,
    limits=replace(LIMITS, names=("hip", "knee")),
    firmware=FIRMWARES["mx-protocol1"],
    gains=[PidGains()] * 2,
)
NOTHING = np.zeros(2)


def to(*place: float, after: float = 0.5) -> Points:
    """A trajectory with one point."""
    return Points(time=np.array([after]), position=np.array([place]))


def between(first: list[float], last: list[float], duration: float = 0.5, **more: Any) -> Points:
    return Points(time=np.array([0.0, duration]), position=np.array([first, last]), **more)


@pytest.fixture
def follower() -> Follower:
    found = Follower(SETTINGS)
    found.hold(NOTHING)
    return found


FIRST = """
import sys
from dataclasses import replace

import numpy as np
from test.core.feedforward_cases import LIMITS, MODEL, VIRTUAL_SUPPLY
from numba.core.event import install_recorder

from bam_core.feedforward import FeedForwardLaw, Follower, FollowerSettings, PidGains, Points
from bam_core.servo.firmware_library import FIRMWARES

follower = Follower(
    FollowerSettings(
        laws=[MODEL.law] * 2,
        supply=[VIRTUAL_SUPPLY] * 2,
        limits=LIMITS,
        firmware=FIRMWARES["mx-protocol1"],
        gains=[PidGains()] * 2,
    )
)
follower.prepare()
assert not follower.following and not follower.accepted
known, rest = set(sys.modules), np.zeros(2)
with install_recorder("numba:compile") as compiled:
    follower.hold(rest)
    follower.duty(rest, rest, rest + np.nan, measured=0.0, now=0.0)
    follower.follow(Points(time=np.array([0.5, 1.0]), position=np.full((2, 2), 0.1)), 0.0, 0.0)
    follower.goal(0.2)
    follower.duty(rest, rest, rest + np.nan, measured=0.2, now=0.2)
    follower.stop(0.3)
print(sorted({*sys.modules} - known), len(compiled.buffer))
"""


@pytest.mark.long
def test_the_first_trajectory_loads_and_compiles_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[] 0"


def goal(follower: Follower, time: float, position: np.ndarray | None = None) -> np.ndarray:
    """Where servos shall be at a time, with servos that are there already unless told otherwise."""
    place = follower.goal(time) if position is None else position
    follower.duty(place, NOTHING, NOTHING + VIRTUAL_SUPPLY, measured=time, now=time)
    return follower.goal(time)


def test_released_it_commands_nothing_and_has_no_goal() -> None:
    found = Follower(SETTINGS)
    assert not found.following
    assert np.all(np.isnan(found.goal(0.0)))
    assert np.all(found.duty(NOTHING, NOTHING, NOTHING, measured=0.0, now=0.0) == 0.0)
    with refused(Unavailable, thing="trajectory"):
        found.follow(to(0.3, 0.0), 0.0, 0.0)
    found.stop(0.0)


def test_it_holds_where_it_is_switched_on_and_forgets_that_with_the_torque(follower: Follower) -> None:
    follower.release()
    follower.hold([0.7, -0.4])
    assert goal(follower, 5.0) == pytest.approx([0.7, -0.4])
    follower.release()
    assert np.all(np.isnan(follower.goal(5.0)))


def test_what_holding_takes_comes_from_dynamics() -> None:
    found = Follower(replace(SETTINGS, dynamics=lambda place, rate, bend: 0.3 + place))
    found.hold([0.7, -0.4])
    assert found._controller is not None
    assert found._controller.buffer.at(1.0).torque == pytest.approx([1.0, -0.1])
    found.follow(to(0.9, -0.4), 1.0, 1.0)
    assert found._controller.buffer.at(9.0).torque == pytest.approx([1.2, -0.1])


def test_a_point_in_the_future_is_led_to_from_where_it_is(follower: Follower) -> None:
    follower.follow(to(0.4, -0.2), 0.1, 0.0)
    follower.follow(to(0.0, 0.0), 0.3, 0.2)  # turns round in motion
    times = np.arange(0.0, 1.5, STEP)
    places = np.array([goal(follower, time) for time in times])
    assert places[:, 0].max() > 0.15
    assert np.all(np.abs(np.diff(places, 2, axis=0)) < 50.0 * STEP**2)
    assert places[-1] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert (follower.accepted, follower.refused, follower.refusal) == (2, 0, "")


def test_what_was_planned_goes_on_until_the_new_plan_can_be_there(follower: Follower) -> None:
    follower.follow(between([0.0, 0.0], [0.5, 0.0]), 0.0, 0.0)
    times = np.arange(0.2, 0.21, 1e-3)
    before = [goal(follower, time) for time in times]
    follower.follow(to(0.0, 0.0), 0.0, 0.2)
    for time, place in zip(times, before, strict=True):
        assert goal(follower, time) == pytest.approx(place, abs=1e-12)


def test_a_joint_outside_its_limits_stays_where_it_is_and_is_led_back_but_not_further_out() -> None:
    outside = LIMITS.high[0] + 0.3
    follower = Follower(SETTINGS)
    follower.hold([outside, 0.0])
    follower.stop(0.0)
    assert goal(follower, 0.5) == pytest.approx([outside, 0.0])
    with refused(OutOfRange) as caught:
        follower.follow(to(outside + 0.02, 0.0), 0.5, 0.5)
    assert caught.value.thing.endswith("position of joint 'hip'")
    follower.follow(to(0.0, 0.0, after=1.0), 0.5, 0.5)
    follower.stop(0.6)
    assert LIMITS.high[0] < goal(follower, 1.0)[0] < outside
    follower.follow(to(0.0, 0.0, after=1.0), 1.0, 1.0)
    assert goal(follower, 2.5) == pytest.approx([0.0, 0.0])
    with refused(OutOfRange) as caught:
        follower.follow(to(outside, 0.0, after=2.0), 2.5, 2.5)
    assert caught.value.thing.endswith("position of joint 'hip'")


def test_a_late_trajectory_is_joined_where_it_would_be_by_now(follower: Follower) -> None:
    slow = between([0.0, 0.0], [0.02, 0.0], 1.0)
    follower.follow(slow, 0.0, 0.7)
    assert follower.accepted == 1
    assert goal(follower, 2.0) == pytest.approx([0.02, 0.0])


@pytest.mark.parametrize(
    ("points", "start", "kind", "thing"),
    [
        (between([0.3, 0.0], [0.4, 0.0]), 0.1, OutOfRange, "jump of position of joint 'hip'"),
        (between([0.0, 0.0], [0.1, 0.0]), -2.0, OutOfRange, "trajectory end"),
        (between([0.0, 0.0], [0.0, 0.1]), 9.0, OutOfRange, "trajectory reach"),
        (to(0.0, 0.1, after=2e9), 0.1, OutOfRange, "trajectory reach"),
        (between([0.0, 0.0], [0.0, 0.1], 2e9), 1.0 - 2e9, OutOfRange, "trajectory reach"),
        (to(0.0, 0.1), -2.0, OutOfRange, "trajectory end"),
        (to(0.0, 0.1), math.nan, OutOfRange, "trajectory start"),
        (between([0.0, 0.0], [0.0, 1.8], 3.0), 0.1, OutOfRange, "position of joint 'knee'"),
        (
            between([0.0, 0.0], [1.8, 0.0], 0.3),
            0.1,
            OutOfRange,
            "trajectory, 0 s after its start, velocity of joint 'hip'",
        ),
        (
            between([0.0, 0.0], [0.1, 0.0], torque=np.array([[0.0, 0.0], [9.0, 0.0]])),
            0.1,
            OutOfRange,
            "torque of joint 'hip'",
        ),
        (to(0.0, 0.0, after=0.0), 0.1, OutOfRange, "trajectory end"),
        (between([0.0], [0.1]), 0.1, WrongShape, "trajectory positions, shape"),
    ],
)
def test_a_refusal_says_why_and_changes_nothing(
    follower: Follower, points: Points, start: float, kind: type[WrongValue], thing: str
) -> None:
    follower.follow(to(0.05, 0.0), 0.0, 0.0)
    times = np.arange(0.0, 2.0, 1e-2)
    before = [goal(follower, time) for time in times]
    with refused(kind) as caught:
        follower.follow(points, start, 0.0)
    assert caught.value.thing.endswith(thing)
    assert (follower.accepted, follower.refused, follower.refusal) == (1, 1, str(caught.value))
    for time, place in zip(times, before, strict=True):
        assert np.array_equal(goal(follower, time), place)
    follower.follow(to(0.1, 0.0), times[-1], times[-1])
    assert follower.refusal == ""


def test_a_trajectory_whose_last_piece_is_too_fast_is_refused_as_a_whole(follower: Follower) -> None:
    points = Points(time=np.array([0.0, 1.0, 1.2]), position=np.array([[0.0, 0.0], [0.2, 0.0], [1.9, 0.0]]))
    with refused(OutOfRange, thing="trajectory, 0.75 s after its start, velocity of joint 'hip'"):
        follower.follow(points, 0.1, 0.0)
    assert goal(follower, 1.0) == pytest.approx([0.0, 0.0])


def test_torque_that_goes_off_while_a_trajectory_is_planned_refuses_it() -> None:
    plans: list[int] = []

    def dynamics(place: np.ndarray, rate: np.ndarray, bend: np.ndarray) -> np.ndarray:
        plans.append(1)
        if len(plans) == 2:  # the first was that of holding
            found.release()
        return np.zeros_like(place)

    found = Follower(replace(SETTINGS, dynamics=dynamics))
    found.hold(NOTHING)
    with refused(Unavailable, thing="trajectory"):
        found.follow(to(0.1, 0.0), 0.0, 0.0)
    assert not found.following


@dataclass(frozen=True, kw_only=True, eq=False)
class Slow(Points):
    """Points that take long to plan: each time the owner's thread has reached another moment, s."""

    owner: Follower
    reached: list[float]

    def led_from(self, start: Reference, late: float) -> Points:
        if self.reached:
            goal(self.owner, self.reached.pop(0))
        return Points(time=self.time, position=self.position).led_from(start, late)

    def pieces(self, *arguments: Any) -> list[Piece]:
        if self.time[0] == 0.0 and self.reached:  # else `led_from` is asked
            goal(self.owner, self.reached.pop(0))
        return super().pieces(*arguments)


def test_a_plan_that_comes_too_late_is_made_anew_from_later_on() -> None:
    reached = [0.2, 0.205]  # the first plan took 0.2 s, the second 5 ms
    found = Follower(SETTINGS)
    found.hold(NOTHING)
    slow = Slow(owner=found, reached=reached, time=np.array([0.5]), position=np.array([[0.2, 0.0]]))
    found.follow(slow, 0.0, 0.0)
    assert not reached
    assert found.goal(0.205) == pytest.approx([0.0, 0.0], abs=1e-9)
    places = np.array([found.goal(time)[0] for time in np.arange(0.19, 0.5, STEP)])
    assert np.all(np.abs(np.diff(places, 2)) < 60.0 * STEP**2)
    assert found.goal(0.5) == pytest.approx([0.2, 0.0])


def test_a_machine_that_is_too_busy_refuses_instead_of_jumping() -> None:
    found = Follower(SETTINGS)
    found.hold(NOTHING)
    reached = [1.0, 2.0, 3.0]
    slow = Slow(owner=found, reached=reached, time=np.array([4.0]), position=np.array([[0.2, 0.0]]))
    with refused(Unavailable, thing="trajectory"):
        found.follow(slow, 0.0, 0.0)
    assert not reached
    assert np.array_equal(found.goal(9.0), NOTHING)


def test_a_motion_that_is_too_far_on_once_it_is_planned_is_refused_for_that() -> None:
    """And not for a jump: the trajectory has none."""
    found = Follower(SETTINGS)
    found.hold(NOTHING)
    line = {"time": np.array([0.0, 1.0]), "position": np.array([[0.0, 0.0], [1.0, 0.0]])}
    with refused(Unavailable, thing="trajectory"):
        found.follow(Slow(owner=found, reached=[0.6], **line), 0.0, 0.0)
    assert np.array_equal(found.goal(9.0), NOTHING)
    with refused(OutOfRange):  # what cannot be followed whenever it is planned
        found.follow(Points(time=line["time"], position=line["position"] + 1.0), 9.0, 9.0)


@pytest.mark.parametrize("late", [0.0, 0.1])
def test_a_stop_that_comes_late_brakes_from_where_goals_are_by_then(late: float) -> None:
    found = Follower(SETTINGS)
    found.hold(NOTHING)
    found.follow(to(0.6, 0.3), 0.0, 0.0)
    before = np.array([goal(found, time) for time in np.arange(0.0, 0.3 + late, STEP)])
    found.stop(0.3)
    after = np.array([goal(found, 0.3 + late + time) for time in np.arange(0.0, 0.5, STEP)])
    places = np.concatenate((before, after))
    assert np.abs(np.diff(places, axis=0)).max() < 3.0 * STEP
    assert np.array_equal(places[-1], places[-2])


@given(st.floats(0.0, 0.6))
@settings(max_examples=30, deadline=None)
def test_a_stop_at_any_moment_brakes_and_holds(when: float) -> None:
    found = Follower(SETTINGS)
    found.hold(NOTHING)
    found.follow(to(0.6, 0.3), 0.0, 0.0)
    at = goal(found, when).copy()
    found.stop(when)
    assert np.all(np.abs(goal(found, when + 0.5) - at) < 0.1)
    assert np.array_equal(goal(found, when + 0.5), goal(found, when + 9.0))


def test_a_servo_that_is_not_where_it_should_be_loses_its_duty_until_it_is_released(
    follower: Follower,
) -> None:
    goal(follower, 0.1, np.array([0.0, 0.49]))
    assert follower.fault is None
    goal(follower, 0.2, np.array([0.0, -0.51]))
    assert follower.fault is not None
    joint, reason = follower.fault
    assert joint == 1
    assert (reason.error, reason.limit) == (pytest.approx(0.51), 0.5)
    assert str(reason).startswith("is 0.51 rad ")
    assert np.all(follower.duty(NOTHING, NOTHING, NOTHING, measured=0.3, now=0.3) == 0.0)
    follower.release()
    assert follower.fault is None
    follower.hold([0.0, 0.4])
    assert goal(follower, 1.0) == pytest.approx([0.0, 0.4])


def test_a_place_that_is_not_known_is_a_fault(follower: Follower) -> None:
    goal(follower, 0.1, np.array([math.nan, 0.0]))
    assert follower.fault is not None
    assert follower.fault[0] == 0


def test_a_supply_that_is_not_known_is_taken_for_the_nominal_one() -> None:
    duties = []
    for supply in (VIRTUAL_SUPPLY, math.nan):
        found = Follower(SETTINGS)
        found.hold(NOTHING)
        found.follow(to(0.5, 0.0), 0.0, 0.0)
        place = np.array([0.05, 0.0])
        duties.append(found.duty(place, NOTHING, NOTHING + supply, measured=0.2, now=0.2))
    assert np.array_equal(*duties)
    assert duties[0][0] > 0.05


def test_gains_may_change_in_motion_and_stay(follower: Follower) -> None:
    away = np.array([0.02, 0.02])
    follower.tune(1, PidGains(p=32.0, i=0.0))
    follower.tune(0, PidGains(p=16.0, i=0.0))
    for _ in range(2):
        duty = follower.duty(away, NOTHING, NOTHING + VIRTUAL_SUPPLY, measured=0.1, now=0.1)
        assert duty[1] == pytest.approx(2.0 * duty[0])
        follower.release()
        follower.hold(NOTHING)


@pytest.mark.parametrize("cut", range(1, 25, 2))
def test_wherever_the_stream_ends_a_servo_comes_to_rest(cut: int) -> None:
    """A stream of one piece at a time, 50 ms each, to a real motor; nothing comes after the cut."""
    follower = Follower(SETTINGS)
    follower.hold(NOTHING)
    plants = [Plant(), Plant()]
    ends = 0.05 * np.arange(25)
    place, rate = 0.6 * np.sin(4.0 * ends) ** 2, 2.4 * np.sin(8.0 * ends)
    places, sent = np.zeros((int(2.0 / STEP), 2)), 0
    for k, time in enumerate(np.arange(len(places)) * STEP):
        if sent < cut and time > ends[sent] - 0.06:
            rows = slice(sent, sent + 2)
            points = Points(
                time=np.array([0.0, 0.05]),
                position=np.outer(place[rows], [1.0, -0.5]),
                velocity=np.outer(rate[rows], [1.0, -0.5]),
            )
            follower.follow(points, ends[sent], time)
            sent += 1
        places[k] = [plant.position for plant in plants]
        speed = np.array([plant.velocity for plant in plants])
        duty = follower.duty(places[k], speed, NOTHING + VIRTUAL_SUPPLY, measured=time, now=time)
        for plant, one in zip(plants, duty, strict=True):
            plant.advance(VIRTUAL_SUPPLY * one, STEP)
    assert (follower.accepted, follower.refused, follower.fault) == (cut, 0, None)
    assert np.all(np.abs(places) <= 0.63)
    still = places[int((0.05 * cut + 0.5) / STEP) :]
    assert np.all(np.ptp(still, axis=0) < 0.01)


def test_the_guard_forbids_what_leads_out_and_nothing_else() -> None:
    guard = Guard(limits=Limits(low=[-1.0], high=[1.0], speed=[4.0], torque=[1.0]))
    cases = [
        ((0.5, 0.9, 0.0), 0.5),
        ((0.5, 1.04, 0.0), 0.5),  # holds against a load that pulls it back in
        ((0.5, 1.06, 0.0), 0.0),
        ((-0.5, 1.06, 0.0), -0.5),
        ((-0.5, -0.97, 0.0), -0.5),
        ((-0.5, -1.04, 0.0), -0.5),
        ((-0.5, -1.06, 0.0), 0.0),
        ((0.5, -1.06, 0.0), 0.5),
        ((0.5, 0.97, 0.0), 0.5),
        ((0.5, 0.0, 4.9), 0.5),
        ((0.5, 0.0, 5.1), 0.0),
        ((-0.5, 0.0, 5.1), -0.5),
        ((-0.5, 0.0, -4.9), -0.5),
        ((-0.5, 0.0, -5.1), 0.0),
        ((0.5, 0.0, -5.1), 0.5),
    ]
    for arguments, allowed in cases:
        assert guard.allowed(*(np.array([each]) for each in arguments)) == pytest.approx([allowed])
    with refused(OutOfRange, thing="guard error"):
        Guard(limits=LIMITS, error=0.0)


def test_the_guard_looks_at_each_joint_with_its_own_limits() -> None:
    limits = Limits(low=[-1.0, -2.0], high=[1.0, 2.0], speed=[4.0, 8.0], torque=[1.0, 1.0])
    guard = Guard(limits=limits, error=0.5)
    duty = np.array([0.5, 0.5])
    assert guard.allowed(duty, np.array([1.5, 1.5]), np.zeros(2)).tolist() == [0.0, 0.5]
    assert guard.allowed(-duty, np.array([-1.5, -1.5]), np.zeros(2)).tolist() == [0.0, -0.5]
    assert guard.allowed(duty, np.zeros(2), np.array([6.0, 6.0])).tolist() == [0.0, 0.5]
    for error, joint in (([0.4, -0.4], None), ([0.0, 0.6], 1), ([-0.6, 0.0], 0), ([0.0, math.nan], 1)):
        assert guard.lost(np.array(error)) == joint


@given(st.floats(-0.05, 0.05))
@settings(max_examples=30, deadline=None)
def test_the_delay_of_a_motion_is_found_while_it_goes_on(delay: float) -> None:
    meter = DelayMeter()
    assert math.isnan(meter.delay)
    for time in np.arange(0.0, 4.0, STEP):
        wanted, seen = (np.sin(np.array([2.0, 3.0]) * when) for when in (time, time - delay))
        meter.note(wanted - seen, np.array([2.0, 3.0]) * np.cos(np.array([2.0, 3.0]) * time), STEP)
    assert meter.delay == pytest.approx(delay, abs=1e-3)


def test_settings_are_one_per_joint() -> None:
    with refused(WrongShape, thing="follower gains", value=1):
        Follower(replace(SETTINGS, gains=[PidGains()]))
