# SPDX-License-Identifier: Apache-2.0
"""Gravity that is none, actuators on tendons, joints that others move."""

from __future__ import annotations

import mujoco
import pytest

from bam_core.mujoco.couplings import couple_mimics, followers
from bam_core.mujoco.description_checks import foreign_actuators, gravity_findings
from test.core.mujoco.test_robot_file import BOX, URDF
from test.core.whole_robot_cases import ARM


def described(option: str = "", **changes: str) -> mujoco.MjSpec:
    text = ARM.replace("<default>", f"{option}<default>", 1)
    for old, new in changes.items():
        text = text.replace(old, new)
    return mujoco.MjSpec.from_string(text)


@pytest.mark.parametrize(
    ("option", "gravity"),
    [
        ("", None),
        ('<option gravity="0 0 -9.8"/>', None),
        ('<option gravity="0 0 0"/>', (0.0, 0.0, 0.0)),
        ('<option gravity="0 -9.81 0"/>', (0.0, -9.81, 0.0)),
        ('<option gravity="0 0 9.81"/>', (0.0, 0.0, 9.81)),
        ('<option gravity="0 0 -1.62"/>', (0.0, 0.0, -1.62)),
        ('<option><flag gravity="disable"/></option>', (0.0, 0.0, 0.0)),
    ],
)
def test_gravity_that_is_not_that_of_the_ground_is_named(
    option: str, gravity: tuple[float, ...] | None
) -> None:
    found = list(gravity_findings(described(option)))
    assert [finding.gravity for finding in found] == ([] if gravity is None else [gravity])


def test_bodies_that_gravity_does_not_act_on_are_named() -> None:
    (found,) = gravity_findings(described(upper='upper" gravcomp="1'))
    assert (found.kind, found.bodies) == ("compensated", ("upper",))


def test_an_actuator_that_moves_servo_joints_by_a_tendon_is_named() -> None:
    more = """<tendon><fixed name="d"><joint joint="shoulder" coef="1"/>
    <joint joint="elbow" coef="-1"/></fixed></tendon>
    <actuator><position name="push" tendon="d" kp="50"/></actuator></mujoco>"""
    spec = mujoco.MjSpec.from_string(ARM.replace("</mujoco>", more))
    (found,) = foreign_actuators(spec, ("elbow",))
    assert (found.actuators, found.joints) == (("push",), ("elbow",))
    assert not list(foreign_actuators(spec, ()))
    assert not list(foreign_actuators(described(), ("elbow",)))


def test_a_joint_of_a_urdf_that_mimics_another_follows_it() -> None:
    finger = """<link name="f"><inertial><mass value="0.1"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="k" type="revolute"><parent link="arm"/><child link="f"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/>
      <mimic joint="j" multiplier="-0.5" offset="0.1"/></joint></robot>"""
    text = URDF.format(shape=BOX).replace("</robot>", finger)
    spec = mujoco.MjSpec.from_string(text)
    for equality in list(spec.equalities):  # as older versions of MuJoCo read it
        spec.delete(equality)
    couple_mimics(spec, text)
    couple_mimics(spec, text)
    assert followers(spec) == {"k"}
    model = spec.compile()
    assert (model.neq, *model.eq_data[0][:3]) == (1, 0.1, -0.5, 0.0)
    assert [model.joint(int(number)).name for number in (model.eq_obj1id[0], model.eq_obj2id[0])] == [
        "k",
        "j",
    ]
