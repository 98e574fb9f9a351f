# SPDX-License-Identifier: Apache-2.0
"""A servo computed from a known one: the same motor and control law behind another gear ratio or supply, or
several of them on one joint.

With n = new ratio / old ratio, a torque at the output shaft is n times as large for the same torque of the
motor, and a speed 1/n of what it was. So, at the output shaft:

- torque constant n·k_t, and armature n²·J_m: rotor and first gears turn n times as fast. Winding resistance
  and torque saturation per current are the motor's own.
- Friction is taken to act on the motor's side of the gears, τ_f = n·f(τ/n, n·θ̇). So Coulomb and Stribeck
  friction grow with n and viscous friction with n². The Stribeck velocity and the quadratic terms fall with
  n. Shares of the load stay: gears of as many stages lose as much.
- The speed at which the set-point follows the goal falls with n, as the speed without load does: on an
  STS3215 they are alike (4.8 and 4.7 rad/s). Gains count errors at the output shaft and stay.

Another supply leaves motor and gears as they are. Versions of a servo for another supply have another
winding, which nothing here can compute: the library has such a version under a name of its own.

Of m servos on one joint, turned round or not, each carries its share of the load and gets the same goal.
Together they are one servo with the torque constant of one, 1/m of its resistance, and m times its armature
and friction. Torque saturation, heating and quadratic terms, which are per current or torque, fall with m. A
gain that asks for a current asks for m times as much.

No recording tests a servo of this kind, so its intervals of 95 % are those of its origin, scaled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from bam_core._version import __version__
from bam_core.errors import Missing, OutOfRange
from bam_core.errors.checks import require_positive
from bam_core.servo.effects import ServoEffects
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.firmware_laws import CurrentFirmware
from bam_core.servo.friction import friction_model
from bam_core.servo.model import Provenance, ServoModel, load_servo, servo_names
from bam_core.servo.search_ranges import SearchRanges

_POWERS: Mapping[str, int] = MappingProxyType(
    {
        "torque_constant": 1,
        "armature": 2,
        "viscous": 2,
        "coulomb": 1,
        "stribeck_coulomb": 1,
        "stribeck_velocity": -1,
        "quadratic_motor": -1,
        "quadratic_external": -1,
        "goal_slew_time": 1,
    }
)
"""Parameter -> power of n with which it grows; all others stay."""

_BY_MOTORS: Mapping[str, int] = MappingProxyType(
    {
        "resistance": -1,
        "armature": 1,
        "torque_saturation": -1,
        "winding_heating": -1,
        "viscous": 1,
        "coulomb": 1,
        "stribeck_coulomb": 1,
        "quadratic_motor": -1,
        "quadratic_external": -1,
    }
)
"""Parameter -> power of the number of motors with which it grows."""

MOST_MOTORS = 4
"""On one joint."""

_SAME_SUPPLY = 0.02  # relative; within it a version is the one for a supply


def version_for(name: str, voltage: float) -> str:
    """Return the library's version of a servo for a supply; the servo itself where there is none.

    Versions have its name and an underscore in front of theirs, such as sts3215_7v4, its protocol and its
    gear ratio.
    """
    base = load_servo(name)

    def suits(servo: ServoModel) -> bool:
        return abs(servo.nominal_voltage / voltage - 1.0) < _SAME_SUPPLY

    if suits(base) or name not in servo_names():
        return name
    for version in servo_names():
        servo = load_servo(version)
        is_alike = (servo.protocol, servo.gear_ratio) == (base.protocol, base.gear_ratio)
        if version.startswith(f"{name}_") and is_alike and suits(servo):
            return version
    return name


def derived_servo(
    base: ServoModel,
    *,
    name: str,
    gear_ratio: float | None = None,
    voltage: float | None = None,
    motors: int = 1,
) -> ServoModel:
    """Return the same motor behind another gear ratio, at another supply, or several of them on one joint.

    Args:
        base: with a gear ratio, where another one is given.
        name: of the new servo.
        gear_ratio: turns of the motor per turn of the output shaft; None: that of the base.
        voltage: nominal supply, V; None: that of the base.
        motors: how many servos drive the joint.

    Raises:
        BamError: a value is out of range, or the base's own ratio is not known.
    """
    ratio = base.gear_ratio if gear_ratio is None else gear_ratio
    supply = base.nominal_voltage if voltage is None else voltage
    require_positive(f"servo '{name}',", voltage=supply, **({} if ratio is None else {"gear_ratio": ratio}))
    if not 1 <= motors <= MOST_MOTORS:
        raise OutOfRange(f"servo '{name}', motors", motors, f"1 to {MOST_MOTORS}")
    n = 1.0
    if gear_ratio is not None:
        if base.gear_ratio is None:
            raise Missing(
                f"gear_ratio of servo '{base.name}'",
                "turns of the motor per turn of the output shaft",
                advice="add it to its file, or give both ratios, as in --gear-ratio 191/345",
            )
        n = gear_ratio / base.gear_ratio
    model = friction_model(base.friction_model)
    scale = _Scale(ratio=n, motors=motors)
    coefficients = scale.of(model.values(base.friction))
    what = _changes(base, gear_ratio, voltage, motors)
    by_friction = "" if gear_ratio is None else ", with friction on the motor's side of the gears"
    return replace(
        base,
        name=name,
        title=f"{base.title}, {what} (derived)",
        gear_ratio=ratio,
        nominal_voltage=supply,
        firmware=_firmware(base.firmware, scale),
        motor=replace(base.motor, **scale.of(vars(base.motor))),
        friction=model.friction(coefficients, quadratic_rule=base.friction.quadratic_rule),
        servo_effects=ServoEffects(**scale.of(vars(base.servo_effects))),
        uncertainty=scale.of(base.uncertainty),
        search=SearchRanges(
            effects=base.search.effects,
            ranges={
                name: (low * scale.factor(name), high * scale.factor(name))
                for name, (low, high) in base.search.ranges.items()
            },
        ),
        provenance=Provenance(
            source=f"derived from {base.name} by {what}{by_friction}; no recording tests it. "
            f"{base.name}: {base.provenance.source}",
            derived_from=base.name,
            software=f"bam_bench {__version__}",
        ),
    )


def _changes(base: ServoModel, gear_ratio: float | None, voltage: float | None, motors: int) -> str:
    changes = [] if motors == 1 else [f"{motors} on one joint"]
    changes += [] if gear_ratio is None else [f"1:{gear_ratio:g}"]
    if voltage is not None and (voltage != base.nominal_voltage or not changes):
        changes.append(f"{voltage:g} V")
    return " at ".join(changes) or "a copy"


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """By what parameters grow.

    Attributes:
        ratio: new gear ratio / old one.
        motors: on one joint.
    """

    ratio: float
    motors: int

    def factor(self, name: str) -> float:
        return float(self.ratio ** _POWERS.get(name, 0) * self.motors ** _BY_MOTORS.get(name, 0))

    def of(self, values: Mapping[str, float]) -> dict[str, float]:
        return {name: value * self.factor(name) for name, value in values.items()}


def _firmware(base: PositionFirmware, scale: _Scale) -> PositionFirmware:
    law = replace(
        base,
        goal_speed_limit=base.goal_speed_limit / scale.ratio,
        goal_acceleration_limit=base.goal_acceleration_limit / scale.ratio,
    )
    if isinstance(law, CurrentFirmware):
        law = replace(
            law,
            current_limit=scale.motors * law.current_limit,
            amps_per_kp_rad=scale.motors * law.amps_per_kp_rad,
            damping=math.sqrt(scale.motors) * law.damping,
        )
    return law
