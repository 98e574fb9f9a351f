# SPDX-License-Identifier: Apache-2.0
"""An emulated arm that LeRobot recorded: what was identified beside what the emulator hides."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from bam_core.mujoco.robot_file import load_robot
from bam_ros.emulators.dynamixel.builder import BusSetup, build_arm_bus
from bam_ros.emulators.feetech.catalog import FEETECH
from studies import lerobot_loop
from studies.lerobot_loop import compared, hidden

ROBOT = Path(__file__).parents[2] / "config" / "robots" / "so101_like.xml"
SEED = 3
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    joints = [joint.name for joint in load_robot(ROBOT).joints]
    motors = {
        joint: {"homing_offset": 10, "range_min": 1000, "range_max": 3000 + 10 * number}
        for number, joint in enumerate(joints)
    }
    file = tmp_path / "follower.json"
    file.write_text(json.dumps(motors))
    return file


def test_what_is_hidden_is_what_the_emulator_has(calibration: Path) -> None:
    truth = hidden(ROBOT, calibration, SEED, JOINTS)
    spec = load_robot(ROBOT)
    servos = {joint.name: "sts3215" for joint in spec.joints}
    setup = BusSetup(catalog=FEETECH, servo="sts3215", ids=range(1, 7), seed=SEED)
    bus = build_arm_bus(setup, spec, servos, 0.0)
    assert "zero gripper" not in truth
    for joint, servo in zip(JOINTS, bus.servos, strict=False):  # without the gripper
        motor = servo.bench.hidden.motor
        assert motor.torque_constant == truth["sts3215 torque_constant"]
        strength = 1.0 + truth[f"strength {joint}"]
        assert motor.resistance == pytest.approx(truth["sts3215 resistance"] / strength)
    # 2048 counts are the description's zero, less the offset; the range's middle is that of the dataset.
    assert truth["zero shoulder_lift"] == pytest.approx((2048 - 10 - 2005) * 2.0 * math.pi / 4096)


def test_intervals_are_counted_that_hold_the_truth(
    calibration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = hidden(ROBOT, calibration, SEED, JOINTS)

    def estimate(value: float, half: float) -> dict[str, object]:
        return {"value": value, "low": value - half, "high": value + half, "told": True}

    constant, pan = truth["sts3215 torque_constant"], truth["zero shoulder_pan"]
    model = {
        "train_mae": 1e-3,
        "test_mae": 2e-3,
        "test_mae_before": 9e-3,
        "parameters": {"sts3215": {"torque_constant": estimate(1.02 * constant, 0.05 * constant)}},
        "deviations": {"zero shoulder_pan": estimate(pan + 0.02, 0.01), "delay": estimate(0.01, 0.01)},
    }
    assert [(each.name, each.held) for each in compared(model, truth)] == [
        ("sts3215 torque_constant", True),
        ("zero shoulder_pan", False),
    ]
    summary = tmp_path / "summary.json"
    summary.write_text(json.dumps({"models": {"m3": model}, "joints": dict.fromkeys(JOINTS, "sts3215")}))
    options = ["--robot", str(ROBOT), "--seed", str(SEED)]
    assert lerobot_loop.main([str(summary), str(calibration), *options]) == 0
    assert "1 of 2 intervals" in capsys.readouterr().out
    assert lerobot_loop.main([str(tmp_path / "none.json"), str(calibration), *options]) == 2
