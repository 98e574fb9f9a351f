# SPDX-License-Identifier: Apache-2.0
"""The parameter files of BAM's own program: one JSON object of numbers, `model` and `actuator`.

Its program integrates with "semi_implicit" and applies the quadratic term by the "opposing" rule, so numbers
that it found belong to these. Its `q_offset` is added to the encoder's angle where our `zero_offset` is taken
off: one is the other's negative. What else a file holds of the control law: see `bam_actuators`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bam_core.errors import Conflict, Malformed, Missing, OutOfRange, UnknownName, Unsupported, WrongType
from bam_core.exchange.bam_actuators import (
    ACTUATORS,
    CURRENT,
    DELAY,
    LAW_KEYS,
    RATIO,
    UNSUPPORTED,
    BamActuator,
    bam_name,
    law_effects,
)
from bam_core.files.json_file import read_json
from bam_core.files.quoted_number import correct_number
from bam_core.servo.effects import MOST_DELAY, BenchEffects, ServoEffects
from bam_core.servo.firmware_laws import VoltageFirmware
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import Provenance, ServoLike, ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.servo.plausible import require_plausible

INTEGRATOR, QUADRATIC_RULE = "semi_implicit", "opposing"
"""Those of BAM's program."""

KEYS: Mapping[str, str] = MappingProxyType(
    {
        "torque_constant": "kt",
        "resistance": "R",
        "armature": "armature",
        "zero_offset": "q_offset",
        "coulomb": "friction_base",
        "stribeck_coulomb": "friction_stribeck",
        "load": "load_friction_base",
        "load_stribeck": "load_friction_stribeck",
        "load_motor": "load_friction_motor",
        "load_external": "load_friction_external",
        "load_motor_stribeck": "load_friction_motor_stribeck",
        "load_external_stribeck": "load_friction_external_stribeck",
        "quadratic_motor": "load_friction_motor_quad",
        "quadratic_external": "load_friction_external_quad",
        "stribeck_velocity": "dtheta_stribeck",
        "stribeck_exponent": "alpha",
        "viscous": "friction_viscous",
    }
)
"""Our name of a parameter -> BAM's, in the order in which its program writes them."""

MOTOR = ("torque_constant", "resistance", "armature")
"""Our names of the motor's parameters."""

_ABOVE_ZERO = ("torque_constant", "resistance", "stribeck_velocity", "stribeck_exponent")
_LARGEST_OFFSET = math.pi
_LARGEST = 1e9  # of any number; JSON knows infinity, and whole numbers beyond floating point
_LEAST_OF_LAW = 1e-3  # of ratio, speed (rad/s) and current (A): less is no drive
_OTHER_WINDING = 1.3  # ratio of supplies; below, one servo is run at either: 12 and 15 V, 7.4 and 6 V


