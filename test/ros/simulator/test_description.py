# SPDX-License-Identifier: Apache-2.0
"""A robot's description has the limits that are enforced, and what the file says otherwise."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from bam_core.mujoco import bench_urdf
from bam_core.servo.pendulum import PendulumBench
from bam_ros.simulator.description import EnforcedLimits, with_limits

HALF = EnforcedLimits(lower=-math.pi, upper=1.5, effort=8.0, velocity=20.0)
ROBOT = """\
<robot name="arm">
  <!-- kept -->
  <joint name="hip" type="continuous"/>
  <joint name="knee" type="revolute"><limit lower="-9" upper="9" effort="3" velocity="2"/></joint>
  <joint name="slide" type="prismatic"><limit lower="0" upper="1" effort="3" velocity="2"/></joint>
  <joint name="wheel" type="continuous"/>
</robot>
"""


def limit_of(robot: ElementTree.Element, name: str) -> dict[str, float]:
    limit = robot.find(f"joint[@name='{name}']/limit")
    assert limit is not None
    return {key: float(value) for key, value in limit.attrib.items()}


def test_driven_joints_get_the_limits_in_force_and_keep_effort_and_velocity_of_the_file() -> None:
    text = with_limits(ROBOT, {"hip": HALF, "knee": HALF, "slide": HALF})
    robot = ElementTree.fromstring(text)
    assert "<!-- kept -->" in text
    assert limit_of(robot, "hip") == pytest.approx(
        {"lower": -math.pi, "upper": 1.5, "effort": 8.0, "velocity": 20.0}
    )
    assert limit_of(robot, "knee") == pytest.approx(
        {"lower": -math.pi, "upper": 1.5, "effort": 3.0, "velocity": 2.0}
    )
    assert limit_of(robot, "slide") == {"lower": 0.0, "upper": 1.0, "effort": 3.0, "velocity": 2.0}
    types = {joint.get("name"): joint.get("type") for joint in robot.iterfind("joint")}
    assert types == {"hip": "revolute", "knee": "revolute", "slide": "prismatic", "wheel": "continuous"}


def test_the_bench_is_a_joint_with_limits() -> None:
    robot = ElementTree.fromstring(
        with_limits(bench_urdf(PendulumBench(mass=0.5, length=0.2)), {"joint": HALF})
    )
    (hinge,) = robot.findall("joint[@type='revolute']")
    assert limit_of(robot, str(hinge.get("name")))["upper"] == 1.5
