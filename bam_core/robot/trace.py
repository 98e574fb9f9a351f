# SPDX-License-Identifier: Apache-2.0
"""What a simulated robot did."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.arrays import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotTrace:
    """All that a simulated robot did, one row per step of the simulation.

    Attributes:
        time: (n,) s, on the clock of the run.
        state: (n, nq) coordinates of the robot, MuJoCo's `qpos`.
        speed: (n, joints of the run) rad/s.
        torque: (n, joints of the run) N·m, of the servos' motors.
    """

    time: Array
    state: Array
    speed: Array
    torque: Array
