# SPDX-License-Identifier: Apache-2.0
"""The YAML form of servos and bench effects: fields and their types; strict reading, readable writing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from bam_core.errors import (
    CORRECT_IT,
    BamError,
    Conflict,
    Malformed,
    Missing,
    UnknownName,
    WrongType,
)
from bam_core.files.quoted_number import correct_number
from bam_core.files.yaml_file import read_yaml
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware import FIRMWARE_FIELDS
from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.servo.plausible import require_plausible

_NUMBER = (int, float)
_FIRMWARE_TYPES: Mapping[str, Any] = {
    "period": (_NUMBER, False),
    "supply_is_aliased": (bool, False),
    "dead_band": (_NUMBER, False),
    "error_offset": (_NUMBER, False),
    "goal_speed_limit": (_NUMBER, False),
    "protection": dict.fromkeys(("threshold", "time", "limit"), (_NUMBER, True)),
}

# field -> (type, required); a nested table is a section
_Spec = Mapping[str, Any]
_PROVENANCE: _Spec = {
    "source": (str, False),
    "software": (str, False),
    "date": (str, False),
    "train_mae": (_NUMBER, False),
    "validation_mae": (_NUMBER, False),
    "train_data": (dict, False),
    "validation_data": (dict, False),
}
_BENCH_EFFECTS: _Spec = {field.name: (_NUMBER, False) for field in dataclasses.fields(BenchEffects)}
_BENCH_FIELDS: _Spec = {"bench_effects": _BENCH_EFFECTS, "uncertainty": (dict, False)}
_FIELDS: _Spec = {
    "name": (str, True),
    "title": (str, True),
    "manufacturer": (str, True),
    "protocol": (int, True),
    "firmware": ((str, dict), True),
    "nominal_voltage": (_NUMBER, True),
    "motor": {
        "torque_constant": (_NUMBER, True),
        "resistance": (_NUMBER, True),
        "armature": (_NUMBER, True),
        "torque_saturation": (_NUMBER, False),
        "winding_heating": (_NUMBER, False),
    },
    "friction_model": (str, True),
    "friction": (dict, True),
    "gear": {"input_side": (_NUMBER, True), "output_side": (_NUMBER, True)},
    "servo_effects": {field.name: (_NUMBER, False) for field in dataclasses.fields(ServoEffects)},
    "bench_effects": _BENCH_EFFECTS,
    "effects": (list, False),
    "integrator": (str, False),
    "uncertainty": (dict, False),
    "search": (dict, False),
    "provenance": _PROVENANCE,
}
_FIRMWARE: Mapping[str, _Spec] = {
    law: {"law": (str, True), "name": (str, False)}
    | {name: _FIRMWARE_TYPES.get(name, (_NUMBER, True)) for name in names}
    for law, names in FIRMWARE_FIELDS.items()
}
_OPTIONAL_SECTIONS = ("gear", "provenance", "servo_effects", "bench_effects", "protection")
_OLD_NAMES = {"quirks": "servo_effects", "rig": "bench_effects"}  # sections in early files

_COMMENTS = {
    "protocol": "Dynamixel protocol",
    "nominal_voltage": "V",
    "law": "voltage: sets a duty; current: sets a current",
    "duty_per_kp_rad": "1/rad, per unit of the servo's kp",
    "duty_limit": "1 is the whole supply",
    "current_limit": "A",
    "damping": "A·s/rad per root of kp",
    "counts_per_turn": "of the encoder, at the output shaft",
    "period": "s",
    "dead_band": "rad, of error without effect",
    "error_offset": "rad, added to a larger error",
    "goal_speed_limit": "rad/s, at which the set-point follows the goal",
    "factory_kp": "position gain that it comes with",
    "protection": "against overload; shares of the largest duty or current",
    "threshold": "from which on a demand is overload",
    "time": "s, for which it has to last without a break",
    "limit": "of demands from then on, until another goal or torque off",
    "motor": "at the output shaft, gearbox included",
    "friction_model": "m1 to m6",
    "gear": "γ_u and γ_v of Kikuuwe (14), in place of friction terms that depend on the load",
    "servo_effects": "besides motor and friction",
    "bench_effects": "where recordings of this bench are simulated, nowhere else",
    "effects": "what identification fits besides motor and friction",
    "integrator": "the one the parameters were fitted with",
    "uncertainty": "one standard deviation",
    "search": "[low, high] for identification",
    "train_mae": "rad",
    "validation_mae": "rad",
    "train_data": "recording: SHA-256",
    "validation_data": "recording: SHA-256",
    "quadratic_rule": "paper: everywhere; opposing: only where motor and load torque oppose",
}


def read_servo(path: Path) -> dict[str, Any]:
    """Read and check the fields of a servo's file; sections are dictionaries, numbers floats.

    Raises:
        BamError: not readable, not YAML, or a field is unknown, missing or of the wrong type.
    """
    data = _document(path)
    if _holds_bench_effects_alone(data):
        raise Malformed(
            path, "holds bench effects alone", expected="a servo's fields", advice="give a servo's YAML file"
        )
    try:
        return _servo_fields(data)
    except BamError as error:
        raise error.within(path) from None


def read_bench_effects(path: Path) -> dict[str, float] | None:
    """Read and check the bench effects in a file of them, or in a servo's file, which may have none: None.

    Raises:
        BamError: as `read_servo`.
    """
    data = _document(path)
    try:
        fields = (_bench_fields if _holds_bench_effects_alone(data) else _servo_fields)(data)
    except BamError as error:
        raise error.within(path) from None
    found: dict[str, float] | None = fields.get("bench_effects")
    return found


def _document(path: Path) -> dict[str, Any]:
    data = read_yaml(path, otherwise="give a servo's YAML file")
    if not isinstance(data, dict):
        raise Malformed(
            path,
            # A whole text is told by its kind: whoever can name a file may not be allowed to read it.
            "is text" if isinstance(data, str) else f"is {_kind(data)}",
            expected="fields such as name and motor",
            advice="give a servo's YAML file",
        )
    for old, new in _OLD_NAMES.items():
        if old in data and new in data:
            raise Conflict(
                old, f"is given beside {new}", expected=f"{new} alone", advice="merge them"
            ).within(path)
    return {_OLD_NAMES.get(str(key), str(key)): value for key, value in data.items()}


def _holds_bench_effects_alone(data: Mapping[str, Any]) -> bool:
    return "bench_effects" in data and data.keys() <= _BENCH_FIELDS.keys()


def _bench_fields(data: dict[str, Any]) -> dict[str, Any]:
    fields = _section("", {**data, "bench_effects": data["bench_effects"] or {}}, _BENCH_FIELDS)
    _numbers("uncertainty", fields.get("uncertainty", {}))
    return fields


def _servo_fields(data: dict[str, Any]) -> dict[str, Any]:
    fields = _section("", data, _FIELDS)
    rule = fields["friction"].pop("quadratic_rule", "paper")
    fields["friction"] = {**_numbers("friction", fields["friction"]), "quadratic_rule": rule}
    fields["uncertainty"] = _numbers("uncertainty", fields.get("uncertainty", {}))
    for name in fields.get("effects", ()):
        if not isinstance(name, str):
            raise WrongType("effects", name, "names", told=f"a list with {_kind(name)}")
    for section in ("train_data", "validation_data"):
        for key, value in fields.get("provenance", {}).get(section, {}).items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise WrongType(f"provenance.{section}", value, "recording: SHA-256", told=_kind(value))
    if isinstance(fields["firmware"], dict):
        fields["firmware"] = _firmware(fields["firmware"])
    fields["search"] = {key: _range(key, value) for key, value in fields.get("search", {}).items()}
    return fields


def _numbers(section: str, data: Mapping[str, Any]) -> dict[str, float]:
    return {
        key: _value(f"{section}.{key}", value, _NUMBER, "" if section == "uncertainty" else str(key))
        for key, value in data.items()
    }


def _firmware(data: dict[str, Any]) -> dict[str, Any]:
    law = data.get("law")
    if not isinstance(law, str) or law not in _FIRMWARE:
        raise WrongType("firmware.law", law, " or ".join(_FIRMWARE), told=_kind(law))
    return _section("firmware.", data, _FIRMWARE[law])


def dump(fields: Mapping[str, Any], units: Mapping[str, str]) -> str:
    """Text of the file, with units and explanations as comments; empty fields are left out."""
    lines: list[str] = []
    _dump_section(lines, fields, units, indent="")
    return "\n".join(lines) + "\n"


def _section(prefix: str, data: Any, specification: _Spec) -> dict[str, Any]:
    """Check one section against its specification."""
    if not isinstance(data, dict):
        raise WrongType(prefix.rstrip("."), data, "a section of fields", told=_kind(data))
    for key in data:
        if key not in specification:
            raise UnknownName("field", f"{prefix}{key}", _names(prefix, specification))
    fields: dict[str, Any] = {}
    for key, expected in specification.items():
        name = f"{prefix}{key}"
        if isinstance(expected, dict):
            if key in data or key not in _OPTIONAL_SECTIONS:
                fields[key] = _section(f"{name}.", data.get(key, {}), expected)
        elif data.get(key) is not None:
            fields[key] = _value(name, data[key], expected[0], key)
        elif expected[1]:
            raise Missing(name, _type_name(expected[0]))
    return fields


def _value(name: str, value: Any, expected: Any, field: str) -> Any:
    """Check a value; a number is plausible for its field, unless that has no range, such as ""."""
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        advice = correct_number(value) if expected is _NUMBER else CORRECT_IT
        raise WrongType(name, value, _type_name(expected), told=_kind(value), advice=advice)
    if expected is not _NUMBER:
        return value
    unit = PARAMETER_UNITS.get(field, "")
    require_plausible(name, field, float(value), "" if unit == "-" else unit)
    return float(value)


def _range(name: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise WrongType(f"search.{name}", value, "[low, high]", told=_kind(value))
    low, high = (_value(f"search.{name}", bound, _NUMBER, name) for bound in value)
    return low, high


def _names(prefix: str, specification: _Spec) -> list[str]:
    return [f"{prefix}{key}" for key in specification]


def _type_name(expected: Any) -> str:
    return {
        _NUMBER: "a number",
        str: "text",
        int: "a whole number",
        bool: "true or false",
        (str, dict): "a name, or a section of fields",
        dict: "a section of fields",
        list: "a list of names",
    }[expected]


def _kind(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a section"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _dump_section(lines: list[str], fields: Mapping[str, Any], units: Mapping[str, str], indent: str) -> None:
    for key, value in fields.items():
        if value is None or value in ("", {}, []):
            continue
        comment = units.get(key) or _COMMENTS.get(key, "")
        if comment:
            comment = f"  # {'dimensionless' if comment == '-' else comment}"
        if isinstance(value, Mapping):
            lines.append(f"{indent}{_scalar(key)}:{comment}")
            _dump_section(lines, value, units, indent + "  ")
        elif isinstance(value, list):
            lines.append(f"{indent}{_scalar(key)}: [{', '.join(map(_scalar, value))}]{comment}")
        else:
            lines.append(f"{indent}{_scalar(key)}: {_scalar(value)}{comment}")


def _scalar(value: Any) -> str:
    """One value as YAML reads it back exactly."""
    # Escapes keep line breaks and the like on one line, so that a comment can follow.
    style = None if str(value).isprintable() else '"'
    text = yaml.safe_dump(value, default_style=style, allow_unicode=True, width=float("inf"))
    return text.removesuffix("...\n").strip()
