# SPDX-License-Identifier: Apache-2.0
"""Whether a motion keeps to its limits, simulated with robots that differ a little from the description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.robot.contacts import ContactCheck
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.engine_rollout import DivergedError
from bam_core.robot.motion import RobotMotion
from bam_core.robot.motion_limits import MotionLimits, largest_torques
from bam_core.robot.root import FIXED
from bam_core.robot.simulation import RobotBench
from bam_core.robot.trace import RobotTrace
from bam_core.robot.unknowns import Unknowns
from bam_core.servo.model import ServoModel

WITHIN = 0.9
"""Share of a limit that simulations may reach: robots that differ in other ways shall keep it, too."""

_LARGEST_DRAW = 2.0  # standard deviations; what lies beyond is a broken robot
_COARSE = 0.1  # rad; between goals that are looked at before a motion is simulated
_TILT, _SHIFT = 0.15, 0.03  # rad and m by which a base may move that shall stand


@dataclass(frozen=True, kw_only=True)
class Peaks:
    """The largest of what limits bound, over all simulations of a motion.

    Attributes:
        speed: rad/s, of the fastest joint.
        torque: of a motor, as a share of its stall torque.
        problem: what breaks a limit, in words; empty: nothing.
    """

    speed: float = 0.0
    torque: float = 0.0
    problem: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Robot:
    servos: Mapping[str, ServoModel]
    deviations: RobotDeviations


class MotionCheck:
    """Simulates motions of a robot as described and of others that it may be instead.

    Args:
        bench: that simulates.
        unknowns: what may be off, and by how much.
        limits: to keep.
        contacts: finds what touches.
        supply_voltage: V; None: the servos' nominal one.
        others: how many robots beside the described one are tried.
        seed: of these.
    """

    def __init__(
        self,
        bench: RobotBench,
        unknowns: Unknowns,
        limits: MotionLimits,
        contacts: ContactCheck,
        *,
        supply_voltage: float | None,
        others: int = 5,
        seed: int = 0,
    ) -> None:
        self._bench = bench
        self._limits = limits
        self._contacts = contacts
        self._supply = supply_voltage
        draws = np.random.default_rng(seed).normal(size=(others, len(unknowns.names)))
        points = [np.zeros(len(unknowns.names)), *np.clip(draws, -_LARGEST_DRAW, _LARGEST_DRAW)]
        self._robots = [
            _Robot(servos=unknowns.servos_at(point), deviations=unknowns.deviations_at(point))
            for point in points
        ]
        self._nominal = self._robots[0].servos

    @property
    def robots(self) -> int:
        """How many robots every motion is simulated with."""
        return len(self._robots)

    def is_clear(self, joints: Sequence[str], goals: Array) -> bool:
        """Return whether a robot that is at its goals, (n, joints) rad, touches nothing."""
        last, states = None, []
        for goal in goals:
            if last is None or np.abs(goal - last).max() > _COARSE:
                states.append(self._contacts.state(joints, goal))
                last = goal
        return not self._contacts.problem(np.array(states))

    def peaks(self, motion: RobotMotion, share: float = WITHIN) -> Peaks:
        """Return how far a motion goes; with the first problem where it breaks a share of a limit."""
        goal_speed = motion.speed.max()
        if goal_speed > self._limits.speed:
            return Peaks(problem=f"goals move at {goal_speed:.2f} rad/s")
        run = motion.as_run("motion", self._supply)
        torques = largest_torques(
            self._nominal, motion.joints, replace(self._limits, torque=1.0), self._supply
        )
        result = Peaks()
        for robot in self._robots:
            try:
                trace = self._bench.trace(run, robot.servos, robot.deviations)
            except DivergedError:
                return replace(result, problem="the simulation diverges")
            result = self._with(result, trace, motion.joints, torques, share)
            if result.problem:
                return result
        return result

    def _with(
        self, peaks: Peaks, trace: RobotTrace, joints: Sequence[str], torques: Array, share: float
    ) -> Peaks:
        moving = trace.time >= 0.0
        speeds, shares = np.abs(trace.speed[moving]), np.abs(trace.torque[moving]) / torques
        peaks = Peaks(
            speed=max(peaks.speed, float(speeds.max())), torque=max(peaks.torque, float(shares.max()))
        )
        if peaks.speed > share * self._limits.speed:
            joint = joints[int(speeds.max(axis=0).argmax())]
            return replace(peaks, problem=f"{joint} would move at {peaks.speed:.2f} rad/s")
        if peaks.torque > share * self._limits.torque:
            joint = joints[int(shares.max(axis=0).argmax())]
            return replace(
                peaks, problem=f"{joint} would need {100 * peaks.torque:.0f} % of its stall torque"
            )
        model = self._contacts.model
        if self._bench.root != FIXED and _falls(model, trace.state):
            return replace(peaks, problem="the base would not stay where it stands")
        return replace(peaks, problem=self._contacts.problem(trace.state))


def _falls(model: mujoco.MjModel, states: Array) -> bool:
    """Return whether a base leaves its place or turns."""
    free: NDArray[np.intp] = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    for joint in free:
        address = int(model.jnt_qposadr[joint])
        place, turn = states[:, address : address + 3], states[:, address + 3 : address + 7]
        if np.linalg.norm(place - place[0], axis=1).max() > _SHIFT:
            return True
        if 2.0 * np.arccos(np.clip(np.abs(turn @ turn[0]), 0.0, 1.0)).max() > _TILT:
            return True
    return False
