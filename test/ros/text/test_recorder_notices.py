# SPDX-License-Identifier: Apache-2.0
"""What a recording reports, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_ros.text.recorder_notices import (
    BagSetAside,
    BrokenBag,
    DriverAwaited,
    DriversThere,
    FewStates,
    LoadWanted,
    OtherBags,
    OtherSupply,
    RecorderBusy,
    RecordingEnded,
    RobotHolds,
    RunRecorded,
    RunRepeated,
    RunsKept,
    RunSpoiled,
    SessionRecorded,
    SessionStopped,
)
from bam_ros.text.spoiled_runs import Stall

BAGS = Path("bags")


@pytest.mark.parametrize(
    ("bag", "words"),
    [
        (BrokenBag(kind="unreadable", reason="no index"), "its bag cannot be read (no index)"),
        (BrokenBag(kind="no_state"), "was interrupted before its first state was on disk"),
        (BrokenBag(kind="interrupted", duration=3.21), "was interrupted after 3.2 s"),
        (
            BrokenBag(kind="cut_short", messages=50, expected=502),
            "has a bag that is cut short (50 of 502 messages)",
        ),
        (BrokenBag(kind="no_header", expected="BenchRun"), "has a bag without BenchRun"),
    ],
)
def test_a_broken_bag_has_its_reason(bag: BrokenBag, words: str) -> None:
    assert str(RunRepeated(run="a_kp8", bag=bag)) == f"run a_kp8 {words}: it will be recorded again"


def test_what_is_kept_is_named() -> None:
    assert str(RunsKept(output=BAGS, complete=1, runs=2)) == "bags: 1 of 2 runs are complete and kept"
    assert str(BagSetAside(run="a_kp8", aside="a_kp8.interrupted-1")) == (
        "run a_kp8: the interrupted bag is kept as a_kp8.interrupted-1, recording again"
    )


def test_a_run_that_counts_has_its_states_and_those_that_were_lost() -> None:
    assert str(RunRecorded(run=1, runs=2, label="kp 8, sin_sin", states=600)) == (
        "run 1 of 2, kp 8, sin_sin: 600 states"
    )
    assert str(RunRecorded(run=1, runs=2, label="kp 8, sin_sin", states=599, lost=1)) == (
        "run 1 of 2, kp 8, sin_sin: 599 states, 1 lost on the way from the driver"
    )


def test_a_run_that_does_not_count_has_its_reason_and_attempt() -> None:
    stall = Stall(kind="lost_states", amount=7, limit=1)
    spoiled = RunSpoiled(
        run=1, runs=2, label="kp 8, sin_sin", problem=stall, kept="a.stalled-1", attempt=1, attempts=5
    )
    assert str(spoiled) == (
        f"run 1 of 2, kp 8, sin_sin: {stall}; its bag is kept as a.stalled-1 and counts for nothing (attempt"
        " 1 of 5)"
    )
    spoiled = RunSpoiled(run=1, runs=2, label="sin_sin", problem=stall, attempt=2, attempts=5)
    assert str(spoiled) == f"run 1 of 2, sin_sin: {stall} (attempt 2 of 5)"


def test_another_supply_stands_beside_that_of_the_session() -> None:
    assert str(OtherSupply(session="short", nominal=15.0, measured=12.0, tolerance=0.05)) == (
        "session short: supply_voltage is 15 V, but the servo measures 12 V (expected within 5 %); correct"
        " supply_voltage in the session file, or the supply"
    )


def test_few_states_have_their_rate_and_a_cure() -> None:
    assert str(FewStates(rate=60.0, least=90.0)) == (
        "the driver reports 60 states per second (90 or more expected), which hides how friction changes near"
        " standstill; set the adapter's latency timer to 1 ms, or use a higher baud rate"
    )


def test_a_load_is_asked_for_with_the_call_that_confirms_it() -> None:
    wanted = LoadWanted(mass=0.5, arm_mass=0.02, length=0.1, service="/recorder/load_mounted")
    assert str(wanted) == (
        "hang 0.5 kg at 0.1 m (arm 0.02 kg), then call /recorder/load_mounted (std_srvs/srv/Trigger)"
    )


def test_a_goal_beside_another_says_what_to_do() -> None:
    assert str(RecorderBusy()) == "recorder: a session is being recorded; wait for its end or cancel it"


def test_whoever_ends_a_recording_hears_that_the_servo_is_released() -> None:
    assert str(RecordingEnded(kind="cancelled")) == (
        "cancelled: the servo is released; the same goal goes on from here"
    )
    assert str(RecordingEnded(kind="node")) == (
        "recorder: ends; the servo is released, the same goal goes on from here"
    )
    assert str(SessionStopped(output=BAGS, complete=1, runs=3)) == (
        "interrupted, the servo is released; 1 of 3 runs are complete and kept in bags; a run that was cut"
        " short is recorded again: give the same command to continue"
    )
    assert str(SessionStopped(output=BAGS, complete=0, runs=3)) == (
        "interrupted, the servo is released; no run is complete; a run that was cut short is recorded again:"
        " give the same command to continue"
    )
    assert str(RobotHolds()) == (
        "holds where it is: support the robot, then press Ctrl-C again to release it"
    )


def test_bags_of_other_sessions_are_counted() -> None:
    assert str(OtherBags(output=BAGS, bags=1)) == (
        "bags: 1 bag of another session stay there, too, and an identification of this directory uses them;"
        " another --output keeps sessions apart"
    )
    assert str(OtherBags(output=BAGS, bags=2)).startswith("bags: 2 bags of another session")


def test_a_session_is_summed_up_with_its_plurals() -> None:
    assert str(SessionRecorded(output=BAGS, recorded=1)) == "bags: 1 run recorded, no state lost"
    assert str(SessionRecorded(output=BAGS, recorded=0, resumed=1)) == (
        "bags: 0 runs recorded, 1 was there already, no state lost"
    )
    assert str(SessionRecorded(output=BAGS, recorded=2, resumed=2, lost=3)) == (
        "bags: 2 runs recorded, 2 were there already, 3 states lost"
    )


def test_a_driver_that_is_awaited_and_those_that_run() -> None:
    assert (
        str(DriverAwaited(driver="driver", topic="/servo_states", limit=10.0))
        == "waiting for driver 'driver': states on /servo_states, up to 10 s"
    )
    assert str(DriversThere(driver="x", running=())) == "driver 'x' is not there yet, nor any other"
    assert (
        str(DriversThere(driver="x", running=("left/dynamixel", "y")))
        == "driver 'x' is not there yet; those that run: left/dynamixel, y"
    )
