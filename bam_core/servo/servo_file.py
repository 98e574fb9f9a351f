# SPDX-License-Identifier: Apache-2.0
"""The YAML files of servos and of bench effects as they are read: fields, types and plausible ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NewType

from bam_core.errors import BamError, Malformed
from bam_core.files.field_errors import UnsuitableError
from bam_core.files.typed import TypedReader, require_section
from bam_core.files.yaml_file import read_yaml
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.firmware_library import LAWS, find_firmware
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.servo.plausible import require_plausible
from bam_core.servo.provenance import Provenance

Range = NewType("Range", tuple[float, float])

_WORDS: Mapping[Any, str] = {
    tuple[str, ...]: "a list of names",
    Range: "[low, high]",
    PositionFirmware: "a name, or a section of fields",
}
_GIVE_SERVO = "give a servo's YAML file"


@dataclass(frozen=True, kw_only=True)
class FrictionFields:
    """Coefficients of a friction law by name, and the rule of its quadratic term, which stands among them."""

    coefficients: Mapping[str, float]
    quadratic_rule: Any


@dataclass(frozen=True, kw_only=True)
class GearFields:
    """γ_u and γ_v of Kikuuwe (14)."""

    input_side: float
    output_side: float


@dataclass(frozen=True, kw_only=True)
class BenchFile:
    """A file of bench effects; see `bench_effects_file`."""

    bench_effects: BenchEffects
    uncertainty: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ServoFile:
    """A servo's file; its fields are those of `model.ServoModel`, in the order in which they are written."""

    name: str
    title: str
    manufacturer: str
    protocol: int
    firmware: PositionFirmware
    nominal_voltage: float
    motor: DcMotor
    friction_model: str
    friction: FrictionFields
    gear: GearFields | None = None
    gear_ratio: float | None = None
    servo_effects: ServoEffects = field(default_factory=ServoEffects)
    effects: tuple[str, ...] = ()
    integrator: str = "midpoint"
    uncertainty: Mapping[str, float] = field(default_factory=dict)
    search: Mapping[str, Range] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)


def read_servo(path: Path) -> ServoFile:
    """Read and check a servo's file.

    Raises:
        BamError: not readable, not YAML, or a field is unknown, missing, of the wrong type or not plausible.
    """
    content = _content(path)
    if _holds_bench_effects_alone(content):
        raise Malformed(path, "holds bench effects alone", expected="a servo's fields", advice=_GIVE_SERVO)
    return _servo_file(content, path)


def read_bench_effects(path: Path) -> BenchEffects | None:
    """Read and check a file of bench effects; None of a servo's file, which is checked as well.

    Raises:
        BamError: as `read_servo`.
    """
    content = _content(path)
    if not _holds_bench_effects_alone(content):
        _servo_file(content, path)
        return None
    return _READER.read(
        {**content, "bench_effects": content["bench_effects"] or {}}, BenchFile, path
    ).bench_effects


def _servo_file(content: dict[str, Any], path: Path) -> ServoFile:
    if isinstance(content.get("firmware"), dict):  # which has the servo's name unless it says another
        content["firmware"] = {"name": content.get("name"), **content["firmware"]}
    return _READER.read(content, ServoFile, path)


def _content(path: Path) -> dict[str, Any]:
    content = require_section(
        read_yaml(path, otherwise=_GIVE_SERVO),
        path,
        expected="fields such as name and motor",
        advice=_GIVE_SERVO,
    )
    try:
        _require_plausible(content)
    except BamError as error:
        raise error.within(path) from None
    return {str(key): value for key, value in content.items()}


def _require_plausible(content: Mapping[str, Any], section: str = "") -> None:
    """Raise OutOfRange for the first number that its field cannot have; standard deviations may be any."""
    for key, value in content.items():
        if isinstance(value, dict) and key not in ("uncertainty", "tolerances"):
            _require_plausible(value, f"{section}{key}.")
        for number in value if isinstance(value, list) else (value,):
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                unit = PARAMETER_UNITS.get(str(key), "")
                require_plausible(f"{section}{key}", str(key), float(number), "" if unit == "-" else unit)


def _holds_bench_effects_alone(content: Mapping[str, Any]) -> bool:
    return "bench_effects" in content and content.keys() <= {"bench_effects", "uncertainty"}


def _friction(value: Any, _: Any) -> FrictionFields:
    if not isinstance(value, dict):
        raise UnsuitableError(value, "a section of fields")
    coefficients = {key: coefficient for key, coefficient in value.items() if key != "quadratic_rule"}
    return FrictionFields(
        coefficients=_READER.converter.structure(coefficients, dict[str, float]),
        quadratic_rule=value.get("quadratic_rule", "paper"),
    )


def _firmware(value: Any, _: Any) -> PositionFirmware:
    """Return the library's firmware of a name, or the one that a section describes."""
    if isinstance(value, str):
        return find_firmware(value)
    if not isinstance(value, dict):
        raise UnsuitableError(value, _WORDS[PositionFirmware])
    law = value.get("law")
    if not isinstance(law, str) or law not in LAWS:
        raise UnsuitableError(law, " or ".join(LAWS), field="law")
    fields = {key: field for key, field in value.items() if key != "law"}
    return _READER.converter.structure(fields, LAWS[law])


_READER = TypedReader(allows_empty=True, words=_WORDS)
_READER.converter.register_structure_hook_func(lambda kind: kind is PositionFirmware, _firmware)
_READER.converter.register_structure_hook(FrictionFields, _friction)
