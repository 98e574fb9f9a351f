# SPDX-License-Identifier: Apache-2.0
"""The parameter files of BAM's own program: one JSON object of numbers, `model` and `actuator`.

Its program integrates with "semi_implicit" and applies the quadratic term by the "opposing" rule, so numbers
that it found belong to these. Its `q_offset` is added to the encoder's angle where our `zero_offset` is taken
off: one is the other's negative.
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

from bam_core.errors import Malformed, Missing, OutOfRange, UnknownName, WrongType
from bam_core.files.json_file import read_json
from bam_core.files.quoted_number import correct_number
from bam_core.servo.bench_effects_file import BenchEffectsLike, load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import Provenance, ServoLike, ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.servo.plausible import require_plausible

ACTUATORS = ("erob80_100", "erob80_50", "mx106", "mx64", "xl320", "xl330")
"""What BAM's program and our library both know, by the same name."""

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

_MOTOR = ("torque_constant", "resistance", "armature")
_ABOVE_ZERO = ("torque_constant", "resistance", "stribeck_velocity", "stribeck_exponent")
_LARGEST_OFFSET = math.pi
_LARGEST = 1e9  # of any number; JSON knows infinity, and whole numbers beyond floating point


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
        path: JSON with `model`, `actuator` and exactly the numbers of that model; `q_offset` may be missing,
            and `R` too where the firmware asks for a current, as in the published files of the eRob80:100.
        servo: gives name, firmware and search bounds; default the library's of the name `actuator`.

    Raises:
        BamError: not such a file; a key is unknown, missing, of another model, or out of range.
    """
    path = Path(path)
    servo = None if servo is None else load_servo(servo)
    data = read_json(path, expected="a parameter file of BAM", advice="copy the file again")
    if not is_bam_parameters(data):
        raise Malformed(
            path, "is no parameter file of BAM", expected="kt, model, actuator, …", advice="give one"
        )
    law = FRICTION_MODELS.get(_text(path, data, "model"))
    if law is None:
        raise UnknownName("model", data["model"], FRICTION_MODELS).within(path)
    actuator = _text(path, data, "actuator")
    if servo is None:
        if actuator not in ACTUATORS:
            raise UnknownName(
                "actuator", actuator, ACTUATORS, advice="or name a servo file with its firmware (--servo)"
            ).within(path)
        servo = load_servo(actuator)
    values, remarks = _numbers(path, data, law.parameters, servo)
    source = (
        f"{path.name} (sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}), BAM parameters "
        f"{law.name} of {actuator}, taken to be fitted by its program: integrator {INTEGRATOR}, quadratic "
        f"rule {QUADRATIC_RULE}"
    )
    imported = dataclasses.replace(
        servo,
        motor=DcMotor(**{name: values[name] for name in _MOTOR}),
        friction_model=law.name,
        friction=law.friction({name: values[name] for name in law.parameters}, quadratic_rule=QUADRATIC_RULE),
        integrator=INTEGRATOR,
        uncertainty={},
        provenance=Provenance(source=source, software="github.com/Rhoban/bam"),
    )
    return BamParameters(
        servo=imported,
        bench_effects=BenchEffects(zero_offset=-values["zero_offset"] or 0.0),
        remarks=tuple(remarks),
    )


def bam_parameters(
    servo: ServoLike, actuator: str | None = None, bench_effects: BenchEffectsLike = IDEAL_BENCH
) -> tuple[dict[str, Any], list[str]]:
    """Return a servo as BAM's program reads it, and one line about everything that it cannot hold.

    Args:
        servo: any without a gear.
        actuator: BAM's name of it; default the servo's own.
        bench_effects: of the bench on which it was recorded: BAM's parameters hold its zero offset.

    Raises:
        BamError: BAM's program has no such actuator, or the servo has a gear.
    """
    servo = load_servo(servo)
    servo.require_no_gear("BAM's program")
    actuator = servo.name if actuator is None else actuator
    if actuator not in ACTUATORS:
        raise UnknownName("actuator of BAM", actuator, ACTUATORS)
    bench_effects = load_bench_effects(bench_effects)
    values = {**servo.parameters, "zero_offset": -bench_effects.zero_offset}
    law = FRICTION_MODELS[servo.friction_model]
    written = (*_MOTOR, *(("zero_offset",) if values["zero_offset"] else ()), *law.parameters)
    data: dict[str, Any] = {key: values[name] for name, key in KEYS.items() if name in written}
    return {**data, "model": law.name, "actuator": actuator}, _losses(servo, bench_effects, actuator)


def bam_parameters_text(data: Mapping[str, Any]) -> str:
    """Return the text of a parameter file; every number reads back exactly."""
    return json.dumps(data, indent=4) + "\n"


def _losses(servo: ServoModel, bench_effects: BenchEffects, actuator: str) -> list[str]:
    losses = [
        f"{name}: {value:g} {PARAMETER_UNITS[name]} is left out, BAM's program has no such effect"
        for name, value in {**servo.effect_values, **vars(bench_effects)}.items()
        if value and name != "zero_offset"
    ]
    if servo.integrator != INTEGRATOR:
        losses.append(
            f"integrator: the parameters were fitted with {servo.integrator}, BAM's program adds the "
            f"numerical damping of its own ({INTEGRATOR})"
        )
    friction = servo.friction
    if friction.quadratic_rule != QUADRATIC_RULE and (
        friction.quadratic_motor or friction.quadratic_external
    ):
        losses.append(
            f"quadratic_rule: is {friction.quadratic_rule}, BAM's program applies the quadratic term only "
            f"where motor and load torque oppose"
        )
    if servo.firmware != load_servo(actuator).firmware:
        losses.append(
            f"firmware: is {servo.firmware.name}, BAM's program simulates {actuator} with "
            f"{load_servo(actuator).firmware.name}, whose control law is another"
        )
    return losses


def _text(path: Path, data: Mapping[str, Any], key: str) -> str:
    expected = {"model": "m1 to m6", "actuator": "a servo such as mx106"}[key]
    if key not in data:
        raise Missing(key, expected).within(path)
    value = data[key]
    if not isinstance(value, str):
        raise WrongType(key, value, expected, told=json.dumps(value)[:40]).within(path)
    return value


def _numbers(
    path: Path, data: Mapping[str, Any], free: tuple[str, ...], servo: ServoModel
) -> tuple[dict[str, float], list[str]]:
    """Return the parameters under our names, and remarks on what was not in the file."""
    names = (*_MOTOR, "zero_offset", *free)
    expected = {KEYS[name]: name for name in names}
    for key in data:
        if key not in expected and key not in ("model", "actuator"):
            also = "it belongs to another model; " if key in KEYS.values() else ""
            raise UnknownName(
                f"key of {data['model']}", key, expected, advice=f"{also}remove it or correct the model"
            ).within(path)
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


def _number(path: Path, key: str, value: Any, name: str) -> float:
    if name == "zero_offset":
        accepts, expected = (-_LARGEST_OFFSET, _LARGEST_OFFSET), "within ±π"
    elif name in _ABOVE_ZERO:
        accepts, expected = (math.ulp(0.0), math.inf), "> 0"
    else:
        accepts, expected = (0.0, math.inf), ">= 0"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not accepts[0] <= value <= accepts[1] or abs(value) > _LARGEST:
        kind = OutOfRange if is_number else WrongType
        raise kind(
            key,
            value,
            f"a finite number {expected}, {PARAMETER_UNITS[name]}",
            told=json.dumps(value)[:40],
            advice=correct_number(value, yaml=False),
        ).within(path)
    try:
        require_plausible(key, name, float(value), PARAMETER_UNITS[name])
    except OutOfRange as error:
        raise error.within(path) from None
    return float(value)
