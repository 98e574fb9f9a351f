# SPDX-License-Identifier: Apache-2.0
"""Emulated servos on one arm move one another as the laws of mechanics say."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from bam_core.errors import BamError, Conflict
from bam_core.servo.friction import Friction
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.arm import Arm, ArmJoint, draw_arm
from bam_ros.emulators.dynamixel.bench import Bench
from bam_ros.emulators.dynamixel.builder import BusSetup, build_arm_bus
from bam_ros.emulators.dynamixel.hidden_servo import draw_hidden_servo

ARM = """<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 0 -9.80665"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.5"/>
      <body name="lower" pos="0 0 -0.2">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.015" mass="0.3"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
PENDULUM = """<mujoco>
  <compiler angle="radian" inertiafromgeom="false"/>
  <option gravity="0 0 -9.80665"/>
  <worldbody>
    <body name="load">
      <joint name="joint" axis="0 -1 0"/>
      <inertial pos="0 0 -0.15" mass="1" diaginertia="1e-9 1e-9 1e-9"/>
    </body>
  </worldbody>
</mujoco>
"""
SERVOS = {"shoulder": "mx106_2", "elbow": "mx64_2"}


def arm(seed: int = 0) -> Arm:
    return draw_arm(mujoco.MjSpec.from_string(ARM), SERVOS, seed)


def hold(arm: Arm, goals: tuple[float, ...], gain: float = 3e-3) -> None:
    """Switch all servos on, with goals in rad and a gain in duty per count."""
    arm.commands[:, k.MODE] = k.POSITION_MODE
    arm.commands[:, k.GOAL] = np.array(goals) * k.COUNTS_PER_RAD
    arm.commands[:, k.P_GAIN], arm.commands[:, k.DUTY_LIMIT] = gain, 1.0
    arm.commands[:, k.CURRENT_LIMIT] = np.inf


def test_an_arm_of_one_joint_is_the_bench() -> None:
    hidden = draw_hidden_servo("mx106", 3)
    bench = Bench(hidden, PendulumBench(mass=1.0, length=0.15))
    one = Arm(mujoco.MjSpec.from_string(PENDULUM), {"joint": hidden}, {})
    hold(one, (0.8,))
    bench.commands[:] = one.commands[0]
    for now in np.arange(0.05, 1.0, 0.05):
        bench.advance_to(now)
        one.advance_to(now)
        assert one.states[0, physics.POSITION] == pytest.approx(bench.state[physics.POSITION], abs=3e-3)
    assert bench.state[physics.POSITION] > 0.5


def test_a_joint_that_moves_pushes_the_one_that_is_free() -> None:
    moved = arm()
    hold(moved, (0.6, 0.0), gain=8e-3)
    moved.commands[1, k.MODE] = k.RELEASED
    moved.advance_to(0.15)
    assert moved.states[0, physics.POSITION] > 0.05
    assert abs(moved.states[1, physics.POSITION]) > 1e-4


def test_a_released_arm_comes_to_rest_and_gains_no_energy() -> None:
    free = arm()
    free.states[:, physics.POSITION] = (1.0, -0.7)
    model = mujoco.MjSpec.from_string(ARM).compile()
    data = mujoco.MjData(model)

    def height() -> float:
        data.qpos[:] = free.states[:, physics.POSITION]
        mujoco.mj_kinematics(model, data)
        return float(model.body_mass @ data.xipos[:, 2])

    begin = height()
    for now in np.arange(0.1, 3.0, 0.1):
        free.advance_to(now)
        assert height() < begin + 1e-4
    assert np.abs(free.states[:, physics.VELOCITY]).max() < 1e-2


def test_friction_holds_what_it_can_hold_without_creep() -> None:
    held = arm()
    held.parameters[:, physics.COULOMB] = 3.0
    held.states[:, physics.POSITION] = (0.5, 0.4)
    held.advance_to(1.0)
    assert held.states[:, physics.POSITION] == pytest.approx([0.5, 0.4], abs=1e-6)


def test_the_seed_decides_and_types_are_alike() -> None:
    servos = {"shoulder": "mx64_2", "elbow": "mx64_2"}
    one, again, other = (draw_arm(mujoco.MjSpec.from_string(ARM), servos, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.parameters, again.parameters)
    assert not np.array_equal(one.parameters, other.parameters)
    assert one.masses == again.masses != other.masses
    assert 0.0 < max(map(abs, one.masses.values())) < 0.1
    first, second = one.hidden.values()
    assert isinstance(first.friction, Friction)
    assert first.friction == second.friction
    assert first.motor.resistance == pytest.approx(second.motor.resistance, rel=0.2)
    assert first.motor.resistance != second.motor.resistance


def test_all_servos_of_a_bus_share_the_arm() -> None:
    bus = build_arm_bus(BusSetup(ids=(4, 7)), mujoco.MjSpec.from_string(ARM), SERVOS, 0.0)
    assert [servo.id for servo in bus.servos] == [4, 7]
    first, second = (servo.bench for servo in bus.servos)
    assert isinstance(first, ArmJoint)
    first.place(1.4)
    begin = first.count
    bus.update(0.2)
    assert first.time == second.time == pytest.approx(0.2)
    assert first.count < begin  # it falls
    with pytest.raises(BamError):
        first.set_load(PendulumBench(mass=1.0, length=0.1))


def test_what_is_no_arm_of_servos_is_refused() -> None:
    spec = mujoco.MjSpec.from_string(ARM)
    with pytest.raises(Conflict, match="elbow"):
        draw_arm(spec, {"shoulder": "mx64_2"}, 0)
    with pytest.raises(Conflict, match="ids"):
        build_arm_bus(BusSetup(ids=(1,)), spec, SERVOS, 0.0)
