# SPDX-License-Identifier: Apache-2.0
"""What recordings of real servos show beyond motor constants and friction; every effect is off at zero.

Of the motor, see `motor.DcMotor`:

- torque_saturation s: a small motor's torque grows less than its current, τ = k_t·I/(1 + s·|I|). Fitted to
  recordings of an XL330 as well, an exponent on the second term came out at 1 within 2 %. Its manual agrees
  in kind: stall torque per current falls from 0.378 to 0.345 N·m/A between 3.7 and 6 V.
- winding_heating h: copper loss warms the winding by h kelvin per joule, and its resistance grows with it. A
  stalled XL330 gains about 20 K/s. The heat leaves within `motor.WINDING_COOLING_TIME`, down to the
  temperature of the servo in the recording.

Of the rest of the servo, see `ServoEffects`: friction_temperature, bridge_coasting, firmware_gain,
limit_shortfall, sensor_delay, encoder_quantisation, load_inertia, goal_slew_time, friction_direction. They
and the two of the motor apply wherever the servo is simulated.

Of the bench that it was recorded on, see `BenchEffects`:

- zero_offset: where the encoder stands when the arm hangs straight down; how the horn was screwed on.
- command_delay: from the stamp of a command to the time the firmware applies it: bus, driver. Positions that
  are older than their stamps come to the same, and the two are inseparable in any recording.
- arm_compliance: how far horn and arm bend between the encoder and the mass; see `arm_link`.
- arm_backlash: their play, from end to end.
- arm_mass: mass of the arm in addition to what the recordings state.
- supply_ripple: the share of a supply's ripple that counts, where the servo's readings of it are aliased.
- load_gyration: the load's own radius of gyration. Headers have its mass, as of a point; discs on
  a pin add m·r²/2 to the inertia, which grows with the load and so is none of the motor's.

All are constants of one servo or one bench, none of one recording: a constant that every recording has for
itself would be unknown for those that are held out, and for those to come.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from bam_core.errors import OutOfRange, UnknownName
from bam_core.errors.checks import require_finite, require_not_negative, require_share
from bam_core.servo.pendulum import PendulumBench


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One effect with its one parameter.

    Attributes:
        name: of both.
        unit: of the parameter.
        low: lower bound of the search range, SI; below zero where either sign is possible.
        high: upper bound.
        is_switch: there is nothing to search for; it is 0 where the effect is off and `high` where it is on.
    """

    name: str
    unit: str
    low: float
    high: float
    is_switch: bool = False


LEAST_DELAY = -0.002
"""s; the least command delay. Below zero: a command's stamp may be later than the command, or that of a
position earlier than the position, by a part of a bus transaction."""

MOST_DELAY = 1.0
"""s; the largest command delay, longer than any bus with its driver takes."""

EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        effect.name: effect
        for effect in (
            Effect(name="torque_saturation", unit="1/A", low=0.0, high=3.0),
            Effect(name="winding_heating", unit="K/J", low=0.0, high=20.0),
            Effect(name="friction_temperature", unit="1/K", low=0.0, high=0.1),
            Effect(name="bridge_coasting", unit="-", low=0.0, high=1.0),
            Effect(name="firmware_gain", unit="-", low=-0.3, high=0.3),
            Effect(name="limit_shortfall", unit="-", low=0.0, high=0.9),
            Effect(name="sensor_delay", unit="s", low=0.0, high=0.01),
            Effect(name="encoder_quantisation", unit="-", low=0.0, high=1.0, is_switch=True),
            Effect(name="load_inertia", unit="-", low=0.0, high=1.0, is_switch=True),
            Effect(name="goal_slew_time", unit="s/rad", low=0.0, high=0.5),
            Effect(name="friction_direction", unit="-", low=-0.5, high=0.5),
            Effect(name="zero_offset", unit="rad", low=-0.1, high=0.1),
            Effect(name="command_delay", unit="s", low=LEAST_DELAY, high=0.02),
            Effect(name="arm_compliance", unit="rad/(N·m)", low=0.0, high=1.0),
            Effect(name="arm_backlash", unit="rad", low=0.0, high=0.06),
            Effect(name="arm_mass", unit="kg", low=0.0, high=0.5),
            Effect(name="supply_ripple", unit="-", low=0.0, high=1.0),
            Effect(name="load_gyration", unit="m", low=0.0, high=0.2),
        )
    }
)
"""All effects by name."""


