# SPDX-License-Identifier: Apache-2.0
"""``bam simulate --robot --view``: a robot with its servos in MuJoCo's viewer; sliders set the goals."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bam_core.cli.robot.case import servo_words
from bam_core.errors import Conflict, Missing

if TYPE_CHECKING:
    import mujoco

    from bam_core.mujoco.native import NativeServo

_OF_A_BENCH = (
    "servo",
    "script",
    "recording",
    "bench_effects",
    "render",
    "output",
    "mass",
    "arm_mass",
    "length",
)


def run(arguments: argparse.Namespace) -> int:
    """Show the robot until the window is closed."""
    from bam_core.mujoco.native import NativeServo
    from bam_core.mujoco.robot_file import load_robot
    from bam_core.mujoco.window import require_screen, show_live
    from bam_core.robot.joints import servos_by_joint

    for name in _OF_A_BENCH:
        if getattr(arguments, name) is not None:
            raise Conflict(f"--{name.replace('_', '-')}", "is about a bench", expected="no --robot beside it")
    if not arguments.view:
        raise Missing(
            "--view", "how to look at the robot", advice="add --view, or start the node 'simulator'"
        )
    require_screen("simulate it behind ROS topics with the node 'simulator' instead")
    spec = load_robot(arguments.robot)
    names = servos_by_joint(spec, servo_words(arguments.servos))
    servos = {
        joint: NativeServo(servo=name, kp=arguments.kp, supply_voltage=arguments.vin)
        for joint, name in names.items()
    }
    show_live(*prepared(spec, servos, arguments.dt, start_contacts=arguments.start_contacts))
    return 0


def prepared(
    spec: mujoco.MjSpec, servos: Mapping[str, NativeServo], dt: float, *, start_contacts: bool = False
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the robot at its first keyframe, or as described, with servos that hold it there.

    Args:
        spec: the description, which gets the servos.
        servos: by joint.
        dt: time step, s.
        start_contacts: as of `equip_native`.

    Raises:
        BamError: a servo has a gear or does not fit the time step, or MuJoCo refuses the description.
    """
    import mujoco

    from bam_core.mujoco.native import equip_native
    from bam_core.mujoco.robot import compile_robot

    spec.option.timestep = dt
    has_goals = bool(spec.keys) and len(next(iter(spec.keys)).ctrl) > 0
    equip_native(spec, servos, start_contacts=start_contacts)
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    if not has_goals:
        for joint in servos:
            data.actuator(joint).ctrl[:] = data.joint(joint).qpos
    mujoco.mj_forward(model, data)
    return model, data
