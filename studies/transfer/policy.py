# SPDX-License-Identifier: Apache-2.0
"""The policy: a reference with feed-forward, and feedback of what the encoders show; it has no memory.

For each joint: goal = q_ref + g·τ_g + b·tanh(q̇_ref/0.1 rad/s) + p·(q_ref - q) - d·q̇. τ_g is the gravity
torque at the mark, by the robot's description. q_ref moves with minimum jerk from the start to the mark.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from studies.transfer.tasks import Marks

PER_JOINT = ("gravity", "breakaway", "proportional", "derivative")
"""Gains of each joint: g rad/(N·m), b rad, p, d s. One more is the duration of the reference."""

_SCALE = (0.05, 0.03, 0.3, 0.02)  # of the gains per unit of the search
_DURATION, _PER_UNIT = 0.5, 0.3  # s in the middle of the search, and its logarithm per unit
_SLOW = 0.1  # rad/s


@dataclass(frozen=True, kw_only=True)
class Gains:
    """Gains of many policies.

    Attributes:
        values: (policies, PER_JOINT, joints) SI.
        duration: (policies,) of the reference, s.
    """

    values: Array
    duration: Array

    @classmethod
    def of(cls, vectors: Array, joints: int) -> Gains:
        """Return the gains at search vectors (policies, `dimension(joints)`)."""
        values = vectors[:, :-1].reshape(-1, len(PER_JOINT), joints) * np.array(_SCALE)[None, :, None]
        return cls(values=values, duration=_DURATION * np.exp(_PER_UNIT * vectors[:, -1]))

    def act(self, time: float, start: Array, marks: Marks, positions: Array, velocities: Array) -> Array:
        """Return goals (policies, joints), rad.

        Args:
            time: since the episode began, s.
            start: (joints,) where it began, rad.
            marks: one per policy.
            positions: (policies, joints) as the encoders show them, rad.
            velocities: their differences, rad/s.
        """
        gravity, breakaway, proportional, derivative = np.moveaxis(self.values, 1, 0)
        share = np.clip(time / self.duration, 0.0, 1.0)[:, None]
        along = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        rate = 30.0 * share**2 * (1.0 - share) ** 2 / self.duration[:, None]
        way = marks.postures - start
        reference = start + along * way
        forward = along * gravity * marks.gravity + breakaway * np.tanh(rate * way / _SLOW)
        feedback = proportional * (reference - positions) - derivative * velocities
        return np.asarray(reference + forward + feedback)


def dimension(joints: int) -> int:
    """Return how many numbers a search vector has."""
    return len(PER_JOINT) * joints + 1
