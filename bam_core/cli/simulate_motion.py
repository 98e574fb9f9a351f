# SPDX-License-Identifier: Apache-2.0
"""``bam simulate --robot --motion``: a robot with its servos follows a motion; its run as CSV and picture."""

from __future__ import annotations

import argparse
import io
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bam_core.errors import BamError, Conflict, UnknownName
from bam_core.files.atomic_file import require_directory, write_text
from bam_core.text.description_findings import GoalsBeyondRange
from bam_core.text.finding import log_findings

if TYPE_CHECKING:
    import mujoco
    from matplotlib.figure import Figure

    from bam_core.arrays import Array
    from bam_core.robot.motion import RobotMotion

log = logging.getLogger(__name__)

_ROUNDING = 1e-3  # rad, of goals that were written with few digits
_MOST_PERIOD = 0.02  # s between samples of a run: recordings of robots have 20 to 100 Hz


def run(arguments: argparse.Namespace) -> int:
    """Simulate the motion, print how far joints are from their goals, and write the run."""
    from bam_core.cli.robot.case import servo_words
    from bam_core.cli.simulate_robot import native_servos, prepared
    from bam_core.mujoco.robot_file import load_robot
    from bam_core.plots.save import save_figure
    from bam_core.robot.joints import servos_by_joint
    from bam_core.robot.motion import read_motion
    from bam_core.servo.gains import gain_from_text, gain_of

    if arguments.view:
        raise Conflict("--view", "has sliders for goals", expected="no --motion beside it")
    if arguments.output:
        require_directory(arguments.output)
    kp = None if arguments.kp is None else gain_from_text("--kp", arguments.kp)
    motion = read_motion(arguments.motion, kp)
    spec = load_robot(arguments.robot)
    servos = native_servos(servos_by_joint(spec, servo_words(arguments.servos)), arguments)
    for joint in motion.joints:
        if joint not in servos:
            raise UnknownName(f"joint of {arguments.motion}", joint, servos, otherwise="correct --servos")
    if arguments.kp is None:
        for joint, servo in servos.items():
            if (gain := gain_of(motion.kp, joint)) is not None:
                try:
                    servos[joint] = replace(servo, kp=gain)
                except BamError as refusal:
                    raise refusal.within(f"{arguments.motion}, joint '{joint}'") from None
    model, data = prepared(spec, servos, arguments.dt, start_contacts=arguments.start_contacts)
    log_findings(log, goals_beyond_range(model, motion, arguments.motion))
    time, position = follow(model, data, motion)
    goals = np.array([motion.goals_at(moment) for moment in time])
    for joint, error in zip(motion.joints, np.abs(position - goals).T, strict=True):
        print(f"{joint}: distance from the goal: mean {error.mean():.4f} rad, largest {error.max():.4f} rad")
    if arguments.output:
        name = f"{Path(arguments.robot).stem}_{Path(arguments.motion).stem}"
        table, picture = (Path(arguments.output) / f"{name}{suffix}" for suffix in (".csv", ".png"))
        save_figure(_plot(name, motion, time, position), picture)
        write_text(table, _csv(motion, time, goals, position))
        print(f"wrote {picture} and {table}")
    return 0


def goals_beyond_range(model: mujoco.MjModel, motion: RobotMotion, file: str) -> list[GoalsBeyondRange]:
    """Return the joints whose goals leave their range by more than the precision of goals in a file."""
    outside = []
    for joint, goals in zip(motion.joints, motion.goal_position.T, strict=True):
        if not model.jnt_limited[model.joint(joint).id]:
            continue
        low, high = (float(end) for end in model.joint(joint).range)
        beyond = np.maximum(low - goals, goals - high)
        worst = int(beyond.argmax())
        if beyond[worst] > _ROUNDING:
            outside.append(
                GoalsBeyondRange(file=file, joint=joint, goal=float(goals[worst]), low=low, high=high)
            )
    return outside


def follow(model: mujoco.MjModel, data: mujoco.MjData, motion: RobotMotion) -> tuple[Array, Array]:
    """Simulate a motion, from its first goals on.

    Returns:
        Times (n,) s, and positions (n, joints) rad of the motion's joints.
    """
    import mujoco

    places = [model.joint(joint).qposadr[0] for joint in motion.joints]
    actuators = [data.actuator(joint) for joint in motion.joints]
    data.qpos[places] = motion.goal_position[0]
    mujoco.mj_forward(model, data)
    steps = round(motion.duration / model.opt.timestep)
    every = max(round(_MOST_PERIOD / model.opt.timestep), 1)
    times, positions = [0.0], [data.qpos[places].copy()]
    for step in range(1, steps + 1):
        for actuator, goal in zip(actuators, motion.goals_at(data.time), strict=True):
            actuator.ctrl[:] = goal
        mujoco.mj_step(model, data)
        if step % every == 0:
            times.append(data.time)
            positions.append(data.qpos[places].copy())
    return np.array(times), np.array(positions)


def _csv(motion: RobotMotion, time: Array, goals: Array, position: Array) -> str:
    """Return the run in the form that `bam robot identify` reads."""
    names = ["time", *(f"goal:{joint}" for joint in motion.joints), *(f"read:{j}" for j in motion.joints)]
    text = io.StringIO()
    table = np.column_stack((time, goals, position))
    np.savetxt(text, table, fmt="%.9g", delimiter=",", header=",".join(names), comments="")
    return text.getvalue()


def _plot(title: str, motion: RobotMotion, time: Array, position: Array) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 1.0 + 1.6 * len(motion.joints)), layout="constrained")
    figure.suptitle(title)
    panels = figure.subplots(len(motion.joints), 1, sharex=True, squeeze=False).ravel()
    for panel, joint, goals, read in zip(
        panels, motion.joints, motion.goal_position.T, position.T, strict=True
    ):
        panel.plot(motion.time, goals, color="0.6", linewidth=1, linestyle="--", label="goal")
        panel.plot(time, read, color="tab:orange", linewidth=1.2, label="simulated")
        panel.set_ylabel(f"{joint} [rad]")
        panel.grid(alpha=0.3)
    panels[0].legend(loc="best", fontsize="small")
    panels[-1].set_xlabel("time [s]")
    return figure
