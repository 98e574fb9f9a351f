# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions of other people: with servos on all hinges, do they hold still?

    python -m studies.descriptions FILE... [--servo mx106] [--seconds 5]

Each robot is put on a fixed base, in its first keyframe, else as described with joints moved into their
ranges. Its servos get these positions as goals. Without gravity nothing may move: what does is a contact or a
spring that is none of the robot's, or a fault of ours. With gravity it sags as the gains let it, and then
stands. What cannot be read or simulated is listed with its line.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.cli.simulate_robot import prepared
from bam_core.errors import BamError
from bam_core.mujoco import load_robot
from bam_core.mujoco.native import NativeServo
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.joints import servos_by_joint
from bam_core.robot.root import FIXED, prepare_root

_LAST = 1.0  # s, in which a robot that stands does not move
_STEP = 1e-3  # s


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a robot did whose servos hold it.

    Attributes:
        hinges: how many have a servo.
        moved: farthest that a hinge moved, rad.
        last: farthest within the last second, rad.
    """

    hinges: int
    moved: float
    last: float


def hold(path: Path, *, servo: str, seconds: float, gravity: bool) -> Held:
    """Let servos hold a robot, at the gain of their factory.

    Args:
        path: of its description.
        servo: on all hinges.
        seconds: that are simulated.
        gravity: whether it weighs anything.

    Raises:
        BamError: it cannot be read or simulated.
    """
    spec = load_robot(path)
    joints = tuple(servos_by_joint(spec, [f"*={servo}"]))
    start = _start(spec, joints)
    prepare_root(spec, FIXED)
    if not gravity:
        spec.option.gravity = np.zeros(3)
    model, data = prepared(spec, {joint: NativeServo(servo=servo) for joint in joints}, _STEP)
    addresses = [int(model.joint(joint).qposadr[0]) for joint in joints]
    data.qpos[addresses] = start
    for joint, position in zip(joints, start, strict=True):
        data.actuator(joint).ctrl[:] = position
    mujoco.mj_forward(model, data)
    moved = last = 0.0
    settled = data.qpos[addresses].copy()
    count = round(seconds / _STEP)
    for step in range(count):
        mujoco.mj_step(model, data)
        moved = max(moved, float(np.abs(data.qpos[addresses] - start).max()))
        if step * _STEP < seconds - _LAST:
            settled = data.qpos[addresses].copy()
        else:
            last = max(last, float(np.abs(data.qpos[addresses] - settled).max()))
    return Held(hinges=len(joints), moved=moved, last=last)


def _start(spec: mujoco.MjSpec, joints: Sequence[str]) -> Array:
    """Return where hinges start, rad: in the first keyframe, else as described, moved into their ranges."""
    model = compile_robot(spec.copy())
    positions = model.key_qpos[0] if model.nkey else model.qpos0
    start = []
    for joint in joints:
        about = model.joint(joint)
        position = float(positions[about.qposadr[0]])
        start.append(float(np.clip(position, *about.range)) if about.limited[0] else position)
    return np.array(start)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line per file: hinges and how far they moved, mrad, or why not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--servo", default="mx106")
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args(argv)
    for path in arguments.files:
        try:
            still, heavy = (
                hold(path, servo=arguments.servo, seconds=arguments.seconds, gravity=gravity)
                for gravity in (False, True)
            )
        except BamError as error:
            print(f"{path}\trefused\t{error}", flush=True)
            continue
        print(
            f"{path}\t{still.hinges} hinges\t{1e3 * still.moved:.3g} mrad without gravity\t"
            f"{1e3 * heavy.moved:.3g} with it, {1e3 * heavy.last:.3g} in the last second",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
