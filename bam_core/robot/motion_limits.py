# SPDX-License-Identifier: Apache-2.0
"""What a motion of a robot must keep to: ranges, speed, torque, distance from all that can be touched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, UnknownName
from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.motion import RobotMotion
from bam_core.servo.model import ServoModel

RANGE_MARGIN = 0.05
"""rad; goals keep that far from the ends of a joint's range, for joints overshoot their goals."""

UNLIMITED = math.pi / 2.0
"""rad on both sides of the start, where a description gives a joint no range."""


@dataclass(frozen=True, kw_only=True)
class MotionLimits:
    """What holds for all joints, in simulations with servos and masses as far off as may be expected.

    Attributes:
        speed: of goals and joints, rad/s.
        torque: of a motor, as a share of its stall torque.
        clearance: m between parts of the robot that do not touch at the start, and to all around it.
    """

    speed: float = 2.0
    torque: float = 0.5
    clearance: float = 0.01

    def __post_init__(self) -> None:
        require_positive("motion", speed=self.speed)
        require_not_negative("motion", clearance=self.clearance)
        if not 0.0 < self.torque <= 1.0:
            raise OutOfRange("motion torque", self.torque, "a share of the stall torque, above 0, at most 1")


@dataclass(frozen=True, kw_only=True, eq=False)
class JointSpace:
    """Where goals may lie.

    Attributes:
        joints: names.
        start: (joints,) rad, where motions begin and end.
        low: (joints,) rad, lowest goals.
        high: (joints,) rad, highest goals.
    """

    joints: tuple[str, ...]
    start: Array
    low: Array
    high: Array


def joint_space(
    spec: mujoco.MjSpec, joints: Sequence[str], keyframe: str = "", *, moving: Sequence[str] | None = None
) -> JointSpace:
    """Return where goals of joints may lie.

    Motions start in the posture of a keyframe, else in the description's, moved into the joints' ranges.

    Args:
        spec: the robot.
        joints: that have servos.
        keyframe: its name; empty: none.
        moving: those that may move, the others hold; None: all.

    Raises:
        BamError: there is no such joint or keyframe, or a range leaves no room for goals.
    """
    model = compile_robot(spec)
    posture = model.qpos0
    if keyframe:
        names = [model.key(index).name for index in range(model.nkey)]
        if keyframe not in names:
            raise UnknownName("keyframe", keyframe, filter(None, names))
        posture = model.key_qpos[names.index(keyframe)]
    start, low, high = [], [], []
    for name in joints:
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if number < 0:
            raise UnknownName("joint", name, [model.joint(index).name for index in range(model.njnt)])
        here = float(posture[model.jnt_qposadr[number]])
        least, most = here - UNLIMITED, here + UNLIMITED
        if model.jnt_limited[number]:
            least, most = (float(end) for end in model.jnt_range[number])
            if not most - least > 2 * RANGE_MARGIN:
                raise OutOfRange(
                    f"range of joint '{name}'",
                    most - least,
                    f"more than {2 * RANGE_MARGIN:g} rad",
                    printed=f"{most - least:.3g} rad",
                    advice="correct it (MJCF counts in degrees without <compiler angle='radian'/>)",
                )
            least, most = least + RANGE_MARGIN, most - RANGE_MARGIN
        here = min(max(here, least), most)
        if moving is not None and name not in moving:
            least = most = here
        start.append(here)
        low.append(least)
        high.append(most)
    return JointSpace(joints=tuple(joints), start=np.array(start), low=np.array(low), high=np.array(high))


def largest_torques(
    servos: Mapping[str, ServoModel],
    joints: Sequence[str],
    limits: MotionLimits,
    supply_voltage: float | None,
) -> Array:
    """Return (joints,) N·m that motors may give."""
    return np.array([limits.torque * servos[joint].stall_torque(supply_voltage) for joint in joints])


def require_reachable(motion: RobotMotion, spec: mujoco.MjSpec) -> None:
    """Raise BamError where a robot lacks a joint of a motion, or its range excludes a goal."""
    model = compile_robot(spec)
    names = [model.joint(index).name for index in range(model.njnt)]
    for joint, goals in zip(motion.joints, motion.goal_position.T, strict=True):
        if joint not in names:
            raise UnknownName("joint", joint, filter(None, names))
        number = names.index(joint)
        low, high = model.jnt_range[number] if model.jnt_limited[number] else (-math.inf, math.inf)
        worst = float(goals[np.argmax(np.maximum(low - goals, goals - high))])
        if not low <= worst <= high:
            raise OutOfRange(
                f"goal of joint '{joint}' in the motion",
                worst,
                f"{low:.3f} to {high:.3f} rad, the joint's range in the description",
                printed=f"{worst:.3f} rad",
                advice="design a motion for this description",
            )
