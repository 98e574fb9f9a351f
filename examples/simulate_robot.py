# SPDX-License-Identifier: Apache-2.0
"""Simulate your own robot: servos on the joints of a MuJoCo model, stepped from Python.

.venv/bin/python examples/simulate_robot.py
"""

import mujoco

from bam_core import actuate, compile_robot, equip

LINK = '<joint name="{}" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".3"/>'
ARM = f'<body>{LINK.format("shoulder")}<body pos="0 0 -.2">{LINK.format("elbow")}</body></body>'
servos = {"shoulder": "mx106", "elbow": "mx64"}  # library names, or files such as "identified/m4.yaml"

spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{ARM}</worldbody></mujoco>")  # or load_robot("my.urdf")
equip(spec, servos)
model = compile_robot(spec)
data = mujoco.MjData(model)
arm = actuate(model, data, servos)
arm.torque_enabled[:] = 1
arm.goal_position[:] = 0.5, -1.0  # rad
while data.time < 2.0:
    arm.step()
print(f"goal 0.5, -1.0 rad; reached {arm.position[0]:.3f}, {arm.position[1]:.3f} rad")
