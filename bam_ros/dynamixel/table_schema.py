# SPDX-License-Identifier: Apache-2.0
"""What the keys of a control table's section may hold, and what its registers must be to drive a servo."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from bam_core.errors import OutOfRange, UnknownName
from bam_ros.dynamixel.register import Register

_LARGEST_ADDRESS, _LARGEST_BYTE = 0xFFFF, 0xFF
_MODES = (
    *("position_mode", "extended_mode", "current_position_mode"),
    *("velocity_mode", "current_mode", "pwm_mode"),
)


def is_whole(value: object, low: int = 0, high: int = 1 << 62) -> bool:
    """Return whether a value is an int, no bool, within these ends."""
    return type(value) is int and low <= value <= high


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _is_text_or_nothing(value: object) -> bool:
    return value in (None, "") or _is_text(value)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_section(value: object) -> bool:
    return value is None or (isinstance(value, dict) and all(_is_text(key) for key in value))


def _is_rates(value: object) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(
            is_whole(count, 0, _LARGEST_BYTE) and (rate is None or is_whole(rate, 1))
            for count, rate in value.items()
        )
    )


def _is_mode(value: object) -> bool:
    return value is None or (
        isinstance(value, dict) and all(_is_text(name) and is_whole(count) for name, count in value.items())
    )


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_bits(value: object) -> bool:
    return isinstance(value, dict) and all(
        is_whole(bit, 1, _LARGEST_BYTE) and _is_text(error) for bit, error in value.items()
    )


def _is_indirect(value: object) -> bool:
    if value is None:
        return True
    if not isinstance(value, dict) or not set(value) <= {"blocks", "low", "access", "other_data"}:
        return False
    blocks = value.get("blocks", [])
    return (
        isinstance(blocks, list)
        and all(
            isinstance(block, list)
            and len(block) == 3
            and all(is_whole(number, 0, _LARGEST_ADDRESS) for number in block)
            for block in blocks
        )
        and is_whole(value.get("low", 0), 0, _LARGEST_ADDRESS)
        and value.get("access", "RW") in ("RW", "ERW")
    )


def _is_figures(value: object) -> bool:
    return value is None or (
        isinstance(value, list)
        and len(value) == 4
        and all(isinstance(figure, int | float) and not isinstance(figure, bool) for figure in value)
        and all(0.0 < figure < 1e6 for figure in value)
    )


_TEXT, _FLAG = "a text of one line", "true or false"
_MODE = "register: value, such as {operating_mode: 3}; or ~"
_FORMS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "like": (_is_text, "the name of a model or family"),
    "title": (_is_text, _TEXT),
    "model_number": (lambda value: is_whole(value, 0, 0xFFFF), "0 to 65535"),
    "source": (_is_text_or_nothing, _TEXT),
    "protocol": (lambda value: is_whole(value, 1, 2), "1 or 2"),
    "firmware": (_is_text_or_nothing, "a name in firmwares.yaml"),
    "law": (_is_text_or_nothing, _TEXT),
    "firmware_version": (lambda value: is_whole(value, 0, _LARGEST_BYTE), "0 to 255"),
    "bulk_read": (_is_flag, _FLAG),
    "fast_read": (_is_flag, _FLAG),
    "baud_divider": (lambda value: value is None or is_whole(value, 1), "a whole number of bit/s"),
    "position_mode": (lambda value: value is not None and _is_mode(value), "register: value, or {}"),
    "extended_mode": (_is_mode, _MODE),
    "current_position_mode": (_is_mode, _MODE),
    "velocity_mode": (_is_mode, _MODE),
    "current_mode": (_is_mode, _MODE),
    "pwm_mode": (_is_mode, _MODE),
    "law_off": (_is_names, "names of registers, as in [goal_velocity]"),
    "error_bits": (_is_bits, "bit: error, such as {32: OVERLOAD}"),
    "error_register": (_is_text, "the name of a register"),
    "indirect": (
        _is_indirect,
        "{blocks: [[first pointer, first data byte, count]], low, access, other_data}",
    ),
    "data_sheet": (_is_figures, "[supply V, stall torque N·m, stall current A, no-load rev/min]"),
    "baud_rates": (_is_rates, "value of the register: bit/s, such as {1: 57600}"),
    "units": (_is_section, "name: unit, such as {current: {A: 0.001}}"),
    "registers": (_is_section, "name: [address, size, access, ...]"),
}
"""Key of a section -> whether a value fits, and what fits."""


def check_section(path: Path, name: object, section: Mapping[Any, Any]) -> None:
    """Refuse a section with an unknown key, or a value that no such key has; raises BamError.

    Args:
        path: of the file, for messages.
        name: of the section.
        section: as it is in the file, without what it is like.
    """
    where = f"{path}: {name}"
    for key, value in section.items():
        if key not in _FORMS:
            raise UnknownName("key", str(key), _FORMS).within(where)
        fits, form = _FORMS[key]
        if not fits(value):
            raise OutOfRange(f"{where}: {key}", value, form, printed=_shortened(value))


_ROLES = {  # register -> its SI unit, whether it must be writable
    "torque_enable": ("-", True),
    "goal_position": ("rad", True),
    "present_position": ("rad", False),
    "present_velocity": ("rad/s", False),
    "present_input_voltage": ("V", False),
    "present_temperature": ("°C", False),
}


def check_roles(rows: Mapping[str, Register]) -> None:
    """Refuse registers with which the driver cannot do what it has to; raises OutOfRange.

    Args:
        rows: all registers of a model, by name.
    """
    for name, (symbol, written) in _ROLES.items():
        row = rows[name]
        if row.unit.symbol != symbol:
            wanted = f"a unit in {symbol}" if symbol != "-" else "no unit"
            raise OutOfRange(f"register {name}", row.unit.symbol, wanted)
        if written and (row.eeprom or not row.writable):
            raise OutOfRange(f"register {name}", "access", "RW", printed="ERW" if row.eeprom else "R")


def check_named(rows: Mapping[str, Register], section: Mapping[str, Any]) -> None:
    """Refuse registers that a model's own keys name and it does not have; raises BamError.

    Args:
        rows: all registers of the model, by name.
        section: its own keys, as they are in the file.
    """
    for key in _MODES:
        for name, count in (section.get(key) or {}).items():
            _require(key, name, rows)
            row = rows[name]
            if not row.low <= count <= row.high:
                raise OutOfRange(f"{key}: {name}", count, f"{row.low} to {row.high}")
    for name in section.get("law_off", ()):
        _require("law_off", name, rows)
    if "error_register" in section:
        _require("error_register", section["error_register"], rows)


def _require(key: str, name: str, rows: Collection[str]) -> None:
    if name not in rows:
        raise OutOfRange(f"register of {key}", name, "a register that the model has")


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
