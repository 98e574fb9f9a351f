# SPDX-License-Identifier: Apache-2.0
"""The files of a reader: recordings, an identified servo, a robot and its runs.

`python workspace.py DIRECTORY` writes them; it runs with the installed package alone.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import mujoco
import numpy as np

from bam_core import NativeServo, PendulumBench, equip_native, load_servo, synthesize
from bam_core.exchange import bam_log_text
from bam_core.servo.asymmetry import Asymmetry

GAINS = (8.0, 16.0, 32.0)
SCRIPTS = ("sin_sin", "lift_and_drop")
BENCH = PendulumBench(mass=0.5, length=0.15)
ROBOT = """<mujoco>
  <compiler angle="radian"/>
  <default><default class="mx106"/><default class="mx64"/></default>
  <worldbody>
    <body name="foot">
      <freejoint/>
      <geom type="box" size="0.15 0.1 0.02" mass="20"/>
      <site name="left_foot" pos="0 0 -0.02"/>
      <body name="upper" pos="0 0 0.3">
        <joint name="shoulder" class="mx106" axis="0 1 0" range="-1.5 1.5"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.15" mass="0.3"/>
        <body name="fore" pos="0 0 0.15">
          <joint name="elbow" class="mx64" axis="0 1 0" range="-1.5 1.5"/>
          <geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.1" mass="0.2"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""
"""A foot that stands, and an arm of two joints on it."""


def main() -> None:
    """Write all of it into the directory that is named."""
    directory = Path(sys.argv[1])
    for name, servo in (("recordings", "mx106"), ("logs", "sts3215"), ("demo_output/bags", "mx106")):
        write_logs(directory / name, servo)
    for unit, friction in (("b3", 1.0), ("b7", 1.3)):
        write_logs(directory / "units" / unit, "mx106", friction)
    (directory / "LOGS").symlink_to("recordings")
    for name in ("m4", "m6"):
        load_servo("mx106").save(directory / "identified" / f"{name}.yaml")
    load_servo("mx106").save(directory / "m6.yaml")
    gear = load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=1.05))
    gear.save(directory / "gear.yaml")
    (directory / "robot.xml").write_text(ROBOT)
    for kp in (16, 20, 32):
        write_run(directory / "runs" / f"swing_kp{kp}.csv", kp)
    times = np.arange(0.0, 2.0, 0.02)
    goals = [f"{time:.3f},{0.3 * np.sin(2.0 * time):.6f},{0.3 * np.sin(3.0 * time):.6f},32" for time in times]
    (directory / "motion.csv").write_text("\n".join(["time,goal:shoulder,goal:elbow,kp", *goals]) + "\n")


def write_logs(directory: Path, servo: str, friction: float = 1.0) -> None:
    """Write runs of a simulated servo, its friction multiplied, as BAM's recorder does."""
    directory.mkdir(parents=True)
    model = load_servo(servo)
    unit = replace(model, friction=model.friction.scaled(no_load=friction, load=friction))
    factory = model.firmware.factory_kp or 1.0
    gains = GAINS if servo == "mx106" else tuple(factory * gain / GAINS[-1] for gain in GAINS)
    for script, kp in product(SCRIPTS, gains):
        run = synthesize(unit, BENCH, script, kp)
        (directory / f"kp{kp:g}_{script}.json").write_text(bam_log_text(run))


def write_run(path: Path, kp: int, seconds: float = 4.0) -> None:
    """Write a run of the robot, simulated: its joints follow sines."""
    spec = mujoco.MjSpec.from_string(ROBOT)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1], pos=[0, 0, -0.02])
    spec.option.timestep = 1e-3
    joints = {"shoulder": NativeServo(servo="mx106", kp=kp), "elbow": NativeServo(servo="mx64", kp=kp)}
    equip_native(spec, joints)
    model = spec.compile()
    data = mujoco.MjData(model)
    rows = ["time,goal:shoulder,read:shoulder,goal:elbow,read:elbow,kp,vin"]
    for step in range(int(seconds / model.opt.timestep)):
        goals = 0.6 * np.sin(2.0 * data.time), 0.6 * np.sin(3.0 * data.time)
        data.ctrl[:] = goals
        mujoco.mj_step(model, data)
        if step % 10 == 0:
            read = data.joint("shoulder").qpos[0], data.joint("elbow").qpos[0]
            values = data.time, goals[0], read[0], goals[1], read[1], kp, 15.0
            rows.append(",".join(f"{float(value):.6g}" for value in values))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
