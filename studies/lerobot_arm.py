# SPDX-License-Identifier: Apache-2.0
"""A desk arm with Feetech servos, recorded as LeRobot does it, with parameters that are known: what is found?

`python -m studies.lerobot_arm DIR` writes `arm.xml`, the dataset `desk_arm` and `truth.json`. The
arm has the joints and about the size of an SO-101 and is no copy of one. A hand moves its goals; a loop with
jitter reads encoders and sends goals at 30 Hz, and writes the times that it should have kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.files.atomic_file import require_directory, write_text
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.lerobot_writer import DatasetSettings, write_dataset
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel, load_servo

SERVO = "sts3215"
KP = 16.0  # what LeRobot sets on an SO-101
FPS = 30
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")

DATASET = DatasetSettings(fps=FPS, gripper_ranges={"gripper": (-0.2, 1.7)})

ARM = """<mujoco model="desk_arm">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.80665"/>
  <default>
    <default class="sts3215"/>
    <geom contype="0" conaffinity="0"/>
  </default>
  <worldbody>
    <body name="shoulder" pos="0 0 0.06">
      <joint name="shoulder_pan" class="sts3215" axis="0 0 1" range="-1.9 1.9"/>
      <geom type="box" size="0.025 0.02 0.02" mass="0.1"/>
      <body name="upper_arm" pos="0.03 0 0.05">
        <joint name="shoulder_lift" class="sts3215" axis="0 1 0" range="-1.7 1.7"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.12" size="0.015" mass="0.09"/>
        <geom type="box" pos="0 0 0.11" size="0.022 0.012 0.018" mass="0.06"/>
        <body name="forearm" pos="0 0 0.12">
          <joint name="elbow_flex" class="sts3215" axis="0 1 0" range="-1.6 1.6"/>
          <geom type="capsule" fromto="0 0 0 0.13 0 0" size="0.014" mass="0.08"/>
          <geom type="box" pos="0.12 0 0" size="0.022 0.012 0.018" mass="0.06"/>
          <body name="wrist" pos="0.13 0 0">
            <joint name="wrist_flex" class="sts3215" axis="0 1 0" range="-1.6 1.6"/>
            <geom type="box" pos="0.03 0 0" size="0.03 0.015 0.015" mass="0.09"/>
            <body name="hand" pos="0.06 0 0">
              <joint name="wrist_roll" class="sts3215" axis="1 0 0" range="-2.7 2.7"/>
              <geom type="box" pos="0.035 0.012 0" size="0.035 0.012 0.018" mass="0.1"/>
              <body name="jaw" pos="0.03 -0.02 0">
                <joint name="gripper" class="sts3215" axis="0 0 1" range="-0.2 1.7"/>
                <geom type="box" pos="0.03 0 0" size="0.03 0.004 0.012" mass="0.03"/>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

_COUNT = 2.0 * np.pi / 4096  # rad
_STEP = 2.5e-4  # s, of the simulation that is recorded
_JITTER, _LATE = 2e-3, 8e-3  # s: of every frame, and of one in _RARELY besides
_RARELY = 25
_REACH, _PAUSE = (0.6, 1.6), (0.0, 0.7)  # s: of one motion of the hand, and after it
_TREMOR = 2.5e-3  # rad, of a hand, at 6 to 11 Hz
_SHARE = 0.75  # of a joint's range that is used


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What the recordings hide.

    Attributes:
        servo: of every joint, before its own strength.
        deviations: of the arm.
    """

    servo: ServoModel
    deviations: RobotDeviations = field(default_factory=RobotDeviations)


def hidden(seed: int = 7) -> Truth:
    """Return a servo like the library's, and an arm that differs from its description."""
    random = np.random.default_rng(seed)
    servo = load_servo(SERVO)
    motor = replace(
        servo.motor,
        torque_constant=1.08 * servo.motor.torque_constant,
        resistance=0.93 * servo.motor.resistance,
        armature=1.25 * servo.motor.armature,
    )
    friction = replace(
        servo.friction,
        coulomb=servo.friction.coulomb + 0.05,
        viscous=1.6 * servo.friction.viscous,
        stribeck_coulomb=0.5 * servo.friction.stribeck_coulomb,
    )
    zeros, strengths, masses = random.normal(0.0, [[0.02], [0.04], [0.02]], (3, len(JOINTS)))
    bodies = ("shoulder", "upper_arm", "forearm", "wrist", "hand", "jaw")
    return Truth(
        servo=replace(servo, motor=motor, friction=friction),
        deviations=RobotDeviations(
            delay=0.012,
            zero=dict(zip(JOINTS, map(float, zeros), strict=True)),
            strength=dict(zip(JOINTS, map(float, strengths), strict=True)),
            mass=dict(zip(bodies, map(float, masses), strict=True)),
        ),
    )


