# SPDX-License-Identifier: Apache-2.0
"""Servos of joints by class, pattern and name; joints that count; bases."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from bam_core.errors import BadData, Conflict, Missing, OutOfRange, UnknownName, WrongType
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.joints import (
    chosen_joints,
    joint_warnings,
    require_in_range,
    require_possible_speed,
    require_possible_supply,
    require_recorded,
    servos_by_joint,
)
from bam_core.robot.root import prepare_root, stand
from bam_core.servo.model import load_servo
from bam_core.text.robot_evidence_findings import JointsFinding
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, arm, goals

WALKER = """<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" mass="2"/>
      <body name="leg" pos="0.05 0 -0.1" euler="20 0 0">
        <joint name="hip" axis="0 1 0"/>
        <geom type="box" size="0.05 0.05 0.1" pos="0 0 -0.1" mass="0.5"/>
        <site name="sole" pos="0 0 -0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


def test_a_name_overrides_a_pattern_and_a_pattern_a_class() -> None:
    words = ["strong=a", "weak=b", "e*=c"]
    assert servos_by_joint(arm(), words) == {"shoulder": "a", "elbow": "c"}
    assert servos_by_joint(arm(), [*words, "elbow=d"]) == {"shoulder": "a", "elbow": "d"}
    assert servos_by_joint(arm(), ["elbow=d"]) == {"elbow": "d"}


def test_words_that_name_nothing_are_refused() -> None:
    with pytest.raises(UnknownName, match="strong"):
        servos_by_joint(arm(), ["strnog=a"])
    with pytest.raises(WrongType):
        servos_by_joint(arm(), ["mx106"])


def test_a_robot_without_a_named_hinge_has_no_joint_for_a_servo() -> None:
    text = "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    with refused(Missing, thing="joints of model 'MuJoCo Model'"):
        servos_by_joint(mujoco.MjSpec.from_string(text), ["*=mx106"])


def test_joints_that_count_are_named_or_left_out() -> None:
    joints = ("head_yaw", "head_pitch", "knee")
    assert chosen_joints(joints, []) == joints
    assert chosen_joints(joints, ["!head*"]) == ("knee",)
    assert chosen_joints(joints, ["head*", "!head_yaw"]) == ("head_pitch",)
    with pytest.raises(UnknownName):
        chosen_joints(joints, ["!tail*"])
    with pytest.raises(Missing):
        chosen_joints(joints, ["!*"])
    with pytest.raises(Conflict):
        require_recorded({"knee": "a"}, ["elbow"])
    with pytest.raises(Conflict) as caught:
        require_recorded({"shoulder_pan": "a"}, ["Rotation", "Jaw"])
    assert "--map sage_so101" in caught.value.advice


def test_a_fixed_base_does_not_move_and_a_free_one_may() -> None:
    for root, dofs in (("fixed", 1), ("free", 7)):
        spec = mujoco.MjSpec.from_string(WALKER)
        prepare_root(spec, root)
        assert compile_robot(spec).nv == dofs


def test_a_site_on_the_ground_lies_at_the_origin_upright_on_a_floor() -> None:
    spec = mujoco.MjSpec.from_string(WALKER)
    prepare_root(spec, "sole")
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    data.qpos[model.joint("hip").qposadr] = 0.4
    stand(model, data, "sole")
    mujoco.mj_forward(model, data)
    assert np.allclose(data.site("sole").xpos, 0.0, atol=1e-9)
    assert np.allclose(data.site("sole").xmat.reshape(3, 3), np.eye(3), atol=1e-9)
    assert np.any(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
    with pytest.raises(UnknownName, match="sole"):
        prepare_root(mujoco.MjSpec.from_string(WALKER), "toe")
    fixed = arm()
    fixed.body("upper").add_site(name="here")
    with pytest.raises(Missing, match="--root fixed"):
        prepare_root(fixed, "here")


def test_joints_that_nothing_drives_or_no_log_has_are_told() -> None:
    both = {"shoulder": "a", "elbow": "b"}
    assert joint_warnings(arm(), both, ["shoulder", "elbow"]) == []
    assert joint_warnings(arm(), {"elbow": "b"}, ["shoulder", "elbow"]) == [
        JointsFinding(kind="undriven", joints=("shoulder",))
    ]
    assert joint_warnings(arm(), both, ["shoulder"]) == [JointsFinding(kind="held", joints=("elbow",))]


def test_positions_that_a_joint_cannot_have_are_refused() -> None:
    spec = arm()
    for joint in spec.joints:
        joint.limited, joint.range = True, [-90.0, 90.0] if spec.compiler.degree else [-1.5, 1.5]
    swing = np.linspace(-1.0, 1.0, 50)[:, None] * np.ones(2)
    require_in_range(spec, "run", ["shoulder", "elbow"], swing)
    with pytest.raises(BadData, match=r"'shoulder'.*not degrees"):
        require_in_range(spec, "run", ["shoulder", "elbow"], np.degrees(swing))
    for joint in spec.joints:
        joint.limited = False
    require_in_range(spec, "run", ["shoulder", "elbow"], np.degrees(swing))


@pytest.mark.parametrize(("supply", "is_possible"), [(None, True), (12.0, True), (7.4, True), (120.0, False)])
def test_a_supply_that_no_servo_has_is_refused(supply: float | None, is_possible: bool) -> None:
    run, driven = replace(goals(60.0), supply_voltage=supply), {"shoulder": load_servo("sts3215")}
    if is_possible:
        require_possible_supply(run, driven)
        return
    with refused(OutOfRange, thing=f"{run.name}, supply"):
        require_possible_supply(run, driven)


@pytest.mark.parametrize(("positions", "times"), [(57.3, 1.0), (1.0, 0.02)])
def test_positions_that_no_servo_is_so_fast_for_are_refused(positions: float, times: float) -> None:
    """Degrees in place of radians, or times that are too short."""
    run = goals(60.0)
    moved = replace(run, position=run.goal_position)
    servos = dict.fromkeys(JOINTS, load_servo("sts3215"))
    require_possible_speed("run", moved, servos)
    with refused(BadData, thing="run, positions of 'shoulder'"):
        require_possible_speed(
            "run", replace(moved, position=positions * moved.position, time=times * moved.time), servos
        )
