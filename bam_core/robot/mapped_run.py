# SPDX-License-Identifier: Apache-2.0
"""Runs in terms of a description's joints: names, signs and zeros as a map has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from bam_core.recordings.recording_map import JointMap
from bam_core.robot.run import RobotRun

_T = TypeVar("_T")


def mapped_run(run: RobotRun, joints: Sequence[JointMap]) -> RobotRun:
    """Return a run with the joints of a description.

    Args:
        run: as recorded.
        joints: of its columns. Positions become sign · (recorded - zero), goals likewise.
    """
    names = dict(zip(run.joints, (joint.name for joint in joints), strict=True))
    if all(joint == JointMap(name=name) for name, joint in zip(run.joints, joints, strict=True)):
        return run
    return replace(
        run,
        joints=tuple(names.values()),
        goal_position=_turned(run.goal_position, joints),
        position=_turned(run.position, joints),
        sent={
            joint.name: (run.sent[name][0], joint.sign * (run.sent[name][1] - joint.zero))
            for name, joint in zip(run.joints, joints, strict=True)
            if name in run.sent
        },
        left_out=_renamed(run.left_out, names),
        wraps=_renamed(run.wraps, names),
        kp=_renamed(run.kp, names) if isinstance(run.kp, Mapping) else run.kp,
        kd=_renamed(run.kd, names) if isinstance(run.kd, Mapping) else run.kd,
        ki=_renamed(run.ki, names) if isinstance(run.ki, Mapping) else run.ki,
        goal_acceleration=_renamed(run.goal_acceleration, names)
        if isinstance(run.goal_acceleration, Mapping)
        else run.goal_acceleration,
    )


def _turned(values: np.ndarray, joints: Sequence[JointMap]) -> np.ndarray:
    sign = np.array([joint.sign for joint in joints])
    return np.asarray(sign * (values - np.array([joint.zero for joint in joints])))


def _renamed(values: Mapping[str, _T], names: Mapping[str, str]) -> dict[str, _T]:
    return {names[joint]: value for joint, value in values.items() if joint in names}
