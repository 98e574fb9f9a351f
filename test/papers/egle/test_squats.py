# SPDX-License-Identifier: Apache-2.0
"""Friction from squats: recovered where it is known; deliberate bugs turn checks of real ones to NO."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.errors import Malformed, Unreadable
from papers.egle import squats
from papers.egle.experiment import Experiment, bench_checks, imperfections
from papers.egle.squats import ARMS, PAIRS, Law, Squat, bench_laws, find_lag, friction_of

NAMES = (*ARMS, *(f"{side}_{pair}" for side in ("left", "right") for pair in PAIRS))
TIME = np.arange(0.0, 3.5, 0.01)
LAG, FRICTION, OFFSET = 0.012, 0.4, 0.15  # s, N·m, N·m


def sway(time: Array) -> tuple[Array, Array, Array]:
    return np.sin(2.0 * time), 2.0 * np.cos(2.0 * time), -4.0 * np.sin(2.0 * time)


def squat(kp: int, laws: Mapping[str, Law], friction: float = FRICTION) -> Squat:
    """A motion whose goals a perfect law of the motor needs, acting LAG late."""

    def goal(name: str, time: Array) -> Array:
        position, velocity, acceleration = sway(time)
        law = laws[name]
        motor = 0.5 * position + law.armature * acceleration + np.sign(velocity) * friction + OFFSET
        return position + (motor + law.damping * velocity) / (law.drive * kp)

    position, velocity, acceleration = (np.column_stack([each] * len(NAMES)) for each in sway(TIME))
    return Squat(
        kp=kp,
        names=NAMES,
        goal=np.stack(
            [np.column_stack([goal(name, TIME + LAG - lag) for name in NAMES]) for lag in squats._LAGS]
        ),
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        required=0.5 * position,
        other_share=0.6 * position,
    )


def test_friction_its_offset_and_the_lag_of_goals_are_recovered() -> None:
    laws = bench_laws(NAMES)
    runs = [squat(kp, laws) for kp in (32, 20, 12)]
    lag = find_lag(runs, laws)
    assert lag == pytest.approx(LAG, abs=5e-4)
    for run in runs:
        one = friction_of(run, ARMS[0], laws, lag)
        assert one.friction == pytest.approx(FRICTION, abs=0.02)
        assert one.offset == pytest.approx(OFFSET, abs=0.02)
        assert friction_of(run, "knee", laws, lag).friction == pytest.approx(2.0 * FRICTION, abs=0.04)


def test_where_there_is_none_no_friction_is_found() -> None:
    laws = bench_laws(NAMES)
    runs = [squat(kp, laws, friction=0.0) for kp in (32, 20, 12)]
    assert friction_of(runs[0], ARMS[0], laws, find_lag(runs, laws)).friction == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(("friction", "driving"), [(FRICTION, "0"), (-FRICTION, "100")])
def test_friction_that_drives_is_counted_as_unphysical(friction: float, driving: str) -> None:
    laws = bench_laws(NAMES)
    runs = [friction_of(squat(kp, laws, friction), ARMS[0], laws, LAG) for kp in (32, 20, 12)]
    found = Experiment(lag=LAG, bench={ARMS[0]: runs}, constant={}, later={}, sharing={}, single={})
    header, row = imperfections(found)
    assert dict(zip(header, row, strict=True))["samples in which friction drives [%]"] == driving


def test_the_law_of_the_motor_is_that_of_the_servo() -> None:
    law = bench_laws(("left_knee",))["left_knee"]
    servo = law.servo
    assert servo is not None
    assert law.limit == pytest.approx(servo.motor.torque(0.9625 * 15.0, 0.0), rel=1e-6)
    assert law.drive * 32 == pytest.approx(servo.motor.torque(0.158 * 32 * 15.0, 0.0), rel=0.01)
    motor = law.motor_torque(32.0, np.array([10.0]), np.array([1.0]))
    assert motor[0] == pytest.approx(servo.motor.torque(0.9625 * 15.0, 1.0), rel=1e-6)


def test_files_that_are_missing_or_lack_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"robot\.xml"):
        squats.read_robot(tmp_path)
    (tmp_path / "squat.csv").write_text("time,goal:left_knee\n0.0,1.0\n")
    with pytest.raises(Malformed, match=r"squat\.csv"):
        squats._columns(tmp_path / "squat.csv", ("time", "read:left_knee"))


def quiet(words: str) -> None:
    pass


def load_reversed(patch: pytest.MonkeyPatch) -> None:
    read = squats.read_squat

    def wrong(*arguments: object) -> Squat:
        made = read(*arguments)  # type: ignore[arg-type]
        return replace(made, required=-made.required, other_share=-made.other_share)

    patch.setattr("papers.egle.experiment.read_squat", wrong)


def friction_off(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Law, "friction", lambda self, motor_torque, required, velocity: 1e-9 + 0.0 * velocity)


def delay_doubled(patch: pytest.MonkeyPatch) -> None:
    found = squats.find_lag
    patch.setattr("papers.egle.experiment.find_lag", lambda *arguments: 2.0 * found(*arguments))


@pytest.mark.long
@pytest.mark.parametrize(("bug", "least"), [(load_reversed, 2), (friction_off, 5), (delay_doubled, 6)])
def test_deliberate_bugs_turn_checks_to_no(
    folder: Path, bug: Callable[[pytest.MonkeyPatch], None], least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Experiment.make(folder, quiet)
    checks = bench_checks(found)
    assert {each.kind for each in checks} == {"real"}
    bug(monkeypatch)
    wrong = {each.claim for each in bench_checks(Experiment.make(folder, quiet)) if not each.holds}
    assert len({each.claim for each in checks if each.holds} & wrong) >= least
