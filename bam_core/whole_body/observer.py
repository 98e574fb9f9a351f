# SPDX-License-Identifier: Apache-2.0
"""Friction while the robot moves: samples in, friction of the one in the middle of the window out."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BamError, unknown_name
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics
from bam_core.whole_body.contact_check import LIKELIER
from bam_core.whole_body.derivatives import SavitzkyGolay
from bam_core.whole_body.estimate import Rank, rank_of, regularised
from bam_core.whole_body.robot import WholeBody

Array = NDArray[np.float64]

_CHECK_EVERY = 20  # samples, between looks at whether another foot stands
_UNEVEN = 0.5  # of the period, by which a sample may come early or late


@dataclass(frozen=True, kw_only=True)
class ObservedFriction:
    """Friction of one sample.

    Attributes:
        time: of the sample, s.
        torque: that acts on the driven joints, (j,) N·m; NaN where it is not identifiable.
        velocity: of the same joints, (j,) rad/s.
        residual: what of their accelerations it does not explain, (j,) rad/s².
        rank: what the contacts allow.
        contradiction: why the contacts cannot be right, in words, and the torques are NaN; empty: nothing
            seen.
    """

    time: float
    torque: Array
    velocity: Array
    residual: Array
    rank: Rank
    contradiction: str = ""

    @property
    def driving(self) -> NDArray[np.int8]:
        """Sign of the power q̇·τ_f of each joint, (j,): 1 puts energy in, which no friction does (7.9)."""
        return np.sign(np.nan_to_num(self.torque * self.velocity)).astype(np.int8)


class FrictionObserver:
    """Estimates friction half a window behind the robot.

    Args:
        robot: whose model is believed.
        period: of the samples, s.
        window: of the Savitzky-Golay filter, samples, odd.
        after, before: s left out after a change of contacts, and before one.

    Raises:
        BamError: the period is not positive, or the window is impossible.
    """

    def __init__(
        self,
        robot: WholeBody,
        period: float,
        window: int = 33,
        after: float = 0.0,
        before: float = 0.0,
    ) -> None:
        if not period > 0.0:
            raise BamError(f"friction observer period: is {period!r} s (expected more than 0); correct it")
        self.robot = robot
        self.period = period
        self.scheme = SavitzkyGolay(window)
        self.lost = 0
        self._dynamics = ConstrainedDynamics(robot)
        self._weights = [self.scheme.kernel(order, period) for order in range(3)]
        self._length = max(window, 2 * round(max(after, before) / period) + 1)
        self._after, self._before = round(after / period), round(before / period)
        self._looks, self._verdict = 0, ""
        self._looked_at: tuple[str, ...] = ()
        self._samples: deque[tuple[float, Array, Array, tuple[str, ...]]] = deque(maxlen=self._length)

    def push(
        self,
        time: float,
        position: Mapping[str, float],
        effort: Mapping[str, float],
        contacts: Mapping[str, bool],
    ) -> ObservedFriction | None:
        """Take a sample; return the friction of the one in the middle of those known, when there is one.

        After a lost sample the window fills anew; `lost` counts them. A sample that is not later than the one
        before is lost as well.

        Raises:
            BamError: a joint, the effort of a driven joint or a contact is missing; nothing is taken then.
        """
        sample = (time, *self._arranged(position, effort), self._standing(contacts))
        if self._samples:
            step = time - self._samples[-1][0]
            if step <= 0.0:
                self.lost += 1
                return None
            if abs(step - self.period) > _UNEVEN * self.period:
                self.lost += max(round(step / self.period) - 1, 0)
                self._samples.clear()
        self._samples.append(sample)
        return self._middle() if len(self._samples) == self._length else None

    def _arranged(self, position: Mapping[str, float], effort: Mapping[str, float]) -> tuple[Array, Array]:
        robot = self.robot
        for name in robot.names:
            if not np.isfinite(position.get(name, np.nan)):
                raise BamError(
                    f"joint '{name}': has no position (there are: {', '.join(position)}); publish it"
                )
        for name in robot.joints:
            if not np.isfinite(effort.get(name, np.nan)):
                raise BamError(f"joint '{name}': has no effort (expected its torque in N·m); publish it")
        return (
            np.array([position[name] for name in robot.names]),
            np.array([effort[name] for name in robot.joints]),
        )

    def _standing(self, contacts: Mapping[str, bool]) -> tuple[str, ...]:
        for name in contacts:
            if name not in self.robot.contacts:
                raise unknown_name("contact", name, self.robot.contacts)
        for name in self.robot.contacts:
            if name not in contacts:
                raise BamError(f"contact '{name}': nothing says whether it stands; publish its state")
        return tuple(name for name in self.robot.contacts if contacts[name])

    def _middle(self) -> ObservedFriction | None:
        robot, samples, middle = self.robot, list(self._samples), self._length // 2
        time, _, _, standing = samples[middle]
        around = samples[middle - self._after : middle + self._before + 1]
        if any(each[3] != standing for each in around) or (robot.floating and not standing):
            return None
        half = len(self._weights[0]) // 2
        inside = samples[middle - half : middle + half + 1]
        positions = np.array([each[1] for each in inside])
        centre = positions[half]
        position = centre + self._weights[0] @ (positions - centre)
        velocity, acceleration = (weights @ (positions - centre) for weights in self._weights[1:])
        effort = self._weights[0] @ np.array([each[2] for each in inside])
        anchor = standing[0] if robot.floating else None
        state = self._dynamics.at(*self._dynamics.place(position, velocity, anchor), standing)
        lacking = acceleration[robot.torque_columns] - state.acceleration(effort)[robot.torque_dofs]
        rank = rank_of(state.mobility, robot.joints, standing)
        if rank.rank == rank.joints:
            torque = np.linalg.solve(state.mobility, lacking)
        else:
            torque = regularised(state.mobility, lacking)
        residual = lacking - state.mobility @ torque
        doubt = self._doubt(position, velocity, effort, acceleration[robot.torque_columns], standing, torque)
        if doubt:
            torque = np.full_like(torque, np.nan)
        hidden = [robot.joints.index(name) for name in rank.unidentifiable]
        torque[hidden] = np.nan
        return ObservedFriction(
            time=time,
            torque=torque,
            velocity=velocity[robot.torque_columns],
            residual=residual,
            rank=rank,
            contradiction=doubt,
        )

    def _doubt(
        self,
        position: Array,
        velocity: Array,
        effort: Array,
        acceleration: Array,
        standing: tuple[str, ...],
        torque: Array,
    ) -> str:
        """Now and then, look whether the torques are rather those of standing on another foot."""
        others = [name for name in self.robot.contacts if name not in standing]
        if len(standing) != 1 or not others:
            return ""
        self._looks += 1
        if standing == self._looked_at and self._looks % _CHECK_EVERY:
            return self._verdict
        self._looked_at, self._verdict = standing, ""
        dynamics = self._dynamics
        for other in others:
            state = dynamics.at(*dynamics.place(position, velocity, other), (other,))
            lacking = acceleration - state.acceleration(effort)[self.robot.torque_dofs]
            instead = float(np.linalg.norm(np.linalg.lstsq(state.mobility, lacking, rcond=None)[0]))
            if np.linalg.norm(torque) > LIKELIER * instead:
                self._verdict = (
                    f"'{standing[0]}' is said to stand, but the torques are those of standing on '{other}'"
                )
        return self._verdict
