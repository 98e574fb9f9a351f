# SPDX-License-Identifier: Apache-2.0
"""Control tables as YAML: sections that inherit from each other become tables of registers.

`docs/reference/control_tables.md` explains the form. A section without `model_number` is a family.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from bam_core.errors import BamError, Malformed, Missing, OutOfRange, UnknownName
from bam_core.files.yaml_file import read_yaml
from bam_ros.dynamixel.register import RAW, Register, Unit
from bam_ros.dynamixel.table_schema import check_roles, check_section, is_whole

Section = Mapping[str, Any]

_MERGED = ("baud_rates", "units", "registers")  # key by key; all others replace what is inherited
_RPM = 2.0 * math.pi / 60.0  # rad/s
_UNITS = {  # key -> symbol, and SI scale of a count from its value
    "per_turn": ("rad", lambda value: 2.0 * math.pi / value),
    "rpm": ("rad/s", lambda value: value * _RPM),
    "rpm2": ("rad/s²", lambda value: value * _RPM / 60.0),
    "degrees_per_s2": ("rad/s²", math.radians),
    "full": ("-", lambda value: 1.0 / value),
    "A": ("A", float),
    "V": ("V", float),
    "degC": ("°C", float),
    "s": ("s", float),
}
_ERRORS = (
    "INPUT_VOLTAGE",
    "OVERHEATING",
    "ENCODER",
    "ELECTRICAL_SHOCK",
    "OVERLOAD",
)  # a `HardwareError` each
_ACCESS = ("R", "RW", "ER", "ERW")
_SIZES = (1, 2, 4)
_LAST_BIT = 31
_DEEPEST = 10  # families of families
_LIMITED_BY = {
    "goal_pwm": ("pwm_limit", "pwm_limit"),
    "goal_current": ("current_limit", "current_limit"),
    "goal_velocity": ("velocity_limit", "velocity_limit"),
    "goal_position": ("min_position_limit", "max_position_limit"),
}
"""Registers of Protocol 2.0 -> the two that limit them."""
REQUIRED = (
    *("model_number", "firmware_version", "id", "baud_rate", "return_delay_time", "status_return_level"),
    *("min_position_limit", "max_position_limit", "torque_enable", "goal_position", "present_position"),
    *("present_velocity", "present_input_voltage", "present_temperature"),
)
"""Registers without which no servo can be driven."""


def read_sections(path: Path) -> dict[str, Section]:
    """Return the sections of a file by name.

    Raises:
        BamError: it cannot be read, or is no file of control tables; one line that names the section.
    """
    content = read_yaml(path)
    if not isinstance(content, dict) or not content:
        raise Malformed(path, "has no sections", expected="one for each model or family")
    for name, section in content.items():
        if not isinstance(section, dict):
            raise Malformed(path, f"{name} is no section", expected="keys such as like, title, model_number")
        check_section(path, name, section)
    return {str(name): section for name, section in content.items()}


def inherited(name: str, sections: Mapping[str, Section], depth: int = 0) -> dict[str, Any]:
    """Return a section with all that it has from the ones it is like.

    Raises:
        BamError: one of them does not exist, or is like itself.
    """
    try:
        section = sections[name]
    except KeyError:
        raise UnknownName("control table (key like)", name, sections) from None
    if depth > _DEEPEST:
        raise OutOfRange(f"{name}: like", depth, f"at most {_DEEPEST} families in each other")
    base = inherited(str(section["like"]), sections, depth + 1) if "like" in section else {}
    for key, value in section.items():
        if key in _MERGED:
            merged = {**base.get(key, {}), **(value or {})}
            base[key] = {name: entry for name, entry in merged.items() if entry is not None}
        elif key != "like":
            base[key] = value
    if "model_number" not in section:  # a family
        base.pop("model_number", None)
    return base


def registers_of(name: str, section: Section) -> tuple[Register, ...]:
    """Return the registers of a section with all that it inherits, in the order of their addresses.

    Raises:
        BamError: a row cannot be, two overlap, or one that every servo has is missing.
    """
    try:
        units = {unit: _unit(unit, spec) for unit, spec in section.get("units", {}).items()}
        rows = [_row(register, row, units) for register, row in section.get("registers", {}).items()]
        rows += _indirect_rows(section.get("indirect") or {})
        rows.sort(key=lambda row: row.address)
        for before, after in pairwise(rows):
            if before.end > after.address:
                raise OutOfRange(
                    f"register {after.name}", after.address, f"{before.end} or more, behind {before.name}"
                )
        names = {row.name for row in rows}
        for register in REQUIRED:
            if register not in names:
                raise Missing(f"register {register}", "a row in registers")
        check_roles({row.name: row for row in rows})
    except BamError as error:
        raise error.within(name) from None
    initial = {
        "model_number": section["model_number"],
        "firmware_version": section.get("firmware_version", 0),
    }
    return tuple(_with(row, initial.get(row.name, row.initial), _limits(row, section, names)) for row in rows)


def error_bits(name: str, section: Section) -> dict[int, str] | None:
    """Return the bits of a servo's error register; None where they are those of its protocol."""
    if "error_bits" not in section:
        return None
    for error in section["error_bits"].values():
        if error not in _ERRORS:
            raise UnknownName(f"{name}: error_bits", error, _ERRORS)
    return dict(section["error_bits"])


