# SPDX-License-Identifier: Apache-2.0
"""The arm as its description has it, and motions for it."""

from __future__ import annotations

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.robot.run import RobotRun

SERVOS = ("strong=mx106", "weak=mx64")
"""Class of joints = servo of the library."""

JOINTS = ("base", "shoulder", "elbow", "forearm", "wrist", "flange")
BODIES = ("turret", "upper_arm", "lower_arm", "forearm_roll", "hand", "tool")

_MJCF = """<mujoco model="six_joint_arm">
  <compiler angle="radian"/>
  <default>
    <geom contype="0" conaffinity="0"/>
    <default class="strong"/>
    <default class="weak"/>
  </default>
  <worldbody>
    <body name="turret" pos="0 0 0.1">
      <joint name="base" class="strong" axis="0 0 1"/>
      <geom type="cylinder" fromto="0 0 -0.04 0 0 0.04" size="0.05" mass="0.5"/>
      <body name="upper_arm" pos="0 0 0.06">
        <joint name="shoulder" class="strong" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.22" size="0.025" mass="0.45"/>
        <body name="lower_arm" pos="0 0 0.22">
          <joint name="elbow" class="strong" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 0.14" size="0.022" mass="0.35"/>
          <body name="forearm_roll" pos="0 0 0.14">
            <joint name="forearm" class="weak" axis="0 0 1"/>
            <geom type="capsule" fromto="0 0 0 0.02 0 0.06" size="0.02" mass="0.2"/>
            <body name="hand" pos="0 0 0.08">
              <joint name="wrist" class="weak" axis="0 1 0"/>
              <geom type="capsule" fromto="0 0 0 0 0 0.06" size="0.018" mass="0.2"/>
              <body name="tool" pos="0 0 0.07">
                <joint name="flange" class="weak" axis="0 0 1"/>
                <geom type="box" pos="0.05 0 0.04" size="0.05 0.02 0.03" mass="0.35"/>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

_REACH = np.array([1.0, 0.9, 0.9, 1.0, 0.9, 1.2])  # rad, of motions to both sides
_LIFT = np.array([0.0, 0.8, 0.6, 0.0, 0.4, 0.0])  # rad, their middle: a horizontal arm loads its gears


def six_joint_arm() -> mujoco.MjSpec:
    """Return the description."""
    return mujoco.MjSpec.from_string(_MJCF)


def motion(name: str, random: np.random.Generator, *, kp: float, rate: float, duration: float) -> RobotRun:
    """Return goals at a rate, Hz, for a duration, s; the measurement is all zero.

    Args:
        name: "waves": sums of two sines that swell and fade, so that joints also creep and rest; "moves":
            from posture to posture with rests between, each move of minimum jerk.
        random: draws.
        kp: gain, firmware units.
        rate: Hz.
        duration: s.
    """
    time = np.arange(round(rate * duration)) / rate
    goal = _waves(time, random) if name == "waves" else _moves(time, random)
    return RobotRun(
        name=f"{name}_kp{kp:g}_{random.integers(1_000_000):06d}",
        joints=JOINTS,
        time=time,
        goal_position=goal,
        position=np.zeros_like(goal),
        kp=kp,
        supply_voltage=14.0,
    )


def _waves(time: Array, random: np.random.Generator) -> Array:
    goal = np.tile(_LIFT, (len(time), 1))
    for share, slow, fast in ((0.7, 0.15, 0.4), (0.3, 0.5, 1.2)):
        rate, phase = random.uniform(slow, fast, 6), random.uniform(0.0, 2.0 * np.pi, 6)
        goal += share * _REACH * np.sin(2.0 * np.pi * rate * time[:, None] + phase)
    swell = np.sin(np.pi * np.minimum(time / time[-1], 1.0)) ** 2
    return _LIFT + np.minimum(1.5 * swell, 1.0)[:, None] * (goal - _LIFT)


def _moves(time: Array, random: np.random.Generator) -> Array:
    goal = np.tile(_LIFT, (len(time), 1))
    begin, here = 0.5, _LIFT
    while begin < time[-1]:
        there = _LIFT + random.uniform(-1.0, 1.0, 6) * _REACH
        length = random.uniform(0.4, 1.2)
        along = np.clip((time - begin) / length, 0.0, 1.0)[:, None]
        share = along**3 * (10.0 - 15.0 * along + 6.0 * along**2)
        goal = np.where(time[:, None] < begin, goal, here + share * (there - here))
        begin, here = begin + length + random.uniform(0.2, 0.7), there
    return goal
