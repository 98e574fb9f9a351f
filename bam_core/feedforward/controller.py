# SPDX-License-Identifier: Apache-2.0
"""Feed-forward and PID in parallel: what a servo in PWM mode is commanded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, WrongShape
from bam_core.errors.checks import require_positive
from bam_core.feedforward.buffer import PieceBuffer
from bam_core.feedforward.law import FeedForwardLaw, voltages
from bam_core.feedforward.pid import Pid, PidGains
from bam_core.servo.firmware_laws import VoltageFirmware


@dataclass(frozen=True, kw_only=True)
class Opposition:
    """When the model's contribution is dropped, and when it comes back.

    Attributes:
        drop: duty of a PID against the model from which on it is dropped, above zero.
        resume: duty of a PID against it below which it comes back, above zero and below `drop`.

    Raises:
        BamError: a value is out of range.
    """

    drop: float = 0.35
    resume: float = 0.15

    def __post_init__(self) -> None:
        require_positive("opposition", drop=self.drop, resume=self.resume)
        if self.resume >= self.drop:
            raise OutOfRange(
                "opposition resume", self.resume, f"below drop, {self.drop:g}", printed=f"{self.resume:g}"
            )


class FeedForwardController:
    """Follows a buffer: duty = PID + model, the model only while the PID does not strongly oppose it.

    Attributes:
        buffer: what is followed; pieces are offered there. Another one may take its place.
        pid: in parallel.
        model_on: (joints,) whether the model contributed in the last call.
        model_duty: (joints,) its output, whether it contributed or not.
    """

    def __init__(
        self,
        buffer: PieceBuffer,
        laws: Sequence[FeedForwardLaw],
        firmware: VoltageFirmware,
        gains: PidGains | Sequence[PidGains] | None = None,
        opposition: Opposition | None = None,
        *,
        lead: float = 0.0,
    ) -> None:
        """Prepare control.

        Args:
            buffer: of as many joints as there are laws.
            laws: of the joints.
            firmware: whose PID and duty limit count.
            gains: of the PID; of all joints, or one for each.
            opposition: when the model is dropped.
            lead: how much later than it is computed a command acts, s.

        Raises:
            BamError: the counts differ.
        """
        joints = len(buffer.limits.low)
        if len(laws) != joints:
            raise WrongShape("controller laws", len(laws), f"one for each of {joints} joints")
        self.buffer = buffer
        self.pid = Pid(PidGains() if gains is None else gains, firmware, joints)
        self.model_on = np.ones(joints, dtype=bool)
        self.model_duty = np.zeros(joints)
        self._opposition = Opposition() if opposition is None else opposition
        self._limit, self._lead = firmware.duty_limit, lead
        self._laws = np.stack([law.vector() for law in laws])

    def duty(
        self, now: float, position: ArrayLike, supply: ArrayLike, dt: float, lead: float | None = None
    ) -> Array:
        """Return the duty to command, (joints,), within the firmware's limit.

        Args:
            now: when the position was measured, s of the clock of the pieces.
            position: measured, (joints,) rad.
            supply: V, one or (joints,); above zero.
            dt: since the last call, s.
            lead: instead of the one that was given at first, s.
        """
        buffer, lead = self.buffer, self._lead if lead is None else lead
        goal = buffer.at(now).position
        ahead, then = buffer.at(now + lead), buffer.at(now + lead + dt)
        volts = voltages(self._laws, ahead.velocity, then.velocity, dt, ahead.torque)
        model = np.clip(volts / np.asarray(supply), -self._limit, self._limit)
        self.model_duty = model
        feedback = self.pid.duty(goal - np.asarray(position), dt, np.where(self.model_on, model, 0.0))
        against = -feedback * np.sign(model)
        limit = np.where(self.model_on, self._opposition.drop, self._opposition.resume)
        self.model_on = against < limit
        return np.asarray(np.clip(feedback + np.where(self.model_on, model, 0.0), -self._limit, self._limit))
