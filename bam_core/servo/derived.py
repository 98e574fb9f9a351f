# SPDX-License-Identifier: Apache-2.0
"""A servo computed from a known one: the same motor and control law behind another gear ratio or supply.

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

No recording tests a servo of this kind, so its intervals of 95 % are those of its origin, scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from bam_core._version import __version__
from bam_core.errors import Missing
from bam_core.errors.checks import require_positive
from bam_core.servo.effects import ServoEffects
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
    base: ServoModel, *, name: str, gear_ratio: float | None = None, voltage: float | None = None
) -> ServoModel:
    """Return the same motor behind another gear ratio, or at another supply.

    Args:
        base: with a gear ratio, where another one is given.
        name: of the new servo.
        gear_ratio: turns of the motor per turn of the output shaft; None: that of the base.
        voltage: nominal supply, V; None: that of the base.

    Raises:
        BamError: a value is not above zero, or the base's own ratio is not known.
    """
    ratio = base.gear_ratio if gear_ratio is None else gear_ratio
    supply = base.nominal_voltage if voltage is None else voltage
    require_positive(f"servo '{name}',", voltage=supply, **({} if ratio is None else {"gear_ratio": ratio}))
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
    coefficients = _scaled(model.values(base.friction), n)
    motor = {name: getattr(base.motor, name) for name in ("torque_constant", "armature")}
    return replace(
        base,
        name=name,
        title=f"{base.title}, {_changes(base, gear_ratio, voltage)} (derived)",
        gear_ratio=ratio,
        nominal_voltage=supply,
        firmware=replace(base.firmware, goal_speed_limit=base.firmware.goal_speed_limit / n),
        motor=replace(base.motor, **_scaled(motor, n)),
        friction=model.friction(coefficients, quadratic_rule=base.friction.quadratic_rule),
        servo_effects=ServoEffects(**_scaled(vars(base.servo_effects), n)),
        uncertainty=_scaled(base.uncertainty, n),
        search=SearchRanges(
            effects=base.search.effects,
            ranges={
                name: (low * n ** _power(name), high * n ** _power(name))
                for name, (low, high) in base.search.ranges.items()
            },
        ),
        provenance=Provenance(
            source=f"derived from {base.name} by {_changes(base, gear_ratio, voltage)}, with friction on the "
            f"motor's side of the gears; no recording tests it. {base.name}: {base.provenance.source}",
            derived_from=base.name,
            software=f"bam_bench {__version__}",
        ),
    )


def _changes(base: ServoModel, gear_ratio: float | None, voltage: float | None) -> str:
    changes = [] if gear_ratio is None else [f"1:{gear_ratio:g}"]
    if voltage is not None and (voltage != base.nominal_voltage or not changes):
        changes.append(f"{voltage:g} V")
    return " at ".join(changes) or "a copy"


def _scaled(values: Mapping[str, float], n: float) -> dict[str, float]:
    return {name: value * n ** _power(name) for name, value in values.items()}


def _power(name: str) -> int:
    return _POWERS.get(name, 0)