def indirect_blocks(section: Section) -> tuple[tuple[int, int, int], ...]:
    """Return (first address register, first data byte, how many) of each indirect block."""
    return tuple((a, d, n) for a, d, n in (section.get("indirect") or {}).get("blocks", ()))


def other_indirect_data(name: str, section: Section) -> tuple[int, ...]:
    """Return where the first indirect block has its data in other firmware; raises OutOfRange."""
    places = (section.get("indirect") or {}).get("other_data", [])
    if not isinstance(places, list) or any(type(at) is not int or not 0 <= at < 0x10000 for at in places):
        raise OutOfRange(f"{name}: indirect: other_data", places, "addresses, as in [224]")
    return tuple(places)


def _limits(row: Register, section: Section, names: set[str]) -> tuple[str, str] | None:
    limits = _LIMITED_BY.get(row.name) if section.get("protocol") == 2 else None
    return limits if limits is not None and limits[0] in names else None


def _with(row: Register, initial: int | None, limits: tuple[str, str] | None) -> Register:
    return Register(**{**vars(row), "initial": initial, "limits": limits})


def _unit(name: str, spec: object) -> Unit:
    if not isinstance(spec, dict) or len(keys := [key for key in spec if key in _UNITS]) != 1:
        raise OutOfRange(f"unit {name}", spec, f"one of {', '.join(_UNITS)}, and zero or direction_bit")
    zero, direction = spec.get("zero", 0), spec.get("direction_bit")
    if not set(spec) <= {keys[0], "zero", "direction_bit"} or not (
        type(zero) is int and (direction is None or is_whole(direction, 1, _LAST_BIT))
    ):
        raise OutOfRange(f"unit {name}", spec, "a number, whole zero, and direction_bit from 1 to 31")
    symbol, scale = _UNITS[keys[0]]
    value = _number(f"unit {name}", spec[keys[0]])
    return Unit(
        symbol=symbol,
        scale=scale(value),
        zero=zero,
        direction_bit=direction,
    )


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
        raise OutOfRange(name, value, "a number above 0")
    return float(value)


def _row(name: str, row: object, units: Mapping[str, Unit]) -> Register:
    """Return a register from [address, size, access, factory value, lowest, highest, unit]."""
    form = "[address, size (1, 2 or 4), access (R, RW, ER or ERW), factory value, lowest, highest, unit]"
    if not isinstance(row, list) or not 3 <= len(row) <= 7:
        raise OutOfRange(f"register {name}", row, form)
    cells: list[Any] = [*row, *[None] * (7 - len(row))]
    address, size, access, initial, low, high, unit = cells
    least = None if low == "signed" else low
    whole = all(number is None or type(number) is int for number in (initial, least, high))
    placed = is_whole(address, 0, 0xFFFF) and type(size) is int and size in _SIZES
    if not whole or not placed or not isinstance(access, str) or access not in _ACCESS:
        raise OutOfRange(f"register {name}", row, form)
    if unit is not None and (not isinstance(unit, str) or unit not in units):
        raise UnknownName(f"unit of register {name}", str(unit), units)
    signed = low == "signed" or (least or 0) < 0
    least, most = (-(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1) if signed else (0, (1 << 8 * size) - 1)
    lowest, highest = low if type(low) is int else least, most if high is None else high
    if not least <= lowest <= highest <= most or not least <= (initial or 0) <= most:
        raise OutOfRange(f"register {name}", row, f"values from {least} to {most}, the lowest first")
    return Register(
        name=name,
        address=address,
        size=size,
        writable=access.endswith("RW"),
        initial=initial,
        low=lowest,
        high=highest,
        signed=signed,
        unit=units[unit] if unit is not None else RAW,
        eeprom=access.startswith("E"),
    )


def _indirect_rows(spec: Section) -> list[Register]:
    """Return Indirect Address and Indirect Data registers, numbered from 1."""
    blocks = [(a, d, n) for a, d, n in spec.get("blocks", ())]
    last = max((data + count for _, data, count in blocks), default=1) - 1
    rows, number = [], 0
    for address, data, count in blocks:
        for i in range(count):
            number += 1
            pointer = [address + 2 * i, 2, spec.get("access", "RW"), data + i, spec.get("low", 0), last]
            rows.append(_row(f"indirect_address_{number}", pointer, {}))
            rows.append(_row(f"indirect_data_{number}", [data + i, 1, "RW", 0], {}))
    return rows
