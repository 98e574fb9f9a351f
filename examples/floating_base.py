# SPDX-License-Identifier: Apache-2.0
"""Friction keeps a robot on its feet after its motors are off: a free base, contacts, four servos.

.venv/bin/python examples/floating_base.py
"""

from __future__ import annotations

import dataclasses

import mujoco

from bam_core.mujoco import ServoActuation, compile_robot, equip
from bam_core.servo.friction import Friction
from bam_core.servo.model import ServoModel, load_servo

LEG = """
<body pos="{x} 0 0">
  <joint name="{side}_hip" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.015" mass="0.08"/>
  <body pos="0 0 -0.1">
    <joint name="{side}_knee" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.012" mass="0.05"/>
    <geom type="box" size="0.04 0.12 0.006" pos="0 0 -0.106" mass="0.05"/>
  </body>
</body>"""
ROBOT = f"""
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="trunk" pos="0 0 0.212">
      <freejoint/>
      <geom type="box" size="0.1 0.06 0.03" pos="0 0 0.03" mass="0.3"/>
      {LEG.format(side="front", x=0.08)}{LEG.format(side="rear", x=-0.08)}
    </body>
  </worldbody>
</mujoco>"""
CROUCH = {"front_hip": 0.3, "front_knee": -0.6, "rear_hip": 0.3, "rear_knee": -0.6}  # rad


def height_without_torque(servo: ServoModel) -> tuple[float, float]:
    """Crouch, switch torque off, wait a second; return the trunk's height before and after, m."""
    servos = dict.fromkeys(CROUCH, servo)
    spec = mujoco.MjSpec.from_string(ROBOT)
    equip(spec, servos)
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    actuation = ServoActuation(model, data, servos)
    actuation.torque_enabled[:] = 1.0
    heights = []
    for torque in (1.0, 0.0):
        actuation.torque_enabled[:] = torque
        for step in range(1000):
            if torque:
                actuation.goal_position[:] = [min(step / 500.0, 1.0) * angle for angle in CROUCH.values()]
            actuation.step()
        heights.append(float(data.body("trunk").xpos[2]))
    return heights[0], heights[1]


def main() -> None:
    """Compare a servo with one that has no friction."""
    servo = load_servo("mx106")
    ideal = dataclasses.replace(servo, friction_model="m1", friction=Friction())
    for name, each in (("with the friction of an MX-106", servo), ("without friction", ideal)):
        before, after = height_without_torque(each)
        print(f"{name}: crouches at {100 * before:.1f} cm, a second after torque off {100 * after:.1f} cm")


if __name__ == "__main__":
    main()
