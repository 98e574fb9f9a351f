# SPDX-License-Identifier: Apache-2.0
"""Control tables of Feetech servos, read from `control_tables.yaml`, with the SI scale of each register."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

import yaml

from bam_core.errors import UnknownName
from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.register import RAW, Register, Unit

PROTOCOL = 0
"""`ControlTable.protocol` of these servos: Dynamixel's Protocol 1.0 packets, with a sync read."""
BAUD_RATES = dict(enumerate((1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400)))
"""Value of the register baud_rate -> bit/s; the same in all families."""
SLOW_UNIT = 0x04
"""Bit of register phase: speeds are in counts/s (0.0146 rev/min) instead of 50 times that."""
FAST_FACTOR = 50

_ERROR_BITS = {
    0x01: "INPUT_VOLTAGE",
    0x02: "ENCODER",
    0x04: "OVERHEATING",
    0x08: "ELECTRICAL_SHOCK",  # overcurrent
    0x20: "OVERLOAD",
}
POSITION, VELOCITY, DUTY = range(3)
"""Values of operating_mode of STS and SMS servos."""
_FACTORY = 3  # place of the factory value in a row


def _units(counts_per_turn: float) -> dict[str, Unit]:
    """Return the units of the YAML file for an encoder."""
    count = 2.0 * math.pi / counts_per_turn
    middle = 2048 if counts_per_turn == 4096 else 512
    return {
        "position": Unit(symbol="rad", scale=count, zero=middle, direction_bit=15),
        "offset": Unit(symbol="rad", scale=count, direction_bit=11),
        "offset15": Unit(symbol="rad", scale=count, direction_bit=15),
        "velocity": Unit(symbol="rad/s", scale=count, direction_bit=15),
        "acceleration": Unit(symbol="rad/s²", scale=math.radians(8.7)),
        "permille": Unit(symbol="1", scale=1e-3),
        "permille_signed": Unit(symbol="1", scale=1e-3, direction_bit=10),
        "percent": Unit(symbol="1", scale=1e-2),
        "decivolt": Unit(symbol="V", scale=0.1),
        "celsius": Unit(symbol="°C", scale=1.0),
        "milliampere": Unit(symbol="A", scale=6.5e-3, direction_bit=15),
        "10ms": Unit(symbol="s", scale=1e-2),
        "2us": Unit(symbol="s", scale=2e-6),
    }


def _register(
    name: str, row: list[Any], units: Mapping[str, Unit], byte_order: Literal["little", "big"]
) -> Register:
    address, size, access, initial = row[:4]
    low, high, unit = [*row[4:], None, None, None][:3]
    return Register(
        name=name,
        address=address,
        size=size,
        writable=access.endswith("RW"),
        initial=initial,
        low=low or 0,
        high=(1 << 8 * size) - 1 if high is None else high,
        signed=False,
        unit=units[unit] if unit else RAW,
        eeprom=access.startswith("E"),
        byte_order=byte_order,
    )


def _mode(rows: Mapping[str, Any], mode: int) -> Mapping[str, int] | None:
    """Return what selects a mode of STS and SMS servos; HLS servos number theirs otherwise, SCS have one."""
    return None if "operating_mode" not in rows or "goal_current" in rows else {"operating_mode": mode}


def _tables() -> Mapping[str, ControlTable]:
    text = (files("bam_ros.feetech") / "control_tables.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    tables = {}
    for name, model in data["models"].items():
        family = data["families"][model["family"]]
        units = _units(family["counts_per_turn"])
        rows = {key: list(row) for key, row in family["registers"].items()}
        for key, value in {"model_number": model["model_number"], **model.get("factory", {})}.items():
            rows[key][_FACTORY] = value
        tables[name] = ControlTable(
            name=name,
            title=f"Feetech {model['title']}",
            model_number=model["model_number"],
            firmware_version=rows["firmware_major_version"][3],
            protocol=PROTOCOL,
            position_firmware=model["firmware"],
            registers=tuple(
                _register(register, row, units, family["byte_order"]) for register, row in rows.items()
            ),
            baud_rates=MappingProxyType(BAUD_RATES),
            error_bits=_ERROR_BITS,
            position_mode=_mode(rows, POSITION) or {},
            velocity_mode=_mode(rows, VELOCITY),
            pwm_mode=_mode(rows, DUTY),
        )
    return MappingProxyType(tables)


CONTROL_TABLES = _tables()
"""Known servos by name."""


def control_table(name: str) -> ControlTable:
    """Return the control table of this name; raises UnknownName where there is none."""
    try:
        return CONTROL_TABLES[name]
    except KeyError:
        raise UnknownName("servo", name, CONTROL_TABLES) from None


def table_for_model(model_number: int) -> ControlTable | None:
    """Return the table of the servo with this model number; None where it is not known."""
    return next((table for table in CONTROL_TABLES.values() if table.model_number == model_number), None)
