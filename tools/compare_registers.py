# SPDX-License-Identifier: Apache-2.0
"""Compare our control tables of Dynamixels with those that ROBOTIS publishes, register by register.

`python tools/compare_registers.py DIRECTORY` writes `tools/site_pages/compared_registers.yaml`, which the
page of models shows. The directory has the three repositories, each under its name. Nothing of them is kept
but how many registers lie where ours do, and which do not.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable

RESULTS = Path(__file__).parent / "site_pages" / "compared_registers.yaml"
_MODEL_FILES = {"DynamixelSDK": "control_table", "dynamixel_hardware_interface": "param/dxl_model"}
_WORKBENCH = "dynamixel-workbench"
_ITEMS = "dynamixel_workbench_toolbox/src/dynamixel_workbench_toolbox/dynamixel_item.cpp"
_NUMBERS = "dynamixel_workbench_toolbox/include/dynamixel_workbench_toolbox/dynamixel_item.h"
SOURCES = (*_MODEL_FILES, _WORKBENCH)

Rows = list[tuple[str, int, int]]
"""Name, address and size of each register, without indirect ones."""


def digest(table: ControlTable) -> int:
    """Return a number that changes where a register of a table is moved, added or removed."""
    return zlib.crc32(repr([(row.name, row.address, row.size) for row in table.registers]).encode())


def main(argv: Sequence[str]) -> int:
    """Compare, and write the results."""
    (directory,) = map(Path, argv)
    published = {source: _model_files(directory / source, at) for source, at in _MODEL_FILES.items()}
    published[_WORKBENCH] = _workbench(directory / _WORKBENCH)
    models, elsewhere = {}, {}
    for name in CONTROL_TABLES:
        table, equal = CONTROL_TABLES[name], []
        for source in SOURCES:
            rows = published[source].get(name)
            moved = [row for row in rows or () if not has(table, *row)]
            equal.append(None if rows is None else len(rows) - len(moved))
            for row in moved:
                elsewhere.setdefault((source, *row), []).append(name)
        models[name] = {"digest": digest(table), "equal": equal}
    differences = [
        {"source": source, "register": register, "address": address, "size": size, "models": names}
        for (source, register, address, size), names in elsewhere.items()
    ]
    text = yaml.safe_dump(
        {"sources": list(SOURCES), "models": models, "differences": differences},
        sort_keys=False,
        default_flow_style=None,
        width=100,
    )
    RESULTS.write_text(
        f"# SPDX-License-Identifier: Apache-2.0\n# Written by tools/compare_registers.py\n{text}"
    )
    return 0


def has(table: ControlTable, name: str, address: int, size: int) -> bool:
    """Return whether a table has that register there; by another name where it has none of this name."""
    if name in table:
        return (table[name].address, table[name].size) == (address, size)
    return any((row.address, row.size) == (address, size) for row in table.registers)


def _name(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", words.lower().replace("(shadow)", "")).strip("_")


def _without_indirect(rows: Iterator[tuple[str, str, str]]) -> Rows:
    named = [(_name(words), int(address), int(size)) for words, address, size in rows]
    return [row for row in dict.fromkeys(named) if not row[0].startswith("indirect")]


def _model_files(repository: Path, at: str) -> dict[str, Rows]:
    """Return the registers of each of our models in a folder of `.model` files: of all firmware versions."""
    listed = re.findall(r"^(\d+)\s+(\S+)\.model", (repository / at / "dynamixel.model").read_text(), re.M)
    files = {int(number): name for number, name in listed}
    tables = {}
    for name in CONTROL_TABLES:
        stem = files.get(CONTROL_TABLES[name].model_number, name)
        paths = [repository / at / f"{stem}{firmware}.model" for firmware in ("", "_fw52")]
        texts = [path.read_text().partition("[control table]")[2] for path in paths if path.is_file()]
        rows = re.findall(r"^(\d+)\s+(\d+)\s+(.+)$", "\n".join(texts), re.M)
        if rows:
            tables[name] = _without_indirect((words, address, size) for address, size, words in rows)
    return tables


def _workbench(repository: Path) -> dict[str, Rows]:
    """Return the registers of each of our models in the C++ source of the workbench."""
    source, header = ((repository / path).read_text() for path in (_ITEMS, _NUMBERS))
    numbers = {name: int(number) for name, number in re.findall(r"#define (\w+)\s+(\d+)", header)}
    names = {CONTROL_TABLES[name].model_number: name for name in CONTROL_TABLES}
    items = dict(re.findall(r"ControlItem items_(\w+)\[\]\s*\{(.*?)\n?\};", source, re.S))
    chosen = re.findall(r"if \((num == [^{]*?)\)\s*\{\s*control_table = items_(\w+);", source)
    return {
        names[numbers[model]]: _without_indirect(
            iter(re.findall(r"\{s_(\w+),\s*(\d+),[^,]*,\s*(\d+)\}", re.sub(r"//.*", "", items[kind])))
        )
        for condition, kind in chosen
        for model in re.findall(r"num == (\w+)", condition)
        if numbers[model] in names
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
