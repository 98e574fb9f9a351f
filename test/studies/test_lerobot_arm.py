# SPDX-License-Identifier: Apache-2.0
"""A desk arm recorded as LeRobot does it: what is found, and what is refused in words that its users know."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bam_core.cli import main
from bam_core.robot.evidence_checks import require_evidence
from bam_core.robot.load import RunSettings, load_runs
from bam_core.text.robot_evidence_findings import SlowRate
from studies import lerobot_arm
from studies.lerobot_arm import FPS, JOINTS, hidden, recorded, teleoperation


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("desk")
    assert lerobot_arm.main([str(place), "--episodes", "3", "--seconds", "6"]) == 0
    return place


def command(place: Path, name: str, *more: str) -> list[str]:
    robot = ["--robot", str(place / "arm.xml"), "--servos", "sts3215=sts3215"]
    return ["robot", name, *robot, str(place / "desk_arm"), *more]


def test_the_hand_s_motion_is_one_of_30_frames_per_second_with_jitter() -> None:
    goals = teleoperation(1, 5.0)
    gaps = np.diff(goals.time)
    assert gaps.mean() == pytest.approx(1.0 / FPS, rel=0.01)
    assert gaps.std() > 1e-3
    assert np.ptp(goals.goal_position, axis=0).min() > 0.3


def test_the_recording_is_what_hidden_servos_did_in_counts() -> None:
    truth = hidden()
    run = recorded(teleoperation(1, 2.0), truth)
    counts = run.position * 4096 / (2.0 * np.pi)
    assert counts == pytest.approx(np.round(counts), abs=1e-6)
    assert run.joints == JOINTS
    assert 2e-3 < np.abs(run.position - run.goal_position).mean() < 0.2


def test_friction_that_fades_is_warned_of_at_30_hz(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = load_runs([place / "desk_arm"], RunSettings(kp=16.0))
    types = dict.fromkeys(runs[0].joints, "sts3215")
    slow = require_evidence(runs, list(types), types, ["m1", "m6"])[0]
    assert isinstance(slow, SlowRate)
    assert (slow.models, slow.runs, round(slow.rate)) == (("m6",), len(runs), FPS)
    assert main(command(place, "identify", "--output", str(tmp_path / "out"))) == 2
    assert "LeRobot" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_episodes_that_are_named_are_held_out(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--kp", "16", "--models", "m1", "--output", str(tmp_path / "out"), "--joints", "elbow_flex"]
    assert main(command(place, "identify", *options, "--test", "desk_arm_episode_[0-9]")) == 2
    assert "all of the logs" in capsys.readouterr().err


@pytest.mark.long
def test_episodes_that_took_no_part_are_followed_better(tmp_path: Path) -> None:
    assert lerobot_arm.main([str(tmp_path), "--episodes", "4", "--seconds", "15"]) == 0
    output = tmp_path / "out"
    options = ["--kp", "16", "--models", "m1", "--output", str(output)]
    assert main(command(tmp_path, "identify", *options, "--test", "desk_arm_episode_3")) == 0
    found = json.loads((output / "summary.json").read_text())["models"]["m1"]
    assert found["test_mae"] < 0.6 * found["test_mae_before"]
