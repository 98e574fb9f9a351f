# SPDX-License-Identifier: Apache-2.0
"""What the master sends to the drives after a loss, a silent node or a drive outside OP, period by period."""

from __future__ import annotations

import pytest

from bam_ros.erob.al_status import AlStatus, SlaveState
from bam_ros.erob.errors import NodeSilent, OutsideOp
from bam_ros.erob.goal_guard import GoalLimits
from bam_ros.erob.segment import Outcome
from test.ros.erob_master import OFF, Master, on

TORQUE, NONE = [333, 333], [0, 0]
ANY = (GoalLimits(), GoalLimits())


def driving(**settings: float) -> Master:
    master = Master(*ANY, **settings)
    master.go(on(0.1), on(0.1), cycles=10)
    assert master.drives.torques[-1] == TORQUE
    return master


@pytest.mark.parametrize("outcome", [Outcome.UNANSWERED, Outcome.WRONG, Outcome.STALE])
def test_drives_get_no_current_from_the_fifth_lost_cycle_on_until_one_is_answered(outcome: Outcome) -> None:
    master = driving()
    before = len(master.drives.torques)
    master.drives.outcome = outcome
    master.go(on(0.1), on(0.1), cycles=6)
    assert master.drives.torques[before:] == [TORQUE] * 4 + [NONE] * 2
    master.drives.outcome = Outcome.ANSWERED
    master.go(on(0.1), on(0.1), cycles=2)
    assert master.drives.torques[-2:] == [NONE, TORQUE]  # the goals of the cycle after the answer
    assert master.trip == ""


@pytest.mark.parametrize(
    ("states", "text"),
    [
        ([None, None], "interface lo: no slave answers any more"),
        ([AlStatus(SlaveState.OP), None], "slave 2: does not answer"),
        ([None, AlStatus(SlaveState.OP)], "slave 1: does not answer"),
        ([AlStatus(SlaveState.SAFE_OP), AlStatus(SlaveState.OP)], "slave 1: is in SAFE-OP"),
        ([AlStatus(SlaveState.OP)] * 2, "interface lo: no answer for 30 ms"),
    ],
)
def test_a_segment_that_is_lost_trips_and_is_explained_by_who_is_away(
    states: list[AlStatus | None], text: str
) -> None:
    master = driving(answer_timeout=0.01)
    master.drives.outcome, master.drives.states = Outcome.UNANSWERED, states
    master.go(on(0.1), on(0.1), cycles=10)
    assert master.trip == ""  # no time has passed
    master.clock.now += 0.031
    before = len(master.drives.torques)
    master.go(on(0.1), on(0.1))
    assert len(master.drives.torques) == before + 4  # three more, so that those who still listen let go
    assert master.trip.startswith(text)
    master.drives.outcome = Outcome.ANSWERED
    master.drives.states = [AlStatus(SlaveState.OP)] * 2
    master.go(on(0.1), on(0.1), cycles=10)
    assert master.drives.torques[before:] == [NONE] * 14  # for good


def test_a_node_that_hangs_while_torque_is_on_trips_in_the_next_cycle() -> None:
    master = driving(silence=0.5)
    master.clock.now += 0.49
    master.cycle._period()
    assert master.drives.torques[-1] == TORQUE
    master.clock.now += 0.02
    master.cycle._period()
    assert master.drives.torques[-1] == NONE
    (trip,) = master.trips
    assert isinstance(trip, NodeSilent)
    assert trip.duration == 0.5


def test_a_node_that_is_silent_with_torque_off_trips_nothing() -> None:
    master = driving(silence=0.5)
    master.go(OFF, OFF, cycles=3)
    master.clock.now += 10.0
    master.cycle._period()
    assert master.trip == ""


@pytest.mark.parametrize("index", [0, 1])
def test_a_drive_that_leaves_op_trips_though_its_process_data_is_right(index: int) -> None:
    master = driving()
    master.drives.states[index] = AlStatus(SlaveState.SAFE_OP)
    for _ in range(3):  # a look at one drive after the other
        master.clock.now += 0.2
        master.go(on(0.1), on(0.1))
    (trip,) = master.trips
    assert isinstance(trip, OutsideOp)
    assert (trip.thing, trip.status) == (f"slave {index + 1}", AlStatus(SlaveState.SAFE_OP))
    assert master.drives.torques[-1] == NONE


def test_only_the_first_reason_is_reported() -> None:
    master = driving(silence=0.5)
    master.clock.now += 1.0
    master.cycle._period()
    master.go(on(30.0), on(0.1), cycles=3)
    (trip,) = master.trips
    assert isinstance(trip, NodeSilent)
    assert master.drives.torques[-1] == NONE
