# SPDX-License-Identifier: Apache-2.0
"""All servo models: how their registers were checked, and what emulates, drives and models them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from bam_core.servo.model import servo_names
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable
from bam_ros.emulators.feetech.catalog import FEETECH
from bam_ros.feetech.discovery import is_driven
from site_pages.markdown import plain, table

PAGE = "reference/servo_models.md"
COMPARED = yaml.safe_load((Path(__file__).parent / "compared_registers.yaml").read_text(encoding="utf-8"))
_NONE, _YES = "-", "yes"
_MANY = 4  # models beyond which their number is given instead of their names


def pages() -> dict[str, str]:
    """Return the page by its name."""
    sources: Sequence[str] = COMPARED["sources"]
    compared, equal, different = _totals()
    lines = [
        "# Servo models\n",
        "Which servos have a control table, how it was checked, and what emulates, drives and models them."
        " Made from the tables themselves.\n",
        "A test opens each driven model with the driver over the emulator,"
        " moves it and releases it. Real devices: [supported hardware](hardware.md).\n",
        f"`tools/compare_registers.py` compared {compared} registers with what ROBOTIS publishes in"
        f" {', '.join(sources[:-1])} and {sources[-1]}: {equal} lie where ours do, {different} do not"
        " ([below](#registers-that-differ)). Registers of indirect addressing are left out.\n",
        "## Dynamixel\n",
        table(
            ("name", "control law", "driven", "library", "registers", "equal in these three"),
            (_dynamixel(CONTROL_TABLES[name]) for name in CONTROL_TABLES),
        ),
        f"All {len(CONTROL_TABLES)} are emulated. The last column has the registers at the same address with"
        " the same size, in the order of the sources above."
        f" A model that a source does not have is `{_NONE}` there.\n",
        "Of models that are driven with a warning, nobody knows the control law. Their runs are not recorded"
        " for an identification.\n",
        "## Registers that differ\n",
        table(("source", "register", "there (bytes)", "here (bytes)", "models"), _differences()),
        "Where a second one of these sources has such a register, it agrees with ours. `torque_limit` of the"
        " EX-106+ and `startup_configuration` of the XC335 are those of the manuals alone. The driver uses no"
        " register that is missing here.\n",
        "## Feetech\n",
        table(("name", "title", "control law", "driven", "library", "registers"), _feetech()),
        "All are emulated. Sources of these registers, and where they differ:"
        " [Feetech servos](feetech.md).\n",
    ]
    return {PAGE: "\n".join(lines)}


def _totals() -> tuple[int, int, int]:
    """Return how many registers were compared, how many are equal, and how many are not."""
    equal = sum(count or 0 for model in COMPARED["models"].values() for count in model["equal"])
    different = sum(len(difference["models"]) for difference in COMPARED["differences"])
    return equal + different, equal, different


def _dynamixel(servo: ControlTable) -> tuple[str, ...]:
    counts = [_NONE if count is None else str(count) for count in COMPARED["models"][servo.name]["equal"]]
    return (
        f"`{servo.name}`",
        servo.position_firmware or plain(servo.law),
        _YES if servo.position_firmware else "with a warning",
        _library(servo.name),
        str(_registers(servo)),
        " / ".join(counts),
    )


def _feetech() -> Iterator[tuple[str, ...]]:
    for name, servo in FEETECH.tables.items():
        driven = is_driven(servo)
        yield (
            f"`{name}`",
            plain(servo.title),
            servo.position_firmware if driven else _NONE,
            _YES if driven else f"{_NONE} ([why](feetech.md#series-that-are-not-driven))",
            _library(name),
            str(_registers(servo)),
        )


def _registers(servo: ControlTable) -> int:
    return sum(not row.name.startswith("indirect") for row in servo.registers)


def _library(name: str) -> str:
    return f"[card](servos/{name}.md)" if name in servo_names() else _NONE


def _differences() -> Iterator[tuple[str, ...]]:
    """Yield a row for each difference; numbered registers, such as those of a history, are one."""
    for (source, stem), group in groupby(COMPARED["differences"], _stem):
        first, *others = group
        register, models = first["register"], first["models"]
        name, address = f"`{register}`", str(first["address"])
        if others:
            name, address = f"`{stem}_*`", f"{address} to {others[-1]['address']}"
        here = CONTROL_TABLES[models[0]]
        ours = f"{here[register].address} ({here[register].size})" if register in here else "missing"
        shown = ", ".join(models) if len(models) <= _MANY else f"{len(models)}, such as {models[0]}"
        yield source, name, f"{address} ({first['size']})", ours, shown


def _stem(difference: Mapping[str, Any]) -> tuple[str, str]:
    return difference["source"], difference["register"].rstrip("_0123456789")
