# SPDX-License-Identifier: Apache-2.0
"""Policies address actuators by number: beside servos, these and the controls of keyframes stay."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest

from bam_core.mujoco import actuate, compile_robot, equip
from bam_core.mujoco.native import NativeServo, equip_native

# Joints a to e in a chain; between their actuators one of a tendon, and one with an activation.
LINKS = "abcde"
BODIES = "".join(
    f'<body pos="0 0 {0 if joint == "a" else -0.2}"><joint name="{joint}" axis="0 1 0"/>'
    '<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.3"/>'
    for joint in LINKS
)
ROBOT = f"""
<mujoco>
  <option timestep="0.0005"/>
  <worldbody>{BODIES}{"</body>" * len(LINKS)}</worldbody>
  <tendon><fixed name="t"><joint joint="a" coef="1"/></fixed></tendon>
  <actuator>
    <position name="act_a" joint="a" kp="3"/>
    <motor name="act_t" tendon="t"/>
    <position name="act_b" joint="b" kp="3"/>
    <motor name="act_c" joint="c" gear="2" ctrlrange="-1 1" forcerange="-1 1"/>
    <intvelocity name="act_d" joint="d" kp="2" actrange="-1 1"/>
    <velocity name="act_c2" joint="c" kv="0.1"/>
    <motor name="act_a2" tendon="t"/>
  </actuator>
  <sensor>
    <actuatorpos name="s_t" actuator="act_t"/>
    <actuatorfrc name="s_b" actuator="act_b"/>
    <actuatorfrc name="s_c2" actuator="act_c2"/>
    <jointpos name="s_e" joint="e"/>
  </sensor>
  <keyframe>
    <key name="stand" qpos="0.1 0.2 0.3 0.4 0.5" ctrl="1 2 3 4 5 6 7" act="0.25"/>
    <key name="zero"/>
  </keyframe>
</mujoco>
"""
NAMES = ["act_a", "act_t", "act_b", "act_c", "act_d", "act_c2", "act_a2"]
JOINT_OF = {"act_a": "a", "act_b": "b", "act_c": "c", "act_d": "d"}
STAND = dict(zip(NAMES, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0), strict=True))
POSITION = dict(zip(LINKS, (0.1, 0.2, 0.3, 0.4, 0.5), strict=True))

CHOICES = [tuple(joints) for count in (1, 2, 5) for joints in itertools.combinations(LINKS, count)]


def robot() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(ROBOT)


def native(joints: tuple[str, ...], **options: bool) -> mujoco.MjModel:
    spec = robot()
    equip_native(spec, {joint: NativeServo(servo="mx64", **options) for joint in joints})
    return compile_robot(spec)


def names(model: mujoco.MjModel) -> list[str]:
    return [model.actuator(number).name for number in range(model.nu)]


@pytest.mark.parametrize("joints", CHOICES, ids="".join)
def test_a_native_servo_takes_the_place_of_its_joint_s_actuator(joints: tuple[str, ...]) -> None:
    model = native(joints)
    left = [name for name in NAMES if not (name == "act_c2" and "c" in joints)]
    expected = [JOINT_OF[name] if JOINT_OF.get(name) in joints else name for name in left]
    expected += [joint for joint in joints if joint == "e"]  # which had none
    assert names(model) == expected
    for number, name in enumerate(expected):
        assert (model.actuator_plugin[number] >= 0) == (name in joints)
        if name in joints:
            assert model.joint(model.actuator_trnid[number, 0]).name == name
            assert not model.actuator_ctrllimited[number]
            assert not model.actuator_forcelimited[number]
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    assert np.isfinite(data.qacc).all()


@pytest.mark.parametrize("joints", CHOICES, ids="".join)
def test_controls_and_activations_of_keyframes_stay_with_their_actuators(joints: tuple[str, ...]) -> None:
    model = native(joints)
    goals = POSITION | {joint: STAND[f"act_{joint}"] for joint in "ab"}  # which have position actuators
    stand = [goals[name] if name in joints else STAND[name] for name in names(model)]
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    assert data.ctrl.tolist() == stand
    assert data.act.tolist() == ([] if "d" in joints else [0.25])
    mujoco.mj_resetDataKeyframe(model, data, 1)
    assert not data.ctrl.any()


def test_torque_enable_comes_behind_and_is_on_in_keyframes() -> None:
    model = native(("b", "e", "a"), has_torque_enable=True)
    assert names(model) == [
        *("a", "act_t", "b", "act_c", "act_d", "act_c2", "act_a2"),
        *("b_torque_enable", "e", "e_torque_enable", "a_torque_enable"),
    ]
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    assert data.ctrl.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0, POSITION["e"], 1.0, 1.0]


def test_sensors_stay_in_order_with_their_actuators() -> None:
    model = native(("b",))
    assert [model.sensor(number).name for number in range(model.nsensor)] == ["s_t", "s_b", "s_c2", "s_e"]
    assert model.actuator(model.sensor_objid[1]).name == "b"
    assert [native(("c",)).sensor(number).name for number in range(3)] == ["s_t", "s_b", "s_e"]


def test_a_servo_in_an_actuator_s_place_moves_as_one_of_a_joint_without() -> None:
    spec = robot()
    for actuator in list(spec.actuators):
        if JOINT_OF.get(actuator.name) == "b":
            spec.delete(actuator)
    for sensor in list(spec.sensors):
        if sensor.objname == "act_b":
            spec.delete(sensor)
    for key in list(spec.keys):
        spec.delete(key)
    equip_native(spec, {"b": NativeServo(servo="mx64")})
    ends = []
    for model in (native(("b",)), compile_robot(spec)):
        data = mujoco.MjData(model)
        data.ctrl[names(model).index("b")] = 0.7
        mujoco.mj_step(model, data, 400)
        ends.append(data.qpos.copy())
    np.testing.assert_array_equal(*ends)


def test_servos_can_be_replaced_by_others() -> None:
    spec = robot()
    for servo in ("mx64", "mx106"):
        equip_native(spec, {"b": NativeServo(servo=servo, has_torque_enable=True)})
    model = compile_robot(spec)
    assert names(model) == [*NAMES[:2], "b", *NAMES[3:], "b_torque_enable"]
    assert model.nplugin == 1


@pytest.mark.parametrize("joints", CHOICES, ids="".join)
def test_equip_keeps_the_other_actuators_and_their_controls_in_keyframes(joints: tuple[str, ...]) -> None:
    spec = robot()
    equip(spec, dict.fromkeys(joints, "mx64"))
    model = compile_robot(spec)
    left = [name for name in NAMES if JOINT_OF.get(name.removesuffix("2")) not in joints or name == "act_a2"]
    assert names(model) == left
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    assert data.ctrl.tolist() == [STAND[name] for name in left]
    assert data.act.tolist() == ([] if "d" in joints else [0.25])
    actuate(model, data, dict.fromkeys(joints, "mx64")).step()
