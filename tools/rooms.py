# SPDX-License-Identifier: Apache-2.0
"""The import graph between rooms: a table, imports against the layers, import cycles, and a picture.

A room is a directory or a file directly in bam_core or bam_ros. An arrow is an import: it leads from a room
to one that it imports. Imports inside functions and imports for types count as well. A floor is a layer of
the import contracts in `pyproject.toml`. A circle is an import cycle.

    .venv/bin/python tools/rooms.py [CHECKOUT] [--picture FILE.svg]
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import grimp

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PRODUCT = ("bam_core", "bam_ros")
COLOURS = {"bam_core": "#dbe9f6", "bam_ros": "#fde5cc"}
Arrow = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class House:
    """The import graph between rooms.

    Attributes:
        floors: rooms of each layer, from the top one to the bottom one. Rooms of one layer must not import
            each other.
        arrows: number of importing modules, by importing and imported room.
        lines: number of lines of Python, by room.
    """

    floors: tuple[tuple[str, ...], ...]
    arrows: Mapping[Arrow, int]
    lines: Mapping[str, int]

    @property
    def rooms(self) -> tuple[str, ...]:
        """All rooms, from the top layer to the bottom one."""
        return tuple(room for floor in self.floors for room in floor)

    @property
    def upward(self) -> list[Arrow]:
        """Imports of a room in a higher layer, or of another room in the same layer."""
        floor = {room: number for number, rooms in enumerate(self.floors) for room in rooms}
        return [(start, end) for start, end in self.arrows if floor[end] <= floor[start]]

    @property
    def circles(self) -> list[tuple[str, ...]]:
        """Import cycles: sets of rooms in which each imports all others, directly or not."""
        reachable = {room: self._reachable_from(room) for room in self.rooms}
        cycles = {
            tuple(end for end in self.rooms if end in reachable[room] and room in reachable[end])
            for room in self.rooms
        }
        return sorted(cycle for cycle in cycles if cycle)

    def _reachable_from(self, room: str) -> set[str]:
        """Return all rooms that a room imports, directly or not."""
        reachable: set[str] = set()
        waiting = [room]
        while waiting:
            importer = waiting.pop()
            imported = {end for start, end in self.arrows if start == importer} - reachable
            reachable |= imported
            waiting += imported
        return reachable


def read_house(checkout: Path) -> House:
    """Return the import graph of a checkout, and insert the checkout into `sys.path`.

    The modules of the checkout are read, not imported.
    """
    sys.path.insert(0, str(checkout))
    graph = grimp.build_graph(*PRODUCT, cache_dir=None)
    importers: dict[Arrow, set[str]] = defaultdict(set)
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            start, end = _room_of(module), _room_of(imported)
            if start and end and start != end:
                importers[start, end].add(module)
    lines = defaultdict(int)
    for package in PRODUCT:
        for file in sorted((checkout / package).rglob("*.py")):
            room = file.relative_to(checkout).with_suffix("").parts[:2]
            lines[".".join(room)] += len(file.read_text(encoding="utf-8").splitlines())
    return House(
        floors=_read_layers(checkout / "pyproject.toml"),
        arrows={arrow: len(modules) for arrow, modules in sorted(importers.items())},
        lines=lines,
    )


def _room_of(module: str) -> str:
    """Return the room of a module; empty for `bam_core` and `bam_ros`, which only re-export names."""
    return ".".join(module.split(".")[:2]) if "." in module else ""


def _read_layers(settings: Path) -> tuple[tuple[str, ...], ...]:
    """Return the rooms of each layer, from the top one to the bottom one, as pyproject.toml has them."""
    contracts = tomllib.loads(settings.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    floors = {
        contract["containers"][0]: [
            tuple(f"{contract['containers'][0]}.{name.strip()}" for name in layer.split("|"))
            for layer in contract["layers"]
        ]
        for contract in contracts
        if contract["type"] == "layers" and "containers" in contract
    }
    return tuple(floor for package in reversed(PRODUCT) for floor in floors[package])


def draw(house: House, file: Path) -> None:
    """Draw the rooms by layer, with an arrow for each import; those against the layers are red."""
    from matplotlib.figure import Figure

    places = {}
    width = max(len(floor) for floor in house.floors)
    for number, floor in enumerate(house.floors):
        for index, room in enumerate(floor):
            # Rooms of neighbouring layers are shifted, so that arrows do not cross them.
            places[room] = ((index + 0.5 + 0.22 * (-1) ** number) * width / len(floor), -number)
    figure = Figure(figsize=(2.6 * width, 0.85 * len(house.floors)), layout="constrained")
    axes = figure.subplots()
    upward = {*house.upward}
    for arrow, modules in house.arrows.items():
        start, end = (places[room] for room in arrow)
        style = {"color": "#c00000" if arrow in upward else "#808080", "lw": 0.4 + 0.2 * min(modules, 8)}
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "shrinkA": 12, "shrinkB": 12, **style})
    for room, place in places.items():
        package, name = room.split(".")
        box = {"boxstyle": "round", "facecolor": COLOURS[package], "edgecolor": "#404040"}
        axes.text(*place, f"{name}\n{house.lines[room]} lines", ha="center", va="center", size=8, bbox=box)
    axes.set(xlim=(-0.5, width + 0.5), ylim=(-len(house.floors), 1))
    axes.set_axis_off()
    axes.set_title(f"{len(places)} rooms, {len(house.arrows)} arrows; blue: bam_core, orange: bam_ros")
    figure.savefig(file)


def report(house: House) -> str:
    """Return the table of rooms, counts of imports, and imports that break the rules, as text."""
    lines = [f"{'room':32} {'lines':>6}  imports"]
    for room in house.rooms:
        ends = [end for start, end in house.arrows if start == room]
        lines.append(f"{room:32} {house.lines[room]:6}  {', '.join(ends)}")
    within = {
        package: sum(all(room.startswith(f"{package}.") for room in arrow) for arrow in house.arrows)
        for package in PRODUCT
    }
    between = len(house.arrows) - sum(within.values())
    counts = ", ".join(f"{count} within {package}" for package, count in within.items())
    lines.append(f"{len(house.rooms)} rooms, {len(house.arrows)} arrows: {counts}, {between} between them")
    for name, wrong in (("upward", house.upward), ("in a circle", house.circles)):
        lines.append(f"{name}: {len(wrong)}")
        lines += [f"  {' -> '.join(rooms)}" for rooms in wrong]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report; return 1 if imports run upwards or in a circle."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--picture", type=Path, metavar="FILE", help="SVG, PNG or PDF to draw, by its ending")
    arguments = parser.parse_args(argv)
    house = read_house(arguments.checkout.resolve())
    print(report(house))
    if arguments.picture is not None:
        draw(house, arguments.picture)
    return 1 if house.upward or house.circles else 0


if __name__ == "__main__":
    raise SystemExit(main())
