# SPDX-License-Identifier: Apache-2.0
"""A run in which driver or recorder stalled, or the driver let go, counts for nothing and is repeated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bam_core.errors import BadData
from bam_core.recordings import load_recordings
from bam_core.recordings.bag_files import read_messages
from bam_core.recordings.message_decoder import TypedMessage
from bam_core.recordings.run_end import is_set_aside
from bam_ros.driver.servo_bus import ServoGoal, ServoSample
from bam_ros.recorder import bag_shelf
from bam_ros.recorder.motion import Phase
from bam_ros.recorder.session import Session
from bam_ros.recorder.session_recorder import SessionRecorder, SessionReport
from bam_ros.recorder.stalls import COMMAND_PAUSE, StallWatch
from bam_ros.recorder.waits import Waits
from bam_ros.text.recorder_notices import RunSpoiled
from bam_ros.text.spoiled_runs import DriverReleased, Stall
from test.ros.recorder_bench import HURRY, Bench, Operator, directories, short, short_session

NAME = "m0.50_l0.100_kp8_sin_sin"
PAUSE_LIMIT, PAUSE = 0.5, 0.8


@pytest.fixture
def bench(ros_domain: int) -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


def session() -> Session:
    scripts = (short("sin_sin", 2.0),)
    return replace(short_session(), scripts=scripts, pause_limit=PAUSE_LIMIT)


def stall(bench: Bench, operator: Operator, times: int) -> None:
    """Let the stamps jump by PAUSE in so many attempts, once each: what was measured meanwhile is missing."""
    exchange, jumps = bench.bus.exchange, 0

    def stalled(goal: ServoGoal) -> ServoSample:
        nonlocal jumps
        sample = exchange(goal)
        away = goal.torque_enable[0] and abs(goal.position[0]) > 0.2
        if away and jumps < times and jumps <= len(operator.of(RunSpoiled)):
            jumps += 1
        return replace(sample, stamp=sample.stamp + round(jumps * PAUSE * 1e9))

    bench.bus.exchange = stalled  # type: ignore[method-assign]


def record(bench: Bench, output: Path, operator: Operator, waits: Waits = HURRY) -> SessionReport:
    return SessionRecorder(bench.node, driver="driver", waits=waits).record(session(), output, operator)


@pytest.mark.ros
def test_a_run_in_which_the_driver_stalled_is_named_kept_apart_and_recorded_again(
    bench: Bench, tmp_path: Path
) -> None:
    operator = Operator()
    stall(bench, operator, 1)
    report = record(bench, tmp_path, operator)
    assert (report.recorded, report.resumed) == (1, 0)
    assert [bag.name for bag in report.bags] == [NAME]
    assert {NAME, f"{NAME}.stalled-1"} <= set(directories(tmp_path))
    assert not (tmp_path / f"{NAME}.stalled-1" / "metadata.yaml").exists()
    spoiled = operator.of(RunSpoiled)[0]
    assert (spoiled.run, spoiled.runs, spoiled.kept) == (1, 1, f"{NAME}.stalled-1")
    assert isinstance(spoiled.problem, Stall)
    assert (spoiled.problem.kind, spoiled.problem.limit) == ("driver", PAUSE_LIMIT)
    assert spoiled.problem.amount == pytest.approx(PAUSE, abs=0.1)
    assert [recording.name for recording in load_recordings([tmp_path])] == [NAME]


@pytest.mark.ros
def test_a_driver_that_stalls_every_time_ends_the_session_and_leaves_nothing_that_counts(
    bench: Bench, tmp_path: Path
) -> None:
    operator = Operator()
    stall(bench, operator, 2)
    with pytest.raises(BadData, match=r"the driver stalled, .* 2 attempts"):
        record(bench, tmp_path, operator, replace(HURRY, attempts=2))
    assert directories(tmp_path) == [f"{NAME}.stalled-1", f"{NAME}.stalled-2"]
    assert not bag_shelf.inspect(tmp_path, session(), "/bench_run").complete
    assert not any(bench.bus.torque)
    report = record(bench, tmp_path, Operator())
    assert (report.recorded, report.resumed) == (1, 0)


def release_once(bench: Bench, beyond: float) -> None:
    """Let the driver be found released once, after some states with torque and a goal beyond this, rad.

    It obeys again at once, as after a bus that was away.
    """
    exchange, states = bench.bus.exchange, 0

    def let_go(goal: ServoGoal) -> ServoSample:
        nonlocal states
        sample = exchange(goal)
        states += goal.torque_enable[0] and abs(goal.position[0]) > beyond
        if states != 5:
            return sample
        states += 1
        return replace(sample, torque_enabled=(False,))

    bench.bus.exchange = let_go  # type: ignore[method-assign]


@pytest.mark.ros
def test_a_run_in_which_the_driver_let_go_ends_with_torque_off_and_is_recorded_again(
    bench: Bench, tmp_path: Path
) -> None:
    operator = Operator()
    release_once(bench, 0.2)
    report = record(bench, tmp_path, operator)
    assert (report.recorded, report.resumed) == (1, 0)
    kept = tmp_path / f"{NAME}.released-1"
    assert {NAME, kept.name} <= set(directories(tmp_path))
    assert not (kept / "metadata.yaml").exists()
    (released,) = (run.problem for run in operator.of(RunSpoiled))
    assert isinstance(released, DriverReleased)
    assert released.elapsed > 0.0
    states = [message.value for message in messages_of(kept, "bam_bench/msg/ServoStates")]
    assert [state.torque_enabled[0] for state in states].index(False) == len(states) - 1  # it ends there
    assert is_set_aside(kept)
    assert bag_shelf.inspect(tmp_path, session(), "/bench_run").complete == {NAME}
    assert not any(bench.bus.torque)


@pytest.mark.ros
def test_a_driver_that_lets_go_on_the_way_to_the_start_is_told_without_a_bag(
    bench: Bench, tmp_path: Path
) -> None:
    bench.bus.position[0] = 2.0  # so that there is a way
    operator = Operator()
    release_once(bench, 1.0)
    report = record(bench, tmp_path, operator)
    assert report.recorded == 1
    assert directories(tmp_path) == [NAME]
    (spoiled,) = operator.of(RunSpoiled)
    assert spoiled.problem == DriverReleased(phase=Phase.APPROACH.value)
    assert (spoiled.attempt, spoiled.attempts, spoiled.kept) == (1, 5, "")


def messages_of(bag: Path, kind: str) -> list[TypedMessage]:
    return [
        message for file in sorted(bag.glob("*.mcap")) for message in read_messages(file, {kind}).messages
    ]


def watch(states: Iterable[float], *, answers: Iterable[float] | None = None) -> StallWatch:
    """Return what is seen of states that were measured then, and answered at once or then; s."""
    states = list(states)
    watch = StallWatch(0.03)
    for measured, answered in zip(states, states if answers is None else answers, strict=True):
        watch.state(measured, answered) if measured > 0.0 else watch.start(measured, answered)
    return watch


def test_even_states_are_no_stall_whatever_their_rate() -> None:
    for period in (1e-3, 0.02, 0.1):
        seen = watch(period * index for index in range(60))
        assert seen.states == 59
        assert seen.pause == pytest.approx(period)
        assert seen.problem(0) is seen.problem(1) is None


def test_a_pause_is_named_with_its_length_and_place() -> None:
    times = [0.002 * index + (0.04 if index > 500 else 0.0) for index in range(3000)]
    stall = watch(times).problem(0)
    assert (stall.kind, stall.limit) == ("driver", 0.03)
    assert (stall.amount, stall.at) == (pytest.approx(0.042), pytest.approx(1.0))
    assert watch([time for time in times if not 0.5 < time < 0.525]).problem(0).limit == 0.03


def test_a_pause_ends_the_run_as_soon_as_the_period_is_known() -> None:
    times = [0.05 * index + (0.5 if index > 5 else 0.0) for index in range(40)]
    found = [count for count in range(2, 41) if watch(times[:count]).stalled]
    assert found == list(range(21, 41))
    assert not watch(0.05 * index for index in range(40)).stalled


def test_states_that_were_lost_are_named_by_their_count() -> None:
    seen = watch(0.002 * index for index in range(100))
    assert seen.problem(2) == Stall(kind="lost_states", amount=2, limit=1)


def test_a_recorder_that_stalls_is_named_where_every_state_arrived() -> None:
    states = [0.002 * index for index in range(1000)]
    answers = [max(time, 1.0 + 1.2 * COMMAND_PAUSE) if time > 1.0 else time for time in states]
    stall = watch(states, answers=answers).problem(0)
    assert (stall.kind, stall.limit) == ("recorder", 0.1)
    assert stall.amount == pytest.approx(0.12)


def test_what_was_before_the_script_does_not_count() -> None:
    assert watch([-5.0, -1.0, 0.0, *(0.002 * index for index in range(1, 100))]).problem(0) is None
