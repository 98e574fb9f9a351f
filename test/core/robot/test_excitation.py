# SPDX-License-Identifier: Apache-2.0
"""Motions that never slow down or never change a load are named before time is spent on them."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from bam_core.errors import UnknownName
from bam_core.robot.evidence_checks import require_excitation
from bam_core.robot.excitation import excitation, load_torques
from bam_core.robot.result import RobotTask
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import load_servo
from bam_core.text.robot_evidence_findings import IdleMotors, NoLoad, SteadySpeed

MASS, LENGTH = 0.8, 0.25  # kg, m: 2 N·m at most, beyond the friction of the servo
ARM = f"""<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 0 -9.80665"/>
  <default><joint armature="0.4" damping="3" frictionloss="2"/></default>
  <worldbody>
    <body><joint name="loaded" axis="0 1 0"/>
      <geom type="sphere" pos="0 0 -{LENGTH}" size="0.02" mass="{MASS}"/></body>
    <body><joint name="upright" axis="0 0 1"/>
      <geom type="sphere" pos="0.1 0 0" size="0.02" mass="0.1"/></body>
  </worldbody>
</mujoco>"""
TIME = np.arange(0.0, 20.0, 1.0 / 30.0)
SINE = 0.8 * np.sin(1.5 * TIME)
TRIANGLE = 0.8 * (2.0 / np.pi) * np.arcsin(np.sin(1.5 * TIME))  # the same speed always
STOPS = np.where(np.sin(0.7 * TIME) > 0.0, TRIANGLE, 0.1)


def run(loaded: np.ndarray, upright: np.ndarray) -> RobotRun:
    position = np.stack([loaded, upright], axis=1)
    joints = ("loaded", "upright")
    return RobotRun(name="run", joints=joints, time=TIME, goal_position=position, position=position, kp=16.0)


def task(one: RobotRun, joints: tuple[str, ...], root: str = "fixed") -> RobotTask:
    servo = load_servo("sts3215")
    bench = RobotBench.make(mujoco.MjSpec.from_string(ARM), "fixed")
    types = dict.fromkeys(joints, "sts3215")
    return RobotTask(
        bench=replace(bench, root=root), types=types, servos={"sts3215": servo}, joints=joints, train=[one]
    )


@pytest.mark.parametrize(("motion", "expected"), [(SINE, 8.0 / np.pi**2), (TRIANGLE, 1.0)])
def test_steadiness_is_that_of_the_motion(motion: np.ndarray, expected: float) -> None:
    assert excitation([run(motion, SINE)], "loaded", None).steadiness == pytest.approx(expected, abs=0.05)


def test_the_load_is_that_of_gravity_and_inertia_without_the_servo() -> None:
    found = load_torques(mujoco.MjSpec.from_string(ARM), run(SINE, SINE))
    gravity = MASS * 9.80665 * LENGTH * np.sin(SINE)
    inertia = -(1.5**2) * MASS * LENGTH**2 * SINE
    inside = slice(10, -10)
    assert found[inside, 0] == pytest.approx((gravity + inertia)[inside], abs=0.03)
    assert np.abs(found[inside, 1]).max() < 0.01


def test_a_joint_that_the_robot_does_not_have_is_refused() -> None:
    with pytest.raises(UnknownName, match="wrist"):
        load_torques(mujoco.MjSpec.from_string(ARM), replace(run(SINE, SINE), joints=("loaded", "wrist")))


def test_motions_that_slow_down_and_carry_raise_nothing() -> None:
    assert require_excitation(task(run(SINE, SINE), ("loaded",))) == []


def test_a_joint_that_carries_nothing_is_named() -> None:
    (finding,) = require_excitation(task(run(SINE, SINE), ("loaded", "upright")))
    assert isinstance(finding, IdleMotors)
    assert (finding.joints, finding.servo) == (("upright",), "sts3215")


def test_without_slow_parts_coulomb_and_viscous_friction_are_one_number() -> None:
    steady = task(run(TRIANGLE, TRIANGLE), ("loaded",))
    (finding,) = require_excitation(steady)
    assert isinstance(finding, SteadySpeed)
    assert finding.speed == pytest.approx(0.8 * 1.5 * 2.0 / np.pi, rel=0.1)
    assert require_excitation(task(run(STOPS, STOPS), ("loaded",))) == []
    # One joint that slows down tells it for all of its type.
    (finding,) = require_excitation(task(run(TRIANGLE, SINE), ("loaded", "upright")))
    assert isinstance(finding, IdleMotors)
    assert finding.joints == ("upright",)


def test_without_loads_the_torque_constant_is_not_known() -> None:
    idle = task(run(SINE, SINE), ("upright",))
    (finding,) = require_excitation(idle)
    assert isinstance(finding, NoLoad)
    assert finding.load < finding.friction


def test_a_motion_with_neither_leaves_both_as_they_were_known() -> None:
    """Priors hold what the runs do not determine, so nothing is refused."""
    findings = require_excitation(task(run(TRIANGLE, TRIANGLE), ("upright",)))
    assert [finding.kind for finding in findings] == ["steady_speed", "no_load"]


def test_loads_of_a_robot_on_its_feet_are_not_asked_about() -> None:
    assert require_excitation(task(run(SINE, SINE), ("upright",), "sole")) == []


def test_joints_that_rest_do_not_hide_those_that_never_slow_down() -> None:
    (finding,) = require_excitation(task(run(TRIANGLE, np.zeros_like(TIME)), ("loaded", "upright")))
    assert finding.kind == "steady_speed"


def test_only_the_part_that_counts_is_looked_at() -> None:
    mixed = np.where(TIME < 10.0, TRIANGLE, 0.3)
    part = replace(run(mixed, SINE), interval=(0.0, 9.5))
    assert excitation([part], "loaded", None).steadiness > 0.9
    assert excitation([run(mixed, SINE)], "loaded", None).steadiness < 0.6
