# SPDX-License-Identifier: Apache-2.0
"""A motion in terms of drivers, whose joints may have other names, signs and zeros than the description's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Conflict
from bam_core.recordings.recording_map import JointMap, RecordingMap
from bam_core.robot.motion import RobotMotion
from bam_core.servo.gains import Gain, gain_of


@dataclass(frozen=True, kw_only=True, eq=False)
class MappedMotion:
    """A motion for drivers, and the way back.

    Attributes:
        motion: with the joints of the drivers.
        joints: name of a driver's joint -> the description's.
    """

    motion: RobotMotion
    joints: Mapping[str, JointMap]

    def described(self, positions: Mapping[str, float]) -> Array:
        """Return (joints,) rad of the description for positions of drivers, in the order of the motion."""
        maps = (self.joints[name] for name in self.motion.joints)
        measured = (positions[name] for name in self.motion.joints)
        return np.array(
            [joint.sign * (value - joint.zero) for joint, value in zip(maps, measured, strict=True)]
        )


def mapped_motion(motion: RobotMotion, recording_map: RecordingMap) -> MappedMotion:
    """Return a motion as drivers get it.

    Args:
        motion: with joints of the description.
        recording_map: whose joints count: what the drivers report is what it calls recorded.

    Raises:
        BamError: two joints of the motion are one of the drivers.
    """
    recorded = [recording_map.recorded_joint(joint) for joint in motion.joints]
    names = tuple(name for name, _ in recorded)
    if len(set(names)) < len(names):
        raise Conflict(
            f"{recording_map.source}, joints",
            f"give two joints of the motion one name ({', '.join(names)})",
            expected="one joint of the drivers each",
        )
    sign = np.array([joint.sign for _, joint in recorded])
    zero = np.array([joint.zero for _, joint in recorded])
    kp, kd, ki = (_renamed(gain, motion.joints, names) for gain in (motion.kp, motion.kd, motion.ki))
    goals = np.asarray(sign * motion.goal_position + zero)
    return MappedMotion(
        motion=replace(motion, joints=names, goal_position=goals, kp=kp, kd=kd, ki=ki), joints=dict(recorded)
    )


def _renamed(gain: Gain, joints: Sequence[str], names: Sequence[str]) -> Gain:
    """Return a gain of joints for their other names, in the same order."""
    if not isinstance(gain, Mapping):
        return gain
    gains = {name: gain_of(gain, joint) for name, joint in zip(names, joints, strict=True)}
    return {name: value for name, value in gains.items() if value is not None}