@dataclass(frozen=True, kw_only=True)
class ServoEffects:
    """What a fit found about a servo besides its motor and friction; it goes wherever the servo is simulated.

    Attributes:
        friction_temperature: γ, 1/K, zero or more: relative decrease of friction per kelvin. The friction
            that no load causes (viscous, coulomb, stribeck_coulomb) is multiplied by exp(-γ·(T - 25 °C)), T
            being the servo's temperature: it is mostly the grease's, and the viscosity of oils falls
            exponentially with temperature (Reynolds).
        bridge_coasting: β, 0 for a bridge that shorts the motor in the rest of each PWM period (drive/brake,
            BAM eq. 13), 1 for one that opens (drive/coast), in between for one that does a share of each.
            An open winding has no current, so back-EMF acts for a share 1 - β·(1 - |D|) of the period:
            τ_m = k_t/R·(D·U - (1 - β·(1 - |D|))·k_t·θ̇). It is valid where the winding's current
            decays within the period, L/R short against it; for others see Sihite, Yang and Bewley (BAM's
            [22]).
        firmware_gain: relative error of the position gain, above -1: the firmware behaves as with a gain of
            (1 + firmware_gain)·kp.
        limit_shortfall: 0 to below 1: the true limit of duty or current is (1 - limit_shortfall) times that
            of the law.
        sensor_delay: t, s, zero or more: how old the position is that the firmware works with, to first order
            θ - t·θ̇. It can make a servo oscillate that would not without it.
        encoder_quantisation: 1 where the firmware sees whole counts of its encoder, 0 where it sees angles.
        load_inertia: 1 where the torque that accelerates the load presses on the gear's teeth as its weight
            does, so that friction that grows with the load takes τ_e - J·θ̈ for τ_e, J without the motor's
            own (Kikuuwe 2022, eq. 14: λ = … + γ_v·(f_v + M·v̇)); 0 where τ_e alone counts, as in BAM eq. 10.
            A share in between is possible.
        goal_slew_time: time that the set-point inside the servo takes for each rad towards a new goal, s/rad,
            the reciprocal of its speed; it replaces the firmware's `goal_speed_limit`. 0: that one is used.
        friction_direction: a, between -1 and 1: friction is (1 + a) times its budget while the servo turns
            towards positive positions, and (1 - a) times while it turns back; in a servo at rest the
            direction of the push counts. Gears and brushes are not alike on both flanks (Armstrong-Hélouvry,
            Dupont and Canudas de Wit, Automatica 30, 1994, section 2; different Coulomb and viscous levels
            for both directions).

    Raises:
        BamError: a value is out of range.
    """

    friction_temperature: float = 0.0
    bridge_coasting: float = 0.0
    firmware_gain: float = 0.0
    limit_shortfall: float = 0.0
    sensor_delay: float = 0.0
    encoder_quantisation: float = 0.0
    load_inertia: float = 0.0
    goal_slew_time: float = 0.0
    friction_direction: float = 0.0

    def __post_init__(self) -> None:
        require_not_negative(
            "servo_effects",
            friction_temperature=self.friction_temperature,
            sensor_delay=self.sensor_delay,
            goal_slew_time=self.goal_slew_time,
        )
        require_finite(
            "servo_effects", firmware_gain=self.firmware_gain, friction_direction=self.friction_direction
        )
        if abs(self.friction_direction) >= 1.0:
            raise OutOfRange(
                "servo_effects friction_direction",
                self.friction_direction,
                "between -1 and 1, which leave no friction in one direction",
                printed=f"{self.friction_direction:g}",
            )
        if self.firmware_gain <= -1.0:
            raise OutOfRange(
                "servo_effects firmware_gain",
                self.firmware_gain,
                "above -1, no gain",
                printed=f"{self.firmware_gain:g}",
            )
        require_share(
            "servo_effects",
            bridge_coasting=self.bridge_coasting,
            limit_shortfall=self.limit_shortfall,
            load_inertia=self.load_inertia,
        )
        if self.limit_shortfall == 1.0:
            raise OutOfRange(
                "servo_effects limit_shortfall",
                self.limit_shortfall,
                "below 1, which leaves no drive",
                printed="1",
            )
        if self.encoder_quantisation not in (0.0, 1.0):
            raise OutOfRange("servo_effects encoder_quantisation", self.encoder_quantisation, "0 or 1")

    def goal_speed_limit(self, own: float) -> float:
        """Return the speed at which the set-point follows the goal, rad/s; `own` is the firmware's."""
        return 1.0 / self.goal_slew_time if self.goal_slew_time else own

    def seen_position(self, position: float, velocity: float, resolution: float) -> float:
        """Return the position that the firmware works with, rad.

        Args:
            position: of the encoder, rad.
            velocity: rad/s.
            resolution: one encoder count, rad.
        """
        seen = position - self.sensor_delay * velocity
        return resolution * round(seen / resolution) if self.encoder_quantisation else seen

    @property
    def direction_scales(self) -> tuple[float, float]:
        """Factors of the friction budget for positive and for negative velocity."""
        return 1.0 + self.friction_direction, 1.0 - self.friction_direction

    def temperature_scale(self, warming: float) -> float:
        """Return the factor of load-independent friction.

        Args:
            warming: of the servo above 25 °C, K.
        """
        return math.exp(-self.friction_temperature * warming)


