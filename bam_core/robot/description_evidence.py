# SPDX-License-Identifier: Apache-2.0
"""What runs prove against the description: joints beyond its ranges, and links that no servo could hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import mujoco
import numpy as np

from bam_core.mujoco.robot import compile_robot
from bam_core.robot.excitation import InverseDynamics, derived_positions
from bam_core.robot.run import RobotRun
from bam_core.servo.model import ServoModel
from bam_core.text.finding import Finding
from bam_core.text.robot_evidence_findings import BeyondRange, TooHeavy

_BEYOND = 0.1  # rad; zeros of encoders are off by less
_REST = 0.1  # rad/s
_MOST_POSTURES = 500  # of all runs
_LEAST_POSTURES = 20  # at rest
_SURE = 1.5  # times the stall torque; less, friction of the gear can hold


def description_findings(
    spec: mujoco.MjSpec, runs: Sequence[RobotRun], joints: Sequence[str], servos: Mapping[str, ServoModel]
) -> Iterator[Finding]:
    """Return findings about ranges that were passed, and about links too heavy for their servos.

    Args:
        spec: the robot, on a fixed base.
        runs: recorded.
        joints: that count.
        servos: by joint.

    Raises:
        BamError: MuJoCo refuses the description.
    """
    yield from _beyond_ranges(compile_robot(spec.copy()), runs, joints)
    yield from _too_heavy(spec, runs, joints, servos)


def _beyond_ranges(
    model: mujoco.MjModel, runs: Sequence[RobotRun], joints: Sequence[str]
) -> Iterator[BeyondRange]:
    for joint in joints:
        number = model.joint(joint).id
        if not model.jnt_limited[number]:
            continue
        low, high = map(float, model.jnt_range[number])
        read = [run.position[run.is_sound[:, run.column(joint)], run.column(joint)] for run in runs]
        least, most = min(map(np.min, read)), max(map(np.max, read))
        if least < low - _BEYOND or most > high + _BEYOND:
            yield BeyondRange(joint=joint, measured=(float(least), float(most)), limits=(low, high))


def _too_heavy(
    spec: mujoco.MjSpec, runs: Sequence[RobotRun], joints: Sequence[str], servos: Mapping[str, ServoModel]
) -> Iterator[TooHeavy]:
    """Return a finding about each joint that rested where gravity needs more than its servo has."""
    needed: dict[str, list[float]] = {joint: [] for joint in joints}
    for run in runs:
        speeds = np.abs(derived_positions(run, 1)).max(axis=1)
        rows = np.flatnonzero((speeds < _REST) & run.counts & run.is_sound.all(axis=1))
        rows = rows[:: max(len(runs) * len(rows) // _MOST_POSTURES, 1)]
        still = np.zeros((len(rows), len(run.joints)))
        torques = InverseDynamics(spec, run.joints).torques(run.position[rows], still, still)
        for joint in joints:
            needed[joint] += np.abs(torques[:, run.column(joint)]).tolist()
    for joint, torques_of_joint in needed.items():
        if len(torques_of_joint) < _LEAST_POSTURES:
            continue
        most = max(servos[joint].stall_torque(run.supply_voltage) for run in runs)
        held = float(np.median(torques_of_joint))
        if held > _SURE * most:
            yield TooHeavy(joint=joint, torque=held, stall_torque=most, servo=servos[joint].name)
