# SPDX-License-Identifier: Apache-2.0
"""Logs that an identification refuses: sound numbers of a bench that did not work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.identification.data.screening import require_informative, require_torque
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.data_findings import GravityOffZero, OffGoals
from test.core.finding_cases import logged
from test.core.identification_cases import BENCH, mx106, record
from test.core.refusals import refused

SERVO = mx106("m6")
COUNT = 2 * np.pi / 4096


@pytest.fixture(scope="module")
def run() -> Recording:
    return record(SERVO, "sin_sin", 16.0)


def refuse(recording: Recording, thing: str = "position") -> str:
    with refused(BadData, thing=thing) as caught:
        require_informative(SERVO, [recording])
    assert str(caught.value).startswith(f"{recording.source}: ")
    return caught.value.problem


def test_recordings_of_a_sound_bench_are_informative(xl330: Path) -> None:
    logs = load_recordings([xl330])
    require_informative(load_servo("xl330"), logs)


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_times_that_are_ten_times_those_of_the_script_are_refused(run: Recording, factor: float) -> None:
    refuse(replace(run, time=factor * run.time), "timestamp")
    require_informative(SERVO, [replace(run, time=1.001 * run.time)])


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("kp", [2.0, 8.0, 32.0])
def test_an_arm_that_lags_far_behind_its_goal_tells_something(script: str, kp: float) -> None:
    require_informative(SERVO, [record(SERVO, script, kp)])


@pytest.mark.parametrize("place", [0.0, 0.3])
def test_an_arm_that_never_moves_is_refused(place: float, run: Recording) -> None:
    refuse(replace(run, position=np.full(len(run), place)))


@pytest.mark.parametrize("counts", [1, 3, 10])
def test_an_encoder_that_only_trembles_is_refused(counts: int, run: Recording) -> None:
    position = COUNT * (np.arange(len(run)) % (counts + 1))
    refuse(replace(run, position=position))


def test_an_arm_that_swings_without_its_motor_is_refused(run: Recording) -> None:
    position = 0.5 * np.exp(-run.time) * np.cos(8.0 * run.time)
    assert "follow" in refuse(replace(run, position=position))


def test_an_arm_that_moves_against_its_goal_is_refused(run: Recording) -> None:
    against = replace(run, position=-run.position, velocity=-run.velocity)
    assert "follow" in refuse(against)


def turned(recording: Recording, angle: float) -> Recording:
    """The same run seen by an encoder whose zero is elsewhere."""
    return replace(
        recording, position=recording.position + angle, goal_position=recording.goal_position + angle
    )


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("angle", [np.pi, -np.pi, 2.5])
def test_an_arm_that_hangs_up_is_refused(script: str, angle: float) -> None:
    assert "gravity" in refuse(turned(record(SERVO, script, 8.0), angle))


def test_every_log_is_refused_with_its_arm_up_and_with_goal_and_position_swapped(xl330: Path) -> None:
    servo = load_servo("xl330")
    for log in load_recordings([xl330]):
        unknown = np.full(len(log), np.nan)
        swapped = replace(log, position=log.goal_position, goal_position=log.position, velocity=unknown)
        for recording, told in (
            (turned(log, np.pi), "gravity"),
            (swapped, log.script),
            (replace(swapped, script="of the lab"), "gravity"),
        ):
            with refused(BadData, thing="position") as caught:
                require_informative(servo, [recording])
            assert told in caught.value.problem


@pytest.mark.parametrize("degrees", [11.0, -11.0])
def test_a_zero_beyond_what_a_fit_looks_for_is_told(degrees: float, caplog: pytest.LogCaptureFixture) -> None:
    run = record(SERVO, "sin_sin", 8.0)
    require_informative(SERVO, [run, turned(run, 0.05)])
    assert caplog.text == ""
    require_informative(SERVO, [turned(run, np.deg2rad(degrees))])
    (finding,) = logged(caplog)
    assert isinstance(finding, GravityOffZero)
    assert finding.source == run.source
    assert finding.angle == pytest.approx(np.deg2rad(degrees), abs=0.05)
    assert (finding.low, finding.high) == (-0.1, 0.1)


def test_goal_and_position_that_are_swapped_are_refused(run: Recording) -> None:
    swapped = replace(run, position=run.goal_position, goal_position=run.position)
    assert "sin_sin" in refuse(swapped)
    assert "gravity" in refuse(replace(swapped, script="of the lab"))


def test_degrees_are_refused_where_no_velocity_gives_them_away(run: Recording) -> None:
    small = replace(
        run,
        position=11.0 * np.sin(run.time - 0.1),
        goal_position=11.0 * np.sin(run.time),
        script="of the lab",
    )
    refuse(small, "goal_position")


def test_one_bad_log_among_good_ones_is_found(run: Recording) -> None:
    still = replace(run, name="still", position=np.zeros(len(run)))
    with refused(BadData, thing="position"):
        require_informative(SERVO, [run, still])


def test_torque_may_be_off_in_some_logs_but_not_in_all(run: Recording) -> None:
    off = np.zeros(len(run), dtype=bool)
    swing = replace(
        run, torque_enabled=off, position=0.5 * np.cos(8.0 * run.time), velocity=np.zeros(len(run))
    )
    require_informative(SERVO, [run, swing])
    require_torque([swing, run])
    for logs, place in (([swing], f"{run.source}: "), ([swing, swing], f"{run.source} and 1 more: ")):
        with refused(BadData, thing="torque_enabled") as caught:
            require_torque(logs)
        assert str(caught.value).startswith(place)


def test_an_arm_that_rests_for_a_while_tells_something(run: Recording) -> None:
    at = run.time < 1.0
    goal, position = (np.where(at, values, values[at][-1]) for values in (run.goal_position, run.position))
    require_informative(
        SERVO, [replace(run, goal_position=goal, position=position, velocity=np.zeros(len(run)))]
    )


def test_a_load_that_no_such_servo_could_lift_is_refused(run: Recording) -> None:
    heavy = replace(run, bench=PendulumBench(mass=99.0, length=3.0))
    refuse(heavy, "mass, length")
    require_informative(SERVO, [replace(run, bench=replace(BENCH, mass=3.0))])


@pytest.mark.parametrize("off", [2.0 * np.pi, -2.0 * np.pi])
def test_positions_a_turn_from_their_goals_are_refused(run: Recording, off: float) -> None:
    problem = refuse(replace(run, position=run.position + off))
    assert ("above" if off > 0.0 else "below") in problem


def test_positions_on_one_side_of_their_goals_are_told(
    run: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    error = run.position - run.goal_position
    low = float(np.min(error[run.torque_enabled]))
    require_informative(SERVO, [run])
    assert not caplog.text
    require_informative(SERVO, [replace(run, position=run.position - low + 0.3)])
    (finding,) = logged(caplog)
    assert isinstance(finding, OffGoals)
    assert 0.25 < finding.gap < 0.5
