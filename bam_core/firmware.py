# SPDX-License-Identifier: Apache-2.0
"""Position controllers of servo firmwares: from position error to PWM duty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core._checks import require_positive
from bam_core.errors import unknown_name

_COUNTS = 4096  # encoder counts per turn of the MX and XL330 series
_PWM_UNITS = 885  # PWM units that mean 100 % duty in the control tables of Protocol 2.0 firmware


@dataclass(frozen=True, kw_only=True)
class PositionFirmware:
    """The proportional position loop of a firmware: duty = clip(gain·kp·(θ_d - θ), ±limit), BAM eq. 12.

    Attributes:
        name: key in FIRMWARES.
        duty_per_kp_rad: duty per unit of the firmware's kp and per rad of error, 1/rad.
        duty_limit: largest duty, above 0 and at most 1.
        counts_per_turn: encoder counts per turn of the output shaft.
        period: of the control loop, s.
        supply_is_aliased: the servo samples its supply in step with its PWM, so that single readings are off
            by the ripple; only their mean counts.

    Raises:
        BamError: a value is out of range.
    """

    name: str
    duty_per_kp_rad: float
    duty_limit: float
    counts_per_turn: float
    period: float = 1e-3
    supply_is_aliased: bool = False

    def __post_init__(self) -> None:
        require_positive(
            f"firmware {self.name!r}",
            duty_per_kp_rad=self.duty_per_kp_rad,
            duty_limit=self.duty_limit,
            counts_per_turn=self.counts_per_turn,
            period=self.period,
        )

    @property
    def resolution(self) -> float:
        """One encoder count, rad."""
        return 2.0 * math.pi / self.counts_per_turn

    def duty(self, kp: ArrayLike, error: ArrayLike) -> NDArray[np.float64]:
        """Return the duty (-1..1) for a position error θ_d - θ in rad; arguments broadcast."""
        demand = self.duty_per_kp_rad * np.asarray(kp) * np.asarray(error)
        return np.asarray(np.clip(demand, -self.duty_limit, self.duty_limit))


def _duty_per_kp_rad(divisor: int) -> float:
    """Gain of a Protocol 2.0 firmware whose loop is PWM units = kp / divisor · error in counts."""
    return _COUNTS / (2.0 * math.pi) / (divisor * _PWM_UNITS)


FIRMWARES: Mapping[str, PositionFirmware] = MappingProxyType(
    {
        firmware.name: firmware
        for firmware in (
            # Gain and limit measured with an oscilloscope on MX-64 and MX-106 by BAM's authors.
            PositionFirmware(
                name="mx-protocol1", duty_per_kp_rad=0.158, duty_limit=0.9625, counts_per_turn=_COUNTS
            ),
            # Manual of MX(2.0): K_P = kp/128 on counts, 885 = 100 % PWM. The factory kp of 850 gives
            # 4.9 duty/rad, in line with 5.1 duty/rad of the Protocol 1.0 firmware at its factory kp of 32.
            PositionFirmware(
                name="mx-protocol2",
                duty_per_kp_rad=_duty_per_kp_rad(128),
                duty_limit=1.0,
                counts_per_turn=_COUNTS,
            ),
            # The XL330 manual says 128 too; BAM's authors measured twice that divisor.
            PositionFirmware(
                name="xl330",
                duty_per_kp_rad=_duty_per_kp_rad(256),
                duty_limit=1.0,
                counts_per_turn=_COUNTS,
                # Recorded readings scatter by D²·(1 - D)·8.4 V to either side of a steady mean: the ripple
                # of a capacitor that the bridge discharges for a share D of each PWM period.
                supply_is_aliased=True,
            ),
            # 1024 counts span 300° on this servo.
            PositionFirmware(
                name="xl320", duty_per_kp_rad=0.0505, duty_limit=1.0, counts_per_turn=1024 * 360 / 300
            ),
        )
    }
)
"""Known firmwares by name."""


def find_firmware(name: str) -> PositionFirmware:
    """Return the firmware of this name; raise BamError with the valid names where there is none."""
    try:
        return FIRMWARES[name]
    except KeyError:
        raise unknown_name("firmware", name, FIRMWARES) from None
