# SPDX-License-Identifier: Apache-2.0
"""``bam simulate --robot --view``: a robot with its servos in MuJoCo's viewer; sliders set the goals."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.guesses import warn_of_guesses
from bam_core.cli.robot.case import servo_words
from bam_core.errors import BamError, Conflict, Missing

if TYPE_CHECKING:
    import mujoco

    from bam_core.mujoco.native import NativeServo
    from bam_core.servo.gains import Gain

_OF_A_BENCH = (
    "servo",
    "script",
    "recording",
    "bench_effects",
    "render",
    "mass",
    "arm_mass",
    "length",
)


def run(arguments: argparse.Namespace) -> int:
    """Show the robot until the window is closed."""
    from bam_core.mujoco.robot_file import load_robot
    from bam_core.mujoco.window import require_screen, show_live
    from bam_core.robot.joints import servos_by_joint

    if not arguments.view:
        raise Missing(
            "--motion or --view",
            "a motion to follow, or a window with sliders",
            advice="add one, or start the node 'simulator'",
        )
    if arguments.output is not None:
        raise Conflict("--output", "needs a motion to follow", expected="--motion FILE in place of --view")
    require_screen("simulate it behind ROS topics with the node 'simulator' instead")
    spec = load_robot(arguments.robot)
    names = servos_by_joint(spec, servo_words(arguments.servos))
    servos = native_servos(names, arguments)
    show_live(*prepared(spec, servos, arguments.dt, start_contacts=arguments.start_contacts))
    return 0


def require_no_bench(arguments: argparse.Namespace) -> None:
    """Raise Conflict where an option of a bench is given beside a robot."""
    for name in _OF_A_BENCH:
        if getattr(arguments, name) is not None:
            raise Conflict(f"--{name.replace('_', '-')}", "is about a bench", expected="no --robot beside it")


def native_servos(names: Mapping[str, str], arguments: argparse.Namespace) -> dict[str, NativeServo]:
    """Return joint -> its servo, with gains and supply of the options, else of a bench.yaml above the robot.

    Args:
        names: joint -> name of its servo.
        arguments: of the command.

    Raises:
        BamError: a gain is of no joint, out of range, or its effect in this servo is not known.
    """
    from bam_core.mujoco.native import NativeServo
    from bam_core.recordings.header_corrections import rules_above
    from bam_core.servo.gains import gain_from_text, gain_of, over, require_gain
    from bam_core.servo.model import load_servo

    gains: dict[str, Gain | None] = {"kp": None, "kd": None, "ki": None}
    supply: float | None = None
    for rule in rules_above(Path(arguments.robot)):
        for name, value in () if rule.where else rule.set.items():  # where: of recordings
            if name in gains and not isinstance(value, str):
                gains[name] = over(gains[name], value, names, rule.source)
            elif name == "vin" and isinstance(value, float):
                supply = value
    for name in gains:
        if (text := getattr(arguments, name)) is not None:
            given = gain_from_text(f"--{name}", text)
            require_gain(f"--{name}", given, name)
            gains[name] = over(gains[name], given, names, f"--{name}")
    servos = {}
    for joint, servo in names.items():
        try:
            native = NativeServo(
                servo=servo,
                kp=gain_of(gains["kp"], joint),
                kd=gain_of(gains["kd"], joint) or 0.0,
                ki=gain_of(gains["ki"], joint) or 0.0,
                supply_voltage=supply if arguments.vin is None else arguments.vin,
            )
            native.config()
        except BamError as error:
            raise error.within(f"joint '{joint}'") from None
        servos[joint] = native
    warn_of_guesses(load_servo(servo) for servo in names.values())
    return servos


def prepared(
    spec: mujoco.MjSpec, servos: Mapping[str, NativeServo], dt: float, *, start_contacts: bool = False
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the robot at its first keyframe, or as described, with servos that hold it there.

    Of its numerical methods, those under which friction does not hold still are replaced.

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
    from bam_core.robot.simulation import use_exact_friction

    spec.option.timestep = dt
    use_exact_friction(spec.option)
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