@dataclass(frozen=True, kw_only=True)
class BenchEffects:
    """What a fit found about the bench that a servo was recorded on; no part of the servo.

    They apply where recordings of that bench are simulated, never in other robots and on other benches.

    Attributes:
        zero_offset: encoder position of the arm that hangs straight down, rad.
        command_delay: from the stamp of a command to its effect, s, LEAST_DELAY to MOST_DELAY.
        arm_compliance: of horn and arm, between encoder and mass, rad/(N·m), zero or more.
        arm_backlash: free play between encoder and mass, from end to end, rad, zero or more.
        arm_mass: mass of the arm in addition to what the recordings state, kg, zero or more.
        supply_ripple: 0..1; the simulated supply is the mean reading plus this share of each reading's
            difference from the mean; see `firmware.PositionFirmware.supply_is_aliased`.
        load_gyration: radius of gyration of the load about its own centre, in addition to what the recordings
            state, m, zero or more.

    Raises:
        BamError: a value is not finite, or out of range.
    """

    zero_offset: float = 0.0
    command_delay: float = 0.0
    arm_compliance: float = 0.0
    arm_backlash: float = 0.0
    arm_mass: float = 0.0
    supply_ripple: float = 0.0
    load_gyration: float = 0.0

    def __post_init__(self) -> None:
        require_finite("bench_effects", zero_offset=self.zero_offset, command_delay=self.command_delay)
        if not LEAST_DELAY <= self.command_delay <= MOST_DELAY:
            raise OutOfRange(
                "bench_effects command_delay",
                self.command_delay,
                f"{LEAST_DELAY:g} to {MOST_DELAY:g}: a command acts after it is given; stamps may be late",
                printed=f"{self.command_delay:g} s",
            )
        require_not_negative(
            "bench_effects",
            arm_compliance=self.arm_compliance,
            arm_backlash=self.arm_backlash,
            arm_mass=self.arm_mass,
            load_gyration=self.load_gyration,
        )
        require_share("bench_effects", supply_ripple=self.supply_ripple)

    def corrected(self, bench: PendulumBench) -> PendulumBench:
        """Return a bench with what its arm really weighs, and with the load's own inertia."""
        if not (self.arm_mass or self.load_gyration):
            return bench
        return replace(
            bench,
            arm_mass=bench.arm_mass + self.arm_mass,
            gyration=math.hypot(bench.gyration, self.load_gyration),
        )


IDEAL_BENCH = BenchEffects()
"""A bench exactly as the headers of its recordings state: rigid, without play or delay."""


def resolve_effects(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of effects, each once, in the order of EFFECTS.

    Raises:
        BamError: a name is unknown.
    """
    wanted = set(names)
    for name in sorted(wanted):
        if name not in EFFECTS:
            raise UnknownName("effect", name, EFFECTS)
    return tuple(name for name in EFFECTS if name in wanted)
