# SPDX-License-Identifier: Apache-2.0
"""The YAML form of a servo: which fields it has, of which type; strict reading, readable writing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from bam_core.errors import BamError, UnknownName
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware import FIRMWARE_FIELDS

_NUMBER = (int, float)
_FIRMWARE_TYPES = {"period": (_NUMBER, False), "supply_is_aliased": (bool, False)}

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
    "bench_effects": {field.name: (_NUMBER, False) for field in dataclasses.fields(BenchEffects)},
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
_OPTIONAL_SECTIONS = ("gear", "provenance", "servo_effects", "bench_effects")
_OLD_NAMES = {"quirks": "servo_effects", "rig": "bench_effects"}  # sections in files of version 0.1

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
    "factory_kp": "position gain that it comes with",
    "motor": "at the output shaft, gearbox included",
    "friction_model": "m1 to m6",
    "gear": "γ_u and γ_v of Kikuuwe (14), in place of friction terms that depend on the load",
    "servo_effects": "besides motor and friction",
    "bench_effects": "of the bench of the recordings, no part of the servo",
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


def read(path: Path) -> dict[str, Any]:
    """Read and check the file's fields; sections are dictionaries, numbers floats.

    Raises:
        BamError: not readable, not YAML, or a field is unknown, missing or of the wrong type.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BamError(f"{path}: cannot be read ({error.strerror}); check path and permissions") from None
    except UnicodeDecodeError:
        raise BamError(f"{path}: is not text; give a servo's YAML file") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "malformed"
        raise BamError(f"{path}: is not YAML{where} ({problem}); correct it") from None
    if not isinstance(data, dict):
        raise BamError(
            f"{path}: is {_kind(data)} (expected fields such as name and motor); give a servo's YAML file"
        )
    for old, new in _OLD_NAMES.items():
        if old in data and new in data:
            raise BamError(f"{path}: {old} and {new} are both given (expected {new} alone); merge them")
    data = {_OLD_NAMES.get(key, key): value for key, value in data.items()}
    fields = _section(path, "", data, _FIELDS)
    for section in ("friction", "uncertainty"):
        fields[section] = {
            key: value
            if (section, key) == ("friction", "quadratic_rule")
            else _value(path, f"{section}.{key}", value, _NUMBER)
            for key, value in fields.get(section, {}).items()
        }
    for name in fields.get("effects", ()):
        if not isinstance(name, str):
            raise BamError(f"{path}: effects holds {_kind(name)} (expected names); correct it")
    if isinstance(fields["firmware"], dict):
        fields["firmware"] = _firmware(path, fields["firmware"])
    fields["search"] = {key: _range(path, key, value) for key, value in fields.get("search", {}).items()}
    return fields


def _firmware(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    law = data.get("law")
    if not isinstance(law, str) or law not in _FIRMWARE:
        raise BamError(
            f"{path}: firmware.law is {_kind(law)} (expected {' or '.join(_FIRMWARE)}); correct it"
        )
    return _section(path, "firmware.", data, _FIRMWARE[law])


def dump(fields: Mapping[str, Any], units: Mapping[str, str]) -> str:
    """Text of the file, with units and explanations as comments; empty fields are left out."""
    lines: list[str] = []
    _dump_section(lines, fields, units, indent="")
    return "\n".join(lines) + "\n"


def _section(path: Path, prefix: str, data: Any, specification: _Spec) -> dict[str, Any]:
    """Check one section against its specification."""
    if not isinstance(data, dict):
        raise BamError(
            f"{path}: {prefix.rstrip('.')} is {_kind(data)} (expected a section of fields); correct it"
        )
    for key in data:
        if key not in specification:
            raise BamError(f"{path}: {UnknownName('field', f'{prefix}{key}', _names(prefix, specification))}")
    fields: dict[str, Any] = {}
    for key, expected in specification.items():
        name = f"{prefix}{key}"
        if isinstance(expected, dict):
            if key in data or key not in _OPTIONAL_SECTIONS:
                fields[key] = _section(path, f"{name}.", data.get(key, {}), expected)
        elif data.get(key) is not None:
            fields[key] = _value(path, name, data[key], expected[0])
        elif expected[1]:
            raise BamError(f"{path}: {name} is missing (expected {_type_name(expected[0])}); add it")
    return fields


def _value(path: Path, name: str, value: Any, expected: Any) -> Any:
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        hint = _hint(value)
        raise BamError(
            f"{path}: {name} is {_kind(value)} (expected {_type_name(expected)}); correct it{hint}"
        )
    return float(value) if expected is _NUMBER else value


def _range(path: Path, name: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise BamError(f"{path}: search.{name} is {_kind(value)} (expected [low, high]); correct it")
    low, high = (_value(path, f"search.{name}", bound, _NUMBER) for bound in value)
    return low, high


def _hint(value: Any) -> str:
    """YAML 1.1 reads 1e-5 as text."""
    try:
        float(value)
    except (TypeError, ValueError):
        return ""
    return ", numbers in scientific notation need a point such as 1.0e-5" if isinstance(value, str) else ""


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
