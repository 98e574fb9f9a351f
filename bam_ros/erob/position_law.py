# SPDX-License-Identifier: Apache-2.0
"""The position law that runs in the master: I = k_p·(θ_d - θ) - c·√k_p·θ̇, within what motor and supply stand.

It is the arithmetic of `bam_core.servo.firmware_laws.CurrentFirmware` (BAM eq. 14), in plain floats
because it runs for every drive in every cycle. BAM prints I_min = max(-I_emf, -I_heat) with
I_emf = (U_max - k_t·θ̇)/R. What the supply can really force backwards through a turning motor is
-(U_max + k_t·θ̇)/R: that is the bound here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class MotorLimits:
    """What bounds the current of one motor.

    Attributes:
        heat_limit: I_heat, A.
        torque_constant: k_t at the output shaft, N·m/A.
        resistance: R, Ω.
        nominal_voltage: U_max where the drive has none, V.
    """

    heat_limit: float
    torque_constant: float
    resistance: float
    nominal_voltage: float

    def clip(self, current: float, velocity: float, voltage: float) -> float:
        """Return the current nearest to a wanted one that supply and heat allow, A.

        Args:
            current: wanted, A.
            velocity: θ̇, rad/s.
            voltage: U_max, V; the nominal one where it is not above zero.
        """
        if not voltage > 0.0:
            voltage = self.nominal_voltage
        induced = self.torque_constant * velocity
        highest = min((voltage - induced) / self.resistance, self.heat_limit)
        lowest = max(-(voltage + induced) / self.resistance, -self.heat_limit)
        # Faster than its supply can drive it both bounds have the same sign; heat must not be exceeded there.
        highest = max(highest, -self.heat_limit)
        lowest = min(lowest, self.heat_limit)
        return min(max(current, lowest), highest)


def position_law(stiffness: float, damping: float, goal: float, position: float, velocity: float) -> float:
    """Return the current that the law asks for, A.

    Args:
        stiffness: k_p, A/rad.
        damping: c·√k_p, A·s/rad.
        goal: θ_d, rad.
        position: θ, rad.
        velocity: θ̇, rad/s.
    """
    return stiffness * (goal - position) - damping * velocity
