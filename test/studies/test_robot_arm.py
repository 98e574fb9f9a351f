# SPDX-License-Identifier: Apache-2.0
"""The virtual arm: what is hidden differs from what is known; its intervals are counted as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from mujoco import sysid

from bam_core.identification.executors import Call
from studies.robot_arm import compare, intervals
from studies.robot_arm.arm import BODIES, JOINTS, motion, six_joint_arm
from studies.robot_arm.hidden import draw_arm, draw_session, joint_types
from studies.robot_arm.intervals import Parameter


def test_the_description_has_the_joints_and_bodies_that_are_named() -> None:
    model = six_joint_arm().compile()
    assert [model.joint(number).name for number in range(model.njnt)] == list(JOINTS)
    assert [model.body(number).name for number in range(1, model.nbody)] == list(BODIES)
    assert set(joint_types().values()) == {"mx106", "mx64"}


@pytest.mark.parametrize("name", ["waves", "moves"])
def test_motions_begin_at_rest_and_stay_in_reach(name: str) -> None:
    run = motion(name, np.random.default_rng(0), kp=16.0, rate=100.0, duration=6.0)
    speed = np.diff(run.goal_position, axis=0) * 100.0
    assert np.abs(speed[:3]).max() < 0.2
    assert np.abs(run.goal_position).max() < 2.5
    assert np.ptp(run.goal_position, axis=0).min() > 0.3  # every joint moves
    assert np.abs(speed).max() < 8.0


def test_no_unit_is_its_type_and_runs_are_counts_of_what_units_do() -> None:
    random = np.random.default_rng(3)
    arm = draw_arm(random)
    for joint, name in joint_types().items():
        assert arm.units[joint].motor != arm.types[name].motor
        assert arm.units[joint].friction != arm.types[name].friction
    fitted, test = draw_session(arm, random, rate=100.0, duration=1.0)
    assert not {run.kp for run in fitted} & {run.kp for run in test}
    counts = fitted[0].position / (2.0 * np.pi / 4096.0)
    assert np.abs(counts - np.round(counts)).max() < 1e-6
    assert np.ptp(fitted[0].position) > 0.01


def test_a_share_is_of_the_intervals_that_hold_the_truth() -> None:
    common = {"value": 1.0, "low": 0.5, "high": 1.5}
    found = [
        Parameter(name="a b", truth=1.2, told=True, **common),
        Parameter(name="a b", truth=2.0, told=True, **common),
        Parameter(name="a c", truth=1.5, told=False, **common),
    ]
    table = intervals._table(found).splitlines()
    assert table[-1].split() == ["all", "67", "67", "50"]
    assert table[-2].split() == ["a", "c", "100", "0", "-"]


def test_a_study_goes_on_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def here(executor: object, calls: list[Call[intervals.Arm]]) -> Iterator[tuple[int, intervals.Arm]]:
        one = Parameter(name="a b", truth=1.0, value=1.0, low=0.5, high=1.5, told=True)
        for index, call in enumerate(calls):
            (rate, duration), (seed,) = call.shared.value, call.arguments
            asked.append(seed)
            yield (
                index,
                intervals.Arm(
                    seed=seed,
                    rate=rate,
                    duration=duration,
                    cpu_seconds=2.0,
                    parameters=[one],
                    test_mae=1e-3,
                    coverage=0.9,
                ),
            )

    monkeypatch.setattr(intervals, "run_jobs", here)
    words = ["--first", "3", "--json", str(tmp_path / "arms.json")]
    assert intervals.main(["--repeats", "2", *words]) == 0
    assert intervals.main(["--repeats", "4", *words]) == 0
    assert asked == [3, 4, 5, 6]
    assert "4 arms, 2 s" in capsys.readouterr().out
    assert intervals.main(["--rate", "500", *words]) == 2
    assert "another rate" in capsys.readouterr().err
    (tmp_path / "arms.json").write_text("[1]")
    assert intervals.main(words) == 2
    assert "no file of this study" in capsys.readouterr().err


@pytest.mark.long
def test_an_arm_is_found_and_its_intervals_are_written(tmp_path: Path) -> None:
    output = tmp_path / "intervals.json"
    assert intervals.main(["--repeats", "1", "--duration", "4", "--json", str(output)]) == 0
    (arm,) = json.loads(output.read_text())
    entries = arm["parameters"]
    assert {each["name"].split()[0] for each in entries} == {"mx106", "mx64"}
    assert sum(each["low"] <= each["truth"] <= each["high"] for each in entries) > 0.7 * len(entries)


def test_what_cannot_be_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(sysid, "optimize", raising=False)
    assert compare.main([]) == 2
    error = capsys.readouterr().err
    assert "pip install 'mujoco[sysid]'" in error
    assert error.count("\n") == 1
    assert compare.main(["--seeds", "0"]) == 2
    assert intervals.main(["--repeats", "0"]) == 2
