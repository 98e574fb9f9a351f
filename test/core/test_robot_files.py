# SPDX-License-Identifier: Apache-2.0
"""The files in `config/robots` are what the code describes, and MJCF and URDF are one robot."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from robot_files import main, robot_files

from bam_core.mujoco import ServoActuation, compile_robot, equip, load_robot
from bam_core.servo.model import load_servo

ROBOTS = Path(__file__).parents[2] / "config" / "robots"
NAMES = ("bench", "dynamixel_2r", "erob_2r")


def test_the_files_are_what_the_code_describes() -> None:
    for name, text in robot_files().items():
        assert (ROBOTS / name).read_text(encoding="utf-8") == text, (
            f"{name}: outdated; python tools/robot_files.py config/robots"
        )


def test_the_command_writes_all_of_them(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 0
    assert {file.name for file in tmp_path.iterdir()} == {
        "dynamixel_2r_servos.xml",
        "dynamixel_2r_limits.urdf",
        *(f"{n}.{kind}" for n in NAMES for kind in ("xml", "urdf")),
    }


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_move_alike(name: str) -> None:
    tracks = []
    for kind in ("xml", "urdf"):
        spec = load_robot(ROBOTS / f"{name}.{kind}")
        spec.option.timestep = 1e-3
        joints = [joint.name for joint in spec.joints]
        servos = {joint: load_servo("mx106" if name != "erob_2r" else "erob80_100") for joint in joints}
        equip(spec, servos)
        model = compile_robot(spec)
        actuation = ServoActuation(model, mujoco.MjData(model), servos)
        actuation.torque_enabled[:] = 1.0
        actuation.goal_position[:] = 0.5
        track = []
        for _ in range(500):
            actuation.step()
            track.append(actuation.position.copy())
        tracks.append(np.array(track))
    assert np.abs(tracks[0]).max() > 0.05
    np.testing.assert_allclose(tracks[0], tracks[1], atol=1e-4)  # MJCF text has six digits


@pytest.mark.parametrize("name", NAMES)
def test_links_have_the_names_of_bodies(name: str) -> None:
    """Markers are drawn in frames that robot_state_publisher names after links."""
    bodies = [load_robot(ROBOTS / f"{name}.{kind}").compile() for kind in ("xml", "urdf")]
    found = [{model.body(model.jnt_bodyid[j]).name for j in range(model.njnt)} for model in bodies]
    assert found[0] == found[1]


def test_the_arm_with_servos_is_one_of_position_actuators_for_mujoco_ros2_control() -> None:
    """It reads the kind of an actuator off its bias, and names those that act on a joint."""
    model = load_robot(ROBOTS / "dynamixel_2r_servos.xml").compile()
    assert [model.actuator(i).name for i in range(model.nu)] == ["shoulder", "elbow"]
    assert (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT).all()
    assert (model.actuator_plugin >= 0).all()
    assert (model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE).all()
    assert (model.actuator_biasprm[:, 1] != 0.0).all()


def test_the_bias_of_the_arm_with_servos_moves_nothing() -> None:
    text = (ROBOTS / "dynamixel_2r_servos.xml").read_text(encoding="utf-8")
    tracks = []
    for xml in (text, text.replace('biastype="affine" biasprm="0 -1 0"', 'biastype="none"')):
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.5
        track = []
        for _ in range(500):
            mujoco.mj_step(model, data)
            track.append(data.qpos.copy())
        tracks.append(np.array(track))
    assert np.abs(tracks[0]).max() > 0.05
    np.testing.assert_array_equal(tracks[0], tracks[1])


def test_an_arm_like_an_so101_has_its_joints_in_the_order_of_their_ids_and_its_weight() -> None:
    model = load_robot(ROBOTS / "so101_like.xml").compile()
    assert [model.joint(index).name for index in range(model.njnt)] == [
        "shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper",
    ]  # fmt: skip
    data = mujoco.MjData(model)
    data.joint("shoulder_lift").qpos[0], data.joint("elbow_flex").qpos[0] = np.pi / 2, -np.pi / 2
    mujoco.mj_forward(model, data)  # stretched forward
    from_wrist = 0.079 * 0.0386 + 0.087 * (0.0611 + 0.0252) + 0.012 * (0.0611 + 0.0234 + 0.03)
    from_elbow = from_wrist + (0.079 + 0.087 + 0.012) * 0.1349 + 0.104 * 0.0981
    from_shoulder = from_elbow + (0.104 + 0.079 + 0.087 + 0.012) * 0.1126 + 0.103 * 0.0898
    for joint, moment in (
        ("wrist_flex", from_wrist),
        ("elbow_flex", from_elbow),
        ("shoulder_lift", from_shoulder),
    ):
        assert data.joint(joint).qfrc_bias[0] == pytest.approx(-9.80665 * moment, rel=1e-3)
    assert data.joint("shoulder_pan").qfrc_bias[0] == pytest.approx(0.0, abs=1e-9)
