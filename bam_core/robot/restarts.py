# SPDX-License-Identifier: Apache-2.0
"""Where a simulation of a robot starts anew from its measurement, and in which states.

A joint that stuck where the real one slid stays off until it moves again, and its derivatives are those of a
place where the robot never was. Over short horizons this ends with the next start.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.robot.run import RobotRun
from bam_core.servo.model import ServoModel
from bam_core.simulation.measured_states import states_between

LEAD = 0.1
"""s of a piece before it counts: a servo's position forgets within as long how fast it began."""

_COUNT = 2.0 * np.pi / 4096.0  # rad; of joints whose servo is not known


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a simulation, by numbers of its steps.

    Attributes:
        start: where it starts; the first piece does at rest, like a simulation in one piece.
        counts: from where on it counts.
        end: likewise, where it ends.
    """

    start: int
    counts: int
    end: int


def pieces(times: Array, first: float, horizon: float) -> list[Piece]:
    """Cut a simulation.

    Args:
        times: (steps + 1,) s.
        first: s, of the first sample.
        horizon: s.
    """
    step = float(times[1] - times[0])
    begin, last = round((first - times[0]) / step), len(times) - 1
    length, lead = max(round(horizon / step), 1), round(LEAD / step)
    return [
        Piece(start=counts - lead if counts > begin else 0, counts=counts, end=min(counts + length, last))
        for counts in range(begin, last, length)
    ]


def start_states(run: RobotRun, servos: Mapping[str, ServoModel], times: Array) -> tuple[Array, Array]:
    """Return (n, joints of the run) measured positions, rad, and velocities estimated from them, rad/s.

    Args:
        run: that was measured.
        servos: by joint; their encoders' counts tell which velocities are none.
        times: (n,) s, within the run.
    """
    counts = tuple(servos[joint].firmware.resolution if joint in servos else _COUNT for joint in run.joints)
    return _start_states(run, counts, tuple(times))


@functools.lru_cache(maxsize=256)
def _start_states(run: RobotRun, counts: tuple[float, ...], times: tuple[float, ...]) -> tuple[Array, Array]:
    """A search asks for the same again and again."""
    of_joints = [
        states_between(run.time, position, np.array(times), count)
        for position, count in zip(run.position.T, counts, strict=True)
    ]
    states = np.stack(of_joints, axis=2)
    return states[:, 0], states[:, 1]
