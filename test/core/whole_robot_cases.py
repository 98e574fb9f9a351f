# SPDX-License-Identifier: Apache-2.0
"""A small arm with two types of servos, and runs of it, for tests of whole robots."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np

from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel, load_servo

ARM = """<mujoco model="arm">
  <compiler angle="radian"/>
  <default>
    <default class="strong"/>
    <default class="weak"/>
  </default>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" class="strong" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="1.0"/>
      <body name="lower" pos="0 0 -0.2">
        <joint name="elbow" class="weak" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.015" mass="0.6"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
SERVOS = ["strong=mx106", "weak=mx64"]
JOINTS = ("shoulder", "elbow")


def arm() -> mujoco.MjSpec:
    """The arm."""
    return mujoco.MjSpec.from_string(ARM)


def bench(step: float = 1e-3) -> RobotBench:
    """The arm, fixed."""
    return RobotBench.make(arm(), "fixed", step=step)


def servos(model: str = "m4") -> dict[str, ServoModel]:
    """Servos of the arm by joint, with a friction model."""
    from bam_core.robot.unknowns import with_friction_model

    names = dict(zip(JOINTS, ("mx106", "mx64"), strict=True))
    return {joint: with_friction_model(load_servo(name), model) for joint, name in names.items()}


def goals(duration: float = 3.0, seed: int = 0) -> RobotRun:
    """A run whose measurement is its goals: smooth motions of both joints at 100 Hz."""
    time = np.arange(0.0, duration, 0.01)
    random = np.random.default_rng(seed)
    rate, phase = random.uniform(1.5, 3.5, 2), random.uniform(0.0, 2.0, 2)
    ramp = np.minimum(time / 0.5, 1.0)[:, None]
    goal = ramp * np.array([1.0, 0.7]) * np.sin(rate * time[:, None] + phase)
    return RobotRun(
        name=f"run{seed}",
        joints=JOINTS,
        time=time,
        goal_position=goal,
        position=np.zeros_like(goal),
        kp=16.0,
        supply_voltage=12.0,
    )


def recorded(
    truth: dict[str, ServoModel],
    *,
    seed: int = 0,
    deviations: RobotDeviations = NO_DEVIATIONS,
    duration: float = 3.0,
) -> RobotRun:
    """A run of servos that are known, in encoder counts of 1.5 mrad."""
    run = goals(duration, seed)
    position = bench().simulate(run, truth, deviations)
    return replace(run, position=np.round(position / 1.534e-3) * 1.534e-3)


def write_csv(run: RobotRun, path: Path) -> Path:
    """Write a run as a recorder would."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            [
                "time",
                *(f"goal:{name}" for name in run.joints),
                *(f"read:{name}" for name in run.joints),
                "imu",
            ]
        )
        for moment, goal, read in zip(run.time, run.goal_position, run.position, strict=True):
            writer.writerow([moment, *goal, *read, 0])
    return path
