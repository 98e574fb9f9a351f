# SPDX-License-Identifier: Apache-2.0
"""The PID of MX servos on the host, in the firmware's own units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors.checks import require_not_negative
from bam_core.servo.firmware_laws import VoltageFirmware

_INTEGRAL = 1000.0 / 2048.0 * 8.0  # manual of MX(1.0): K_p = P/8, K_i = I·1000/2048, K_d = D·4/1000
_DERIVATIVE = 4.0 / 1000.0 * 8.0


@dataclass(frozen=True, kw_only=True)
class PidGains:
    """Gains in firmware units; those of the paper by default.

    Attributes:
        p: P.
        i: I.
        d: D.

    Raises:
        BamError: a gain is negative.
    """

    p: float = 16.0
    i: float = 1.0
    d: float = 0.0

    def __post_init__(self) -> None:
        require_not_negative("PID", p=self.p, i=self.i, d=self.d)


class Pid:
    """Duty from position errors of several joints; the integral stops where duty is at its limit."""

    def __init__(self, gains: PidGains | Sequence[PidGains], firmware: VoltageFirmware, joints: int) -> None:
        self._unit = firmware.duty_per_kp_rad
        self._p, self._i, self._d = np.zeros((3, joints))
        for joint in range(joints):
            self.tune(joint, gains if isinstance(gains, PidGains) else gains[joint])
        self._limit = firmware.duty_limit
        self._integral = np.zeros(joints)
        self._before: Array | None = None

    @property
    def integral(self) -> Array:
        """What the integral part gives by now, duty, (joints,)."""
        return self._integral.copy()

    def tune(self, joint: int, gains: PidGains) -> None:
        """Give one joint other gains; its integral part stays."""
        self._p[joint] = self._unit * gains.p
        self._i[joint] = self._unit * gains.i * _INTEGRAL
        self._d[joint] = self._unit * gains.d * _DERIVATIVE

    def reset(self, integral: Array | float = 0.0) -> None:
        """Start over with an integral part in duty."""
        self._integral[:] = integral
        self._before = None

    def duty(self, error: Array, dt: float, added: Array | float = 0.0) -> Array:
        """Return the duty, (joints,), within its limit.

        Args:
            error: goal minus position, (joints,) rad.
            dt: since the last call, s.
            added: duty that is added elsewhere; the integral stops where the sum is at the limit.
        """
        rate = np.zeros_like(error) if self._before is None else (error - self._before) / dt
        self._before = np.array(error)
        grown = self._integral + self._i * dt * error
        wanted = self._p * error + self._d * rate + grown
        total = wanted + added
        winding = (np.abs(total) > self._limit) & (np.sign(total) == np.sign(error))
        self._integral = np.clip(np.where(winding, self._integral, grown), -self._limit, self._limit)
        return np.asarray(np.clip(wanted, -self._limit, self._limit))
