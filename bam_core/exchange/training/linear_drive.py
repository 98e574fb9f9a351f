# SPDX-License-Identifier: Apache-2.0
"""A servo as the linear drive that simulators for training have: PD, limits, constant friction."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.errors.checks import require_positive
from bam_core.exchange.linearisation import left_out, linear_motor, m1_friction
from bam_core.servo.model import ServoLike, load_servo
from bam_core.servo.plausible import require_plausible

LOAD_SHARE = 0.15
"""Of the stall torque: gravity of a load in the range of an arm's own weight."""


@dataclass(frozen=True, kw_only=True)
class DriveGains:
    """Gains and supply of a servo, as its firmware counts them.

    Attributes:
        kp: position gain, firmware units.
        kd: derivative gain, firmware units.
        ki: integral gain, firmware units. A linear drive has none; `fit_drive` prices its absence.
        supply_voltage: V; None: the servo's nominal one.

    Raises:
        BamError: a value is not above zero or not plausible.
    """

    kp: float
    kd: float = 0.0
    ki: float = 0.0
    supply_voltage: float | None = None

    def __post_init__(self) -> None:
        require_positive("drive", kp=self.kp)
        require_plausible("kp", "kp", self.kp, "firmware units")
        require_plausible("kd", "kd", self.kd, "firmware units")
        require_plausible("ki", "ki", self.ki, "firmware units")
        if self.supply_voltage is not None:
            require_positive("drive", supply_voltage=self.supply_voltage)
            require_plausible("supply_voltage", "supply_voltage", self.supply_voltage, "V")


@dataclass(frozen=True, kw_only=True)
class LinearDrive:
    """The torque clip(stiffness·(goal - θ) - damping·θ̇, ±effort_limit) - back_emf_damping·θ̇, and friction.

    With the voltage law this is the servo's own torque (BAM eqs. 12, 13), as long as its motor is linear:
    K = k_t/R·supply·duty per rad, back-EMF k_t²/R. With the current law the torque is k_t·I (eq. 14).

    Friction is MuJoCo's: frictionloss + viscous_damping·|θ̇|, whatever the load.

    Attributes:
        stiffness: N·m/rad.
        damping: inside the limit, N·m·s/rad.
        effort_limit: N·m.
        back_emf_damping: outside of the limit, N·m·s/rad; 0 with the current law.
        saturation_effort: torque at rest that the supply allows, N·m.
        velocity_limit: speed at which the supply allows no torque, rad/s.
        armature: kg·m².
        frictionloss: N·m.
        viscous_damping: of friction alone, N·m·s/rad.
    """

    stiffness: float
    damping: float
    effort_limit: float
    back_emf_damping: float
    saturation_effort: float
    velocity_limit: float
    armature: float
    frictionloss: float
    viscous_damping: float

    @property
    def joint_damping(self) -> float:
        """Damping of the joint outside of the limit: friction and back-EMF, N·m·s/rad."""
        return self.viscous_damping + self.back_emf_damping

    @property
    def drive_damping(self) -> float:
        """Damping of a drive whose limit is the torque-speed curve, which has the back-EMF, N·m·s/rad."""
        return self.damping + self.back_emf_damping


def nearest_drive(servo: ServoLike, gains: DriveGains) -> tuple[LinearDrive, list[str]]:
    """Return the linear drive nearest to a servo, and one line about everything in which it differs.

    Args:
        servo: any without a gear.
        gains: of its firmware.

    Raises:
        BamError: the servo has a gear, or its firmware no such gain.
    """
    servo = load_servo(servo)
    servo.require_no_gear("a simulator's linear drive")
    supply = servo.nominal_voltage if gains.supply_voltage is None else gains.supply_voltage
    viscous, coulomb, remarks = m1_friction(servo)
    motor, more = linear_motor(servo, supply)
    firmware, effects = servo.firmware, servo.servo_effects
    constant, resistance = motor.torque_constant, motor.resistance
    limit = firmware.demand_limit * (1.0 - effects.limit_shortfall)
    per_demand = constant if firmware.regulates_current else constant / resistance * supply
    kp = (1.0 + effects.firmware_gain) * gains.kp
    stiffness, damping = (per_demand * float(gain) for gain in firmware.gains(kp))
    share = 1.0 if firmware.regulates_current else limit
    drive = LinearDrive(
        stiffness=stiffness,
        damping=damping + stiffness * firmware.rate_time(gains.kp, gains.kd),
        effort_limit=per_demand * limit,
        back_emf_damping=0.0 if firmware.regulates_current else constant**2 / resistance,
        saturation_effort=share * supply * constant / resistance,
        velocity_limit=share * supply / constant,
        armature=motor.armature,
        frictionloss=coulomb,
        viscous_damping=viscous,
    )
    lacks = [name for name in left_out(servo, "a linear drive") if not name.startswith("limit_shortfall")]
    if firmware.regulates_current:
        lacks.append(
            f"supply: it limits the current, to none at {drive.velocity_limit:.3g} rad/s. Drives without a "
            "torque-speed curve leave this out"
        )
    if integral_rate := firmware.integral_rate(gains.kp, gains.ki):
        load = LOAD_SHARE * servo.stall_torque(supply)
        lacks.append(
            f"ki: is left out, a linear drive has no integral. A load of {load:.2g} N·m leaves it"
            f" {1e3 * load / stiffness:.3g} mrad off its goal; the servo removes that within about"
            f" {1.0 / integral_rate:.2g} s"
        )
    return drive, remarks + more + lacks
