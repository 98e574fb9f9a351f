# SPDX-License-Identifier: Apache-2.0
"""A servo for MuJoCo without this package: MJCF with `dcmotor`, and what is lost on the way.

.venv/bin/python examples/plain_mjcf.py
"""

from __future__ import annotations

import mujoco

from bam_core.exchange import MjcfDrive, servo_mjcf
from bam_core.mujoco import BENCH_JOINT
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench


def reach(goal: float) -> tuple[float, list[str]]:
    """Hold a goal, rad, for two seconds in plain MuJoCo; return the position, rad, and what differs."""
    bench = PendulumBench(mass=1.0, length=0.15)
    xml, remarks = servo_mjcf(load_servo("mx106"), MjcfDrive(kp=32.0), bench)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.ctrl[:] = goal
    while data.time < 2.0:
        mujoco.mj_step(model, data)
    return float(data.joint(BENCH_JOINT).qpos[0]), remarks


def main() -> None:
    """Say where the arm comes to rest, and what plain MuJoCo cannot hold."""
    position, remarks = reach(1.0)
    print(f"goal 1.000 rad, reached {position:.3f} rad")
    for remark in remarks:
        print(f"- {remark}")


if __name__ == "__main__":
    main()
