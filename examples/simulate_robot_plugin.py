# SPDX-License-Identifier: Apache-2.0
"""Simulate your own robot with the engine plugin: servos inside `mj_step`, without Python in the loop.

.venv/bin/python examples/simulate_robot_plugin.py
"""

import mujoco

from bam_core import NativeServo, compile_robot, equip_native

LINK = '<joint name="{}" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".3"/>'
ARM = f'<body>{LINK.format("shoulder")}<body pos="0 0 -.2">{LINK.format("elbow")}</body></body>'

spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{ARM}</worldbody></mujoco>")  # or load_robot("my.urdf")
equip_native(spec, {"shoulder": NativeServo(servo="mx106", kp=32), "elbow": NativeServo(servo="mx64")})
model = compile_robot(spec)
data = mujoco.MjData(model)
data.ctrl[:] = 0.5, -1.0  # goal positions, rad
while data.time < 2.0:
    mujoco.mj_step(model, data)
print(f"goal 0.5, -1.0 rad; reached {data.qpos[0]:.3f}, {data.qpos[1]:.3f} rad")
