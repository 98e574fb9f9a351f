# SPDX-License-Identifier: Apache-2.0
"""Gears on the joints of MuJoCo models."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from bam_core.errors import Conflict, OutOfRange, UnknownName, Unsupported, WrongShape
from bam_core.gears import Asymmetry
from bam_core.gears.robot import GearedRobot, JointGear
from bam_core.servo.friction import Friction
from papers.kikuuwe.examples import two_links
from test.core.refusals import refused

ARM = """
<mujoco>
  <option timestep="1e-3"/>
  <worldbody>
    {floor}
    <body pos="0 0 0.4">
      <joint name="shoulder" axis="0 1 0" armature="0.05"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" mass="1"/>
      <body pos="0.5 0 0">
        <joint name="elbow" axis="0 1 0" armature="0.03"/>
        <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="0.6"/>
      </body>
    </body>
    <body pos="2 0 0.5"><freejoint name="loose"/><geom size="0.05" mass="0.2"/></body>
  </worldbody>
</mujoco>
"""
FLOOR = '<geom type="plane" size="3 3 0.1"/>'
LOCKING = JointGear(asymmetry=Asymmetry(input_side=0.1, output_side=1.05))


def arm(floor: str = "") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(ARM.format(floor=floor))
    return model, mujoco.MjData(model)


def joint(data: mujoco.MjData, name: str) -> float:
    return float(data.joint(name).qpos[0])


@pytest.mark.parametrize("damping", [0.0, 3.0])
@pytest.mark.parametrize("floor", ["", FLOOR])
def test_without_gears_a_robot_moves_as_in_mujoco(floor: str, damping: float) -> None:
    model, data = arm(floor)
    model.dof_damping[:2] = damping
    other = mujoco.MjData(model)
    robot = GearedRobot(model, data, {})
    for _ in range(500):
        robot.step()
        mujoco.mj_step(model, other)
    assert data.qpos == pytest.approx(other.qpos, abs=1e-6)
    assert data.time == pytest.approx(other.time)


def test_the_inertia_of_two_links_is_that_of_the_textbook() -> None:
    model = two_links()
    data = mujoco.MjData(model)
    for q1, q2 in np.random.default_rng(0).uniform(-3, 3, (20, 2)):
        data.qpos[:], data.qvel[:] = (q1, q2), (0.7, -1.1)
        mujoco.mj_forward(model, data)
        full = np.empty((2, 2))
        mujoco.mj_fullM(model, data, full)
        cosine, sine = np.cos(q2), np.sin(q2)
        expected = [[3.0 + 2.0 * cosine, 1.0 + cosine], [1.0 + cosine, 1.0]]
        assert full - np.eye(2) == pytest.approx(np.array(expected), abs=1e-9)
        v1, v2 = data.qvel
        bias = [-sine * (2.0 * v1 * v2 + v2**2), sine * v1**2]
        assert data.qfrc_bias == pytest.approx(np.array(bias), abs=1e-9)


def test_self_locking_joints_carry_the_arm_without_any_creep() -> None:
    model, data = arm()
    robot = GearedRobot(model, data, {"shoulder": LOCKING, "elbow": LOCKING})
    for _ in range(2000):
        robot.step()
    assert joint(data, "shoulder") == joint(data, "elbow") == 0.0
    assert data.joint("loose").qpos[2] < -10.0  # what has no gear falls


def test_the_joint_that_does_not_lock_gives_way_alone() -> None:
    model, data = arm()
    robot = GearedRobot(model, data, {"shoulder": LOCKING})
    for _ in range(200):
        robot.step()
    assert joint(data, "shoulder") == 0.0
    assert joint(data, "elbow") > 0.1


def test_coulomb_friction_beside_a_gear_holds_what_it_can() -> None:
    model, data = arm()
    gears = {
        name: JointGear(
            asymmetry=Asymmetry(input_side=0.0, output_side=0.0), friction=Friction(coulomb=torque)
        )
        for name, torque in (("shoulder", 8.0), ("elbow", 0.6))
    }
    robot = GearedRobot(model, data, gears)  # gravity: 6.7 N·m at the shoulder, 1.2 N·m at the elbow
    for _ in range(100):
        robot.step()
    assert joint(data, "shoulder") == 0.0
    assert joint(data, "elbow") > 0.0


@pytest.mark.long
def test_an_arm_pressed_to_the_floor_keeps_pressing_when_its_drive_is_off_and_lifts_off_when_pulled() -> None:
    model, data = arm(FLOOR)
    robot = GearedRobot(model, data, {"shoulder": LOCKING, "elbow": LOCKING})

    def press(torque: float, steps: int) -> float:
        for _ in range(steps):
            robot.step(np.array([torque, 0.0, 0, 0, 0, 0, 0, 0]))
        return float(robot.constraint_torque[0])

    held = press(30.0, 900)
    assert held < -100.0  # N·m: the impact wedged it in
    angle = joint(data, "shoulder")
    assert press(0.0, 400) == pytest.approx(held, rel=0.05)
    assert joint(data, "shoulder") == angle
    press(-30.0, 300)
    assert joint(data, "shoulder") < angle - 0.1


def test_joints_that_do_not_exist_or_do_not_hinge_are_refused() -> None:
    model, data = arm()
    with refused(UnknownName, kind="joint", name="wrist"):
        GearedRobot(model, data, {"wrist": LOCKING})
    with refused(Unsupported, thing="joint 'loose'"):
        GearedRobot(model, data, {"loose": LOCKING})


def test_actuators_that_remember_something_are_refused() -> None:
    actuator = '<actuator><general joint="elbow" dyntype="integrator"/></actuator></mujoco>'
    model = mujoco.MjModel.from_xml_string(ARM.format(floor="").replace("</mujoco>", actuator))
    with refused(Unsupported, thing="robot with gears"):
        GearedRobot(model, mujoco.MjData(model), {"shoulder": LOCKING})


def test_a_joint_with_friction_of_its_own_beside_the_gear_is_refused() -> None:
    model, data = arm()
    model.dof_frictionloss[0] = 0.3
    with refused(Conflict, thing="joint 'shoulder'"):
        GearedRobot(model, data, {"shoulder": LOCKING})


def test_torques_that_do_not_fit_the_robot_are_refused_and_nothing_moves() -> None:
    model, data = arm()
    robot = GearedRobot(model, data, {"shoulder": LOCKING})
    with refused(WrongShape, thing="robot with gears input_torque, shape", value=(2,)):
        robot.step([1.0, 2.0])
    with refused(OutOfRange) as caught:
        robot.step(np.full(model.nv, np.nan))
    assert caught.value.thing.endswith("input_torque")
    assert data.time == 0.0
    assert not data.qfrc_applied.any()
