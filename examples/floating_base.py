# SPDX-License-Identifier: Apache-2.0
"""Friction keeps a robot on its feet after its motors are off: a free base, contacts, four servos.

.venv/bin/python examples/floating_base.py
"""

from dataclasses import replace
from pathlib import Path

import mujoco

from bam_core import Friction, ServoModel, actuate, compile_robot, equip, load_robot, load_servo

CROUCH = {"front_hip": 0.3, "front_knee": -0.6, "rear_hip": 0.3, "rear_knee": -0.6}  # rad


def heights(servo: ServoModel) -> list[float]:
    """Crouch for a second, then switch torque off for another; return the trunk's height after both, cm."""
    servos = dict.fromkeys(CROUCH, servo)
    spec = load_robot(Path(__file__).with_name("crouch.xml"))
    equip(spec, servos)
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    legs = actuate(model, data, servos)
    result = []
    for torque in (1.0, 0.0):
        legs.torque_enabled[:] = torque
        for step in range(1000):
            legs.goal_position[:] = [min(step / 500, 1.0) * angle for angle in CROUCH.values()]
            legs.step()
        result.append(100.0 * data.body("trunk").xpos[2])
    return result


mx106 = load_servo("mx106")
ideal = replace(mx106, friction_model="m1", friction=Friction())
for name, servo in (("with the friction of an MX-106", mx106), ("without friction", ideal)):
    before, after = heights(servo)
    print(f"{name}: crouches at {before:.1f} cm, a second after torque off {after:.1f} cm")
