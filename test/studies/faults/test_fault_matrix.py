# SPDX-License-Identifier: Apache-2.0
"""The fault matrix itself: it tells a driver that is safe from one that is not.

Drivers are patient here, and bounds wide: how fast something happens is for `make faults` on a quiet machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from bam_ros.node.private_domain import private_domain
from bam_ros.text.torque_reasons import CommandsEnded
from studies.faults.cell import Cell, try_cell
from studies.faults.events import EVENTS, Event, Off, State
from studies.faults.listener import Counts
from studies.faults.page import page
from studies.faults.problems import NotStarted, TorqueLate, TorqueLost
from studies.faults.rig import Rig, Watcher
from studies.faults.servos import DRIVERS, Dynamixel, FeedForward, Feetech, OldDynamixel, Servos
from studies.faults.startup import WRONG, try_startup
from test.missing import raw_frames

pytestmark = [pytest.mark.ros, pytest.mark.long]


WIDE = 8.0  # s; of bounds


def event(name: str, **changes: object) -> Event:
    """Return the event with a wide bound, and what shall follow changed."""
    found = next(event for event in EVENTS if event.name == name)
    wide = {"within": WIDE, **changes}
    return replace(found, follows={driver: replace(each, **wide) for driver, each in found.follows.items()})  # type: ignore[arg-type]


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    with private_domain():
        watcher = Watcher()
        yield watcher
        watcher.close()


class Patient(Dynamixel):
    """A driver whose servos may answer late."""

    @property
    def parameters(self) -> dict[str, object]:
        return {**super().parameters, **self.lenient}


class PatientFeedForward(FeedForward):
    """The same with servos that are commanded by duty."""

    @property
    def parameters(self) -> dict[str, object]:
        return {**super().parameters, **self.lenient}


class Careless(Patient):
    """A driver that holds its joints for long after their commands have stopped."""

    @property
    def parameters(self) -> dict[str, object]:
        return {**super().parameters, "command_timeout": 30.0}


def tried(servos: Servos, watcher: Watcher, what: Event, state: State) -> Cell:
    with servos, Rig(servos, watcher) as rig:
        return try_cell(rig, what, state)


def test_a_driver_that_lets_go_in_time_is_safe(watcher: Watcher) -> None:
    cell = tried(Patient(2), watcher, event("one of two clients dies"), State.HOLDING)
    assert cell.problems == ()
    assert cell.seconds <= (cell.bound or 0.0)
    assert str(CommandsEnded(timeout=0.5)) in cell.says
    assert f"| {cell.event} | {WIDE:.2f} |" in page([cell])


def test_a_driver_that_lets_go_too_late_is_not_safe(watcher: Watcher) -> None:
    cell = tried(Careless(2), watcher, event("commands stop", within=1.0), State.HOLDING)
    assert TorqueLate(joint="hip", bound=1.0) in cell.problems
    assert "## Not safe" in page([cell])


class PatientOld(OldDynamixel):
    """The same with servos that keep their last goal while nobody reaches them."""

    @property
    def parameters(self) -> dict[str, object]:
        return {**super().parameters, **self.lenient}


def test_a_recorder_whose_bus_was_away_ends_its_run_before_torque_comes_back(watcher: Watcher) -> None:
    cell = tried(PatientOld(1), watcher, event("unplugged for 0.7 s"), State.RECORDING)
    assert cell.problems == ()


class PatientFeetech(Feetech):
    """The same, of another manufacturer."""

    @property
    def parameters(self) -> dict[str, object]:
        return {**super().parameters, **self.lenient}


@pytest.mark.parametrize("change", ["unplugged for 0.7 s", "kill -9"])
def test_feetech_servos_are_released_once_they_can_be_reached(change: str, watcher: Watcher) -> None:
    cell = tried(PatientFeetech(2), watcher, event(change), State.HOLDING)
    assert cell.problems == ()


@pytest.mark.parametrize("change", ["commands stop", "SIGTERM"])
def test_servos_that_follow_a_trajectory_lose_no_torque_before_something_happens(
    change: str, watcher: Watcher
) -> None:
    cell = tried(PatientFeedForward(2), watcher, event(change), State.MOVING)
    assert cell.problems == ()


def test_states_that_do_not_come_are_counted() -> None:
    counts = Counts()
    for sequence in (7, 8, 11, 12, 14):
        counts.take(sequence)
    assert (counts.newest, counts.lost) == (14, 3)
    counts.take(1)  # the driver was started again
    counts.take(2)
    assert (counts.newest, counts.lost) == (2, 3)


def test_torque_that_has_to_be_kept_and_is_not_is_not_safe(watcher: Watcher) -> None:
    cell = tried(Patient(2), watcher, event("commands stop", off=Off.NONE), State.HOLDING)
    assert TorqueLost(joint="hip") in cell.problems


def test_what_is_wrong_before_the_start_is_told_in_one_line(watcher: Watcher) -> None:
    wrong = next(wrong for wrong in WRONG if wrong.name == "an id that is not there")
    with Patient(2) as servos, Rig(servos, watcher) as rig:
        assert try_startup(rig, wrong).problems == ()
        expecting_a_start = try_startup(rig, replace(wrong, says=""))
    assert any(isinstance(problem, NotStarted) for problem in expecting_a_start.problems)


def test_drives_that_are_plugged_in_another_order_get_no_torque(watcher: Watcher) -> None:
    with raw_frames():
        servos = DRIVERS["erob"](2)
        moved = event("cable moved: drives in another order")
        cell = tried(servos, watcher, moved, State.HOLDING)
    assert cell.problems == ()
    assert moved.follows["erob"].says in cell.says
    assert not math.isnan(cell.back)