def is_bam_parameters(data: object) -> bool:
    """Return whether parsed JSON is meant to be BAM's parameters, be they complete or not."""
    return (
        isinstance(data, Mapping) and "entries" not in data and bool({"model", "actuator", "kt"} & set(data))
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class BamParameters:
    """What a parameter file holds.

    Attributes:
        servo: with its parameters.
        bench_effects: its `q_offset`, which belongs to the bench of the recordings.
        remarks: one line about everything that was filled in.
    """

    servo: ServoModel
    bench_effects: BenchEffects
    remarks: tuple[str, ...]


def read_bam_parameters(path: str | os.PathLike[str], servo: ServoLike | None = None) -> BamParameters:
    """Read a parameter file.

    Args:
        path: JSON with `model`, `actuator` and exactly the numbers of that model; `q_offset` and the keys of
            `bam_actuators.LAW_KEYS` may be missing, and `R` too where the firmware asks for a current, as in
            the published files of the eRob80:100.
        servo: gives name, firmware and search bounds; default the library's for `actuator`.

    Raises:
        BamError: not such a file; a key is unknown, missing, of another model, or out of range; or the
            actuator's law cannot be simulated here.
    """
    path = Path(path)
    servo = None if servo is None else load_servo(servo)
    data = read_json(path, expected="a parameter file of BAM", advice="copy the file again")
    if not is_bam_parameters(data):
        raise Malformed(
            path, "is no parameter file of BAM", expected="kt, model, actuator, …", advice="give one"
        )
    data, passed_over = _without_notes(path, data)
    law = FRICTION_MODELS.get(_text(path, data, "model").lower())
    if law is None:
        raise UnknownName("model", data["model"], FRICTION_MODELS).within(path)
    actuator = _text(path, data, "actuator")
    known, servo = _base(path, actuator, servo)
    values, remarks = _numbers(path, data, law.parameters, servo)
    given, more = _law_numbers(path, data, known, servo)
    remarks += [*more, *passed_over]
    firmware, effects, delay = law_effects(given, servo.firmware, known.gain)
    source = (
        f"{path.name} (sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}), BAM parameters "
        f"{law.name} of {actuator}, taken to be fitted by its program: integrator {INTEGRATOR}, quadratic "
        f"rule {QUADRATIC_RULE}"
    )
    imported = dataclasses.replace(
        servo,
        firmware=firmware,
        servo_effects=ServoEffects(**effects),
        motor=DcMotor(**{name: values[name] for name in MOTOR}),
        friction_model=law.name,
        friction=law.friction({name: values[name] for name in law.parameters}, quadratic_rule=QUADRATIC_RULE),
        integrator=INTEGRATOR,
        uncertainty={},
        provenance=Provenance(source=source, software="github.com/Rhoban/bam"),
    )
    return BamParameters(
        servo=imported,
        bench_effects=BenchEffects(zero_offset=-values["zero_offset"] or 0.0, command_delay=delay),
        remarks=tuple(remarks),
    )


def _base(path: Path, actuator: str, servo: ServoModel | None) -> tuple[BamActuator, ServoModel]:
    """Return what is known of an actuator, and the servo that gets the numbers.

    Raises:
        BamError: its law cannot be simulated here, it is unknown and no servo was given, or the servo is the
            version for another supply, with another winding.
    """
    actuator = bam_name(actuator)
    if actuator in UNSUPPORTED:
        raise Unsupported(
            f"{path}, actuator {actuator!r}",
            UNSUPPORTED[actuator],
            expected=f"one of {', '.join(ACTUATORS)}",
            advice="leave it out",
        )
    known = ACTUATORS.get(actuator)
    if known is None and servo is None:
        raise UnknownName(
            "actuator", actuator, ACTUATORS, advice="or name a servo file with its firmware (--servo)"
        ).within(path)
    if known is None:
        assert servo is not None
        return BamActuator(servo=servo.name), servo
    own = load_servo(known.servo)
    if servo is None:
        return known, own
    low, high = sorted((own.nominal_voltage, servo.nominal_voltage))
    if high / low > _OTHER_WINDING:
        raise Conflict(
            f"{path}, actuator {actuator!r}",
            f"is the version for {own.nominal_voltage:g} V, but servo {servo.name} has "
            f"{servo.nominal_voltage:g} V and another motor",
            expected=f"{own.title}",
            advice="leave --servo out",
        )
    return known, servo


def _without_notes(path: Path, data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a file without what is null and may be missing, and without texts, which are part of no law."""
    kept, remarks = {}, []
    for key, value in data.items():
        if isinstance(value, str) and key not in (*KEYS.values(), *LAW_KEYS, "model", "actuator"):
            remarks.append(f"{key}: is a text in {path.name}, and passed over")
        elif value is not None or key not in (KEYS["zero_offset"], *LAW_KEYS):
            kept[key] = value
    return kept, remarks


def _text(path: Path, data: Mapping[str, Any], key: str) -> str:
    expected = {"model": "m1 to m6", "actuator": "a servo such as mx106"}[key]
    if key not in data:
        raise Missing(key, expected).within(path)
    value = data[key]
    if not isinstance(value, str):
        raise WrongType(key, value, expected, printed=json.dumps(value)[:40]).within(path)
    return value


def _numbers(
    path: Path, data: Mapping[str, Any], free: tuple[str, ...], servo: ServoModel
) -> tuple[dict[str, float], list[str]]:
    """Return the parameters under our names, and remarks on what was not in the file."""
    names = (*MOTOR, "zero_offset", *free)
    expected = {KEYS[name]: name for name in names}
    for key in data:
        if key not in expected and key not in LAW_KEYS and key not in ("model", "actuator"):
            if key in KEYS.values():
                advice = "it belongs to another model; correct the model"
            else:
                advice = "its law may be one that is not simulated here: look it up in the BAM that wrote it"
            raise UnknownName(f"key of {data['model']}", key, (*expected, *LAW_KEYS), advice=advice).within(
                path
            )
    values, remarks = {"zero_offset": 0.0}, []
    for key, name in expected.items():
        if key in data:
            values[name] = _number(path, key, data[key], name)
        elif name == "resistance" and servo.firmware.regulates_current:
            values[name] = servo.motor.resistance
            remarks.append(f"R: is not in {path.name}, {values[name]:g} Ω of {servo.name} taken instead")
        elif name != "zero_offset":
            raise Missing(key, f"a number, {PARAMETER_UNITS[name]}").within(path)
    return values, remarks


def _law_numbers(
    path: Path, data: Mapping[str, Any], known: BamActuator, servo: ServoModel
) -> tuple[dict[str, float], list[str]]:
    """Return what a file holds of the control law, and remarks on what was filled in.

    Raises:
        BamError: a value is out of range, or the servo's law has no such quantity.
    """
    asks_for_current = servo.firmware.regulates_current
    given: dict[str, float] = {}
    for key in LAW_KEYS:
        if key not in data:
            continue
        given[key] = _number(path, key, data[key], key)
        if key == (RATIO if asks_for_current else CURRENT):
            meaning = "a duty" if asks_for_current else "the motor's current"
            raise Unsupported(
                key,
                f"is {'the gain of' if asks_for_current else 'a limit of'} {meaning}, but {servo.name} asks "
                f"for {'a current' if asks_for_current else 'a voltage'}",
                expected="a servo with the law of the file",
                advice="name a servo file with its firmware (--servo)",
            ).within(path)
    missing = {key: value for key, value in known.defaults.items() if key not in given}
    remarks = [
        f"{key}: is not in {path.name}, {_amount(value, LAW_KEYS[key])} of BAM's program taken instead"
        for key, value in missing.items()
    ]
    if RATIO in given and known.gain is None and isinstance(servo.firmware, VoltageFirmware):
        remarks.append(
            f"{RATIO}: is taken as a factor of the gain of {servo.name}, "
            f"{servo.firmware.duty_per_kp_rad:g} per kp and rad"
        )
    return {**missing, **given}, remarks


def _amount(value: float, unit: str) -> str:
    return f"{value:g}" if unit == "-" else f"{value:g} {unit}"


def _number(path: Path, key: str, value: Any, name: str) -> float:
    if name == DELAY:
        accepts, expected = (0.0, MOST_DELAY), f"0 to {MOST_DELAY:g}"
    elif name in LAW_KEYS:
        accepts, expected = (_LEAST_OF_LAW, math.inf), "> 0"
    elif name == "zero_offset":
        accepts, expected = (-_LARGEST_OFFSET, _LARGEST_OFFSET), "within ±π"
    elif name in _ABOVE_ZERO:
        accepts, expected = (math.ulp(0.0), math.inf), "> 0"
    else:
        accepts, expected = (0.0, math.inf), ">= 0"
    unit = LAW_KEYS[name] if name in LAW_KEYS else PARAMETER_UNITS[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not accepts[0] <= value <= accepts[1] or abs(value) > _LARGEST:
        kind = OutOfRange if is_number else WrongType
        raise kind(
            key,
            value,
            f"a finite number {expected}, {unit}",
            printed=json.dumps(value)[:40],
            advice=correct_number(value, yaml=False),
        ).within(path)
    try:
        require_plausible(key, name, float(value), unit)
    except OutOfRange as error:
        raise error.within(path) from None
    return float(value)