def teleoperation(seed: int, duration: float) -> RobotRun:
    """Return goals as a hand gives them: reaches, pauses, tremor, at the times of a loop with jitter."""
    random = np.random.default_rng(seed)
    number = round(duration * FPS)
    time = np.arange(number) / FPS + random.normal(0.0, _JITTER, number)
    time = np.sort(time + _LATE * (random.random(number) < 1.0 / _RARELY))
    time -= time[0]
    model = mujoco.MjModel.from_xml_string(ARM)
    goal = np.stack([_of_hand(time, model.joint(joint).range, random) for joint in JOINTS], axis=1)
    return RobotRun(
        name=f"{seed}",
        joints=JOINTS,
        time=time,
        goal_position=np.round(goal / _COUNT) * _COUNT,
        position=goal.copy(),
        kp=KP,
        supply_voltage=load_servo(SERVO).nominal_voltage,
    )


def recorded(goals: RobotRun, truth: Truth) -> RobotRun:
    """Return a run as the arm follows its goals, in encoder counts."""
    bench = RobotBench.make(mujoco.MjSpec.from_string(ARM), "fixed", step=_STEP)
    position = bench.simulate(goals, dict.fromkeys(JOINTS, truth.servo), truth.deviations)
    return replace(goals, position=np.round(position / _COUNT) * _COUNT)


def as_frames(run: RobotRun) -> RobotRun:
    """Return a run with the times that LeRobot writes instead of those that its frames had."""
    return replace(run, time=np.arange(len(run.time)) / FPS)


def _of_hand(time: Array, limits: Array, random: np.random.Generator) -> Array:
    """Return a joint's goals: minimum-jerk reaches between random postures, pauses, tremor."""
    middle, half = limits.mean(), 0.5 * _SHARE * float(np.ptp(limits))
    goal, here, begin = np.empty_like(time), middle, 0.3
    goal[:] = here
    while begin < time[-1]:
        there, length = middle + half * random.uniform(-1.0, 1.0), random.uniform(*_REACH)
        share = np.clip((time - begin) / length, 0.0, 1.0)
        way = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        goal = np.where(time >= begin, here + (there - here) * way, goal)
        here, begin = there, begin + length + random.uniform(*_PAUSE)
    for rate in random.uniform(6.0, 11.0, 4):
        goal = goal + 0.5 * _TREMOR * np.sin(2.0 * np.pi * (rate * time + random.random()))
    return np.asarray(goal)


def main(argv: Sequence[str] | None = None) -> int:
    """Write description, dataset and truth."""
    parser = argparse.ArgumentParser(prog="python -m studies.lerobot_arm", description=__doc__.split("\n")[0])
    parser.add_argument("directory", metavar="DIR", help="where to write; desk_arm must not be in it")
    parser.add_argument("--episodes", type=int, default=8, metavar="N", help="(default: 8)")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="of each (default: 20)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the motions (default: 0)")
    arguments = parser.parse_args(argv)
    try:
        require_directory(arguments.directory)
        place, truth = Path(arguments.directory), hidden()
        runs = [
            recorded(teleoperation(1000 * arguments.seed + number, arguments.seconds), truth)
            for number in range(arguments.episodes)
        ]
        write_dataset(place / "desk_arm", [as_frames(run) for run in runs], DATASET)
        write_text(place / "arm.xml", ARM)
        write_text(place / "truth.json", json.dumps(_told(truth), indent=2) + "\n")
    except BamError as error:
        print(error, file=sys.stderr)
        return 2
    print(
        f"wrote {place}; identify it with: bam robot identify --robot {place}/arm.xml "
        f"--servos {SERVO}={SERVO} --kp {KP:g} --models m1,m3 --output {place}/identified {place}/desk_arm "
        f"--test desk_arm_episode_{arguments.episodes - 1}"
    )
    return 0


def _told(truth: Truth) -> dict[str, object]:
    return {"parameters": dict(truth.servo.parameters), "deviations": vars(truth.deviations)}


if __name__ == "__main__":
    sys.exit(main())
