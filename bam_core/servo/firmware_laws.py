# SPDX-License-Identifier: Apache-2.0
"""The laws of position firmwares: one sets the motor's voltage, one regulates its current."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.servo.firmware import PositionFirmware


@dataclass(frozen=True, kw_only=True)
class VoltageFirmware(PositionFirmware):
    """The voltage law: duty = clip(gain·kp·e, ±limit), and U = duty·supply (BAM eq. 12).

    Attributes:
        duty_per_kp_rad: duty per unit of the firmware's kp and per rad of error, 1/rad.
        duty_limit: largest duty, above 0 and at most 1.
    """

    duty_per_kp_rad: float
    duty_limit: float

    regulates_current = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(
            f"firmware {self.name!r}", duty_per_kp_rad=self.duty_per_kp_rad, duty_limit=self.duty_limit
        )

    @property
    def demand_limit(self) -> float:
        """Largest duty."""
        return self.duty_limit

    @property
    def goal_delay(self) -> float:
        """Half a period: the servo's own controller looks at its goal once per period."""
        return 0.5 * self.period

    @property
    def release_delay(self) -> float:
        """Zero: torque-off acts immediately."""
        return 0.0

    def gains(self, kp: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return duty per rad, and none per rad/s."""
        gain = np.asarray(self.duty_per_kp_rad * np.asarray(kp))
        return gain, np.zeros_like(gain)

    def limited(self, demand: float) -> VoltageFirmware:
        """Return this firmware with a largest duty of `demand`, where that is below its own."""
        return self if demand >= self.duty_limit else replace(self, duty_limit=demand)

    def kp_for(self, share: float) -> float:
        """Return the kp at which one rad of error asks for this duty."""
        return share / (self.duty_per_kp_rad * float(self.shaped_error(1.0)))

    def duty(self, kp: ArrayLike, error: ArrayLike) -> NDArray[np.float64]:
        """Return the duty (-1..1) for a position error θ_d - θ in rad; arguments broadcast."""
        return self.demand(kp, error)


@dataclass(frozen=True, kw_only=True)
class CurrentFirmware(PositionFirmware):
    """The current law: I = clip(K·e - c·√K·θ̇, ±limit) with K = gain·kp in A/rad (BAM eq. 14).

    The supply limits the current too, at every moment: see `motor.DcMotor.regulating_voltage`. BAM prints
    that limit without a sign for its lower end; here it is -(U_max + k_t·θ̇)/R <= I <= (U_max - k_t·θ̇)/R.

    Attributes:
        current_limit: I_heat, largest continuous current of the motor, A.
        damping: c, A·s/rad per root of K; 0: none.
        amps_per_kp_rad: gain, current per unit of the firmware's kp and per rad of error, A/rad; 1 where kp
            is in A/rad, as BAM's own controllers have it.
    """

    current_limit: float
    damping: float = 0.0
    amps_per_kp_rad: float = 1.0

    regulates_current = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(
            f"firmware {self.name!r}",
            current_limit=self.current_limit,
            amps_per_kp_rad=self.amps_per_kp_rad,
        )
        require_not_negative(f"firmware {self.name!r}", damping=self.damping)

    @property
    def demand_limit(self) -> float:
        """Largest current, A."""
        return self.current_limit

    @property
    def goal_delay(self) -> float:
        """One period: the frame that fetches a state carries what the drive does at its next one."""
        return self.period

    @property
    def release_delay(self) -> float:
        """One period, as for goals."""
        return self.period

    def gains(self, kp: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return A per rad and A per rad/s."""
        gain = np.asarray(self.amps_per_kp_rad * np.asarray(kp, dtype=np.float64))
        return gain, np.asarray(self.damping * np.sqrt(gain))

    def limited(self, demand: float) -> CurrentFirmware:
        """Return this firmware with a largest current of `demand` A, where that is below its own."""
        return self if demand >= self.current_limit else replace(self, current_limit=demand)

    def kp_for(self, share: float) -> float:
        """Return the kp at which one rad of error asks for this share of the largest current."""
        return share * self.current_limit / (self.amps_per_kp_rad * float(self.shaped_error(1.0)))
