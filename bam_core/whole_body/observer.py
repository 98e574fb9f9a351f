# SPDX-License-Identifier: Apache-2.0
"""Friction while the robot moves: samples and contacts in, friction of the middle of the window out."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, Missing, OutOfRange
from bam_core.text.whole_body_findings import ContactMismatch
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics
from bam_core.whole_body.contact_consistency import Sample, contact_inconsistency, nothing_stands
from bam_core.whole_body.contact_times import JUMP, ContactTimes
from bam_core.whole_body.derivatives import SavitzkyGolay
from bam_core.whole_body.estimate import Rank, rank_of, regularised
from bam_core.whole_body.robot import WholeBody

_UNEVEN = 0.5  # of the period, by which a sample may come early or late
_ALL_UNEVEN = 20  # samples in a row that do not follow each other: the period is another one


@dataclass(frozen=True, kw_only=True)
class _Pushed:
    time: float
    position: Array
    effort: Array
    run: int  # samples of one run follow each other without a loss


@dataclass(frozen=True, kw_only=True)
class ObservedFriction:
    """Friction of one sample.

    Attributes:
        time: of the sample, s.
        torque: that acts on the driven joints, (j,) N·m; NaN where it is not identifiable.
        effort: torques of their motors, (j,) N·m, filtered as positions are.
        velocity: of the same joints, (j,) rad/s.
        residual: what of their accelerations it does not explain, (j,) rad/s².
        rank: what the contacts allow.
        inconsistency: why the contacts cannot be right, and the torques are NaN; None: nothing seen.
    """

    time: float
    torque: Array
    effort: Array
    velocity: Array
    residual: Array
    rank: Rank
    inconsistency: ContactMismatch | None = None

    @property
    def driving(self) -> NDArray[np.int8]:
        """Sign of the power q̇·τ_f of each joint, (j,): 1 puts energy in, which no friction does (7.9)."""
        return np.sign(np.nan_to_num(self.torque * self.velocity)).astype(np.int8)


class FrictionObserver:
    """Estimates friction a little behind the robot; contacts count by their times, not by when they arrive.

    Args:
        robot: whose model is believed.
        period: of the samples, s.
        window: of the Savitzky-Golay filter, samples, odd.
        after, before: s left out after a change of contacts, and before one.
        contact_delay: s that a contact state may arrive after the sample of the same time.

    Raises:
        BamError: the period is not positive, or the window is impossible.

    Attributes:
        delay: s between the newest sample and the one whose friction comes out.
        lost: how many samples are missing, or came too early or too late to be used.
        restarts: how often time went back and everything began anew.
    """

    def __init__(
        self,
        robot: WholeBody,
        period: float,
        window: int = 33,
        after: float = 0.0,
        before: float = 0.0,
        contact_delay: float = 0.0,
    ) -> None:
        if not period > 0.0:
            raise OutOfRange("friction observer period", period, "more than 0", printed=f"{period!r} s")
        self.robot = robot
        self.period = period
        self.scheme = SavitzkyGolay(window)
        self.lost = 0
        self.restarts = 0
        self._half = window // 2
        waits = (
            max(self._half, math.ceil((before + contact_delay) / period)) if robot.contacts else self._half
        )
        self.delay = waits * period
        self._dynamics = ConstrainedDynamics(robot)
        self._weights = [self.scheme.kernel(order, period) for order in range(3)]
        self._after, self._before = after, before
        self._contacts = ContactTimes(robot.contacts)
        self._newest: float | None = None
        self._run = 0
        self._uneven: deque[float] = deque(maxlen=_ALL_UNEVEN)
        self._kept = self._half + 1 + waits
        self._jump = max(self._kept * period, JUMP)
        self._samples: deque[_Pushed] = deque(maxlen=self._kept)

    def stand(self, time: float, contacts: Mapping[str, bool]) -> None:
        """Take which contacts stand from a time on, s, until another report.

        Raises:
            BamError: a contact is unknown; nothing is taken then.
        """
        self._contacts.report(time, contacts)

    def push(
        self, time: float, position: Mapping[str, float], effort: Mapping[str, float]
    ) -> ObservedFriction | None:
        """Take a sample; return the friction of an earlier one, when there is one.

        There is none where samples were lost within the filter's window, and around changes of contacts.
        A sample that is not later than the one before is lost; where time goes back by more than 0.5 s, and
        by more than the observer remembers, it begins anew.

        Raises:
            BamError: a joint, the effort of a driven joint or all states of a contact are missing, or samples
                come at another period; nothing is taken then.
        """
        values = self._arranged(position, effort)
        if self._contacts.unreported:
            raise Missing(
                f"state of contact '{self._contacts.unreported[0]}'", "whether it stands", advice="publish it"
            )
        if not self._follows(time):
            return None
        self._samples.append(_Pushed(time=time, position=values[0], effort=values[1], run=self._run))
        return self._middle() if len(self._samples) == self._kept else None

    def _follows(self, time: float) -> bool:
        """Whether a sample is of use; keeps account of those that are missing."""
        if self._newest is None:
            self._newest = time
            return True
        step = time - self._newest
        if step <= -self._jump:
            self._begin_anew(time)
            return True
        if step <= 0.0:
            self.lost += 1
            return False
        self._newest = time
        if abs(step - self.period) <= _UNEVEN * self.period:
            self._uneven.clear()
            return True
        self._run += 1
        self._uneven.append(step)
        if len(self._uneven) == _ALL_UNEVEN:
            raise BadData(
                "joint states",
                f"come every {float(np.median(self._uneven)):.2g} s",
                expected=f"the period, {self.period:g} s",
                advice="set the period to theirs, or lose fewer",
            )
        self.lost += max(round(step / self.period) - 1, 1)
        return True

    def _begin_anew(self, time: float) -> None:
        self.restarts += 1
        self._newest = time
        self._samples.clear()
        self._uneven.clear()
        self._contacts.restart(time)

    def _arranged(self, position: Mapping[str, float], effort: Mapping[str, float]) -> tuple[Array, Array]:
        return (
            _values("position", "rad", self.robot.names, position),
            _values("effort", "its torque in N·m", self.robot.joints, effort),
        )

    def _middle(self) -> ObservedFriction | None:
        robot, half = self.robot, self._half
        inside = [self._samples[index] for index in range(2 * half + 1)]
        time = inside[half].time
        standing = self._contacts.standing(time, self._after, self._before)
        self._contacts.forget(time - self._after)
        if standing is None or inside[0].run != inside[-1].run:
            return None
        positions = np.array([pushed.position for pushed in inside])
        centre = positions[half]
        position = centre + self._weights[0] @ (positions - centre)
        velocity, acceleration = (weights @ (positions - centre) for weights in self._weights[1:])
        sample = Sample(
            position=position,
            velocity=velocity,
            acceleration=acceleration[robot.torque_columns],
            effort=self._weights[0] @ np.array([pushed.effort for pushed in inside]),
        )
        if robot.floating and not standing:
            return self._in_the_air(time, sample)
        return self._on(standing, time, sample)

    def _on(self, standing: tuple[str, ...], time: float, sample: Sample) -> ObservedFriction:
        robot, dynamics = self.robot, self._dynamics
        anchor = standing[0] if robot.floating else None
        state = dynamics.at(*dynamics.place(sample.position, sample.velocity, anchor), standing)
        mobility = state.mobility
        lacking = sample.acceleration - state.acceleration(sample.effort)[robot.torque_dofs]
        rank = rank_of(mobility, robot.joints, standing)
        if rank.rank == rank.joints:
            torque = np.asarray(np.linalg.solve(mobility, lacking), dtype=np.float64)
        else:
            torque = regularised(mobility, lacking)
        residual = lacking - mobility @ torque
        inconsistency = contact_inconsistency(dynamics, sample, standing, torque)
        hidden = [robot.joints.index(name) for name in rank.unidentifiable]
        torque[slice(None) if inconsistency else hidden] = np.nan
        return ObservedFriction(
            time=time,
            torque=torque,
            effort=sample.effort,
            velocity=sample.velocity[robot.torque_columns],
            residual=residual,
            rank=rank,
            inconsistency=inconsistency,
        )

    def _in_the_air(self, time: float, sample: Sample) -> ObservedFriction:
        joints = self.robot.joints
        unknown = np.full(len(joints), np.nan)
        return ObservedFriction(
            time=time,
            torque=unknown,
            effort=sample.effort,
            velocity=sample.velocity[self.robot.torque_columns],
            residual=unknown,
            rank=Rank(contacts=(), rank=0, joints=len(joints), unidentifiable=joints, samples=1),
            inconsistency=nothing_stands(),
        )


def _values(what: str, expected: str, names: tuple[str, ...], given: Mapping[str, float]) -> Array:
    try:
        values = np.array([given[name] for name in names], dtype=np.float64)
    except KeyError as missing:
        raise Missing(
            f"joint '{missing.args[0]}', {what}",
            f"{expected}, as of {', '.join(given) or 'every joint'}",
            advice="publish it",
        ) from None
    if not np.isfinite(values).all():
        name = names[int(np.argmin(np.isfinite(values)))]
        raise OutOfRange(
            f"joint '{name}', {what}", given[name], expected, advice="publish it, or leave such samples out"
        )
    return values
