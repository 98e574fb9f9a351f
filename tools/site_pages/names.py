# SPDX-License-Identifier: Apache-2.0
"""A page with every name of the ROS 2 interface: its type, its unit, what it means and where it is used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from node_policies import NODES

from site_pages.markdown import plain, table

ROOT = Path(__file__).resolve().parents[2]
_UNIT = re.compile(r"\[([^\]]+)\]\s*(.*)", re.DOTALL)
_RULES = """
- The package is `bam_bench`. Names are lower case with underscores
  ([REP 144](https://www.ros.org/reps/rep-0144.html)).
- What belongs to one node begins with `~/`: its services and actions, and topics of this node alone.
- What a whole bench has one of has a relative name: `record`, `identify`, `identify_model`.
- Measurements and commands of a robot have relative names: `joint_states`, `servo_states`, `bench_run`.
  The namespace names the robot or bench.
- Values are in SI units, angles in rad, counter-clockwise positive
  ([REP 103](https://www.ros.org/reps/rep-0103.html)). Gains are in firmware units.
- Frames are those of the robot's description. Headers have the one of `frame_id`
  ([REP 105](https://www.ros.org/reps/rep-0105.html)).
- `position`, `velocity` and `effort` mean what they mean in `sensor_msgs/JointState` and in the interfaces of
  ros2_control. Arrays are parallel to `name`.
- `success` and `message` are in the answer of every service and action that may fail.
- The service `identify_model` has the fields of the action `identify`, without its feedback.
"""


@dataclass(frozen=True, kw_only=True)
class Use:
    """One use of a name.

    Attributes:
        name: of a field.
        type: of the interface file, with brackets where it is an array.
        unit: as in the file; empty: none.
        meaning: its comment in the file.
        where: of the interface, and part of it, such as "Identify, result".
    """

    name: str
    type: str
    unit: str
    meaning: str
    where: str


def fields() -> tuple[Use, ...]:
    """Return every field of every message, service and action, sorted by name."""
    uses = [
        use
        for kind, parts in PARTS.items()
        for file in sorted((ROOT / kind).iterdir())
        for part, text in zip(parts, file.read_text(encoding="utf-8").split("---\n"), strict=True)
        for use in _fields(text, ", ".join(filter(None, (file.stem, part))))
    ]
    return tuple(sorted(uses, key=lambda use: use.name))


PARTS: Mapping[str, tuple[str, ...]] = {
    "msg": ("",),
    "srv": ("request", "response"),
    "action": ("goal", "result", "feedback"),
}
"""Folder of interface files -> parts of each file."""


def _fields(text: str, where: str) -> Iterator[Use]:
    """Yield the fields of one part; a line that only comments goes on with that of the field above."""
    rows: list[list[str]] = []
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        if code.strip():
            rows.append([*code.split()[:2], comment.strip()])
        elif rows and comment:
            rows[-1][2] += " " + comment.strip()
    for kind, name, comment in rows:
        if "=" not in name:  # else a constant
            unit, meaning = _UNIT.fullmatch(comment).groups() if _UNIT.fullmatch(comment) else ("", comment)
            yield Use(name=name, type=kind, unit=unit, meaning=meaning, where=where)


def page() -> str:
    """Return the page."""
    return "\n".join(
        [
            "# Names of the ROS 2 interface\n",
            "One name has one meaning, one type and one unit. A test of the project holds that for types and"
            " units.\n",
            "## Rules\n" + _RULES,
            "## Topics, services, actions\n",
            table(("name", "type", "nodes"), _topics()),
            "## Fields of messages, services and actions\n",
            table(
                ("name", "type", "unit", "meaning"), (_field(name, uses) for name, uses in _by_name(fields()))
            ),
            "## Parameters of nodes\n",
            table(("name", "type", "meaning"), _parameters()),
        ]
    )


def _by_name(uses: Iterable[Use]) -> Iterator[tuple[str, list[Use]]]:
    for name, group in groupby(uses, key=lambda use: use.name):
        yield name, list(group)


def _topics() -> Iterator[tuple[str, str, str]]:
    uses = sorted(
        {
            (interface.name, interface.kind, interface.type, about.name)
            for about in NODES
            for interface in about.interfaces
        }
    )
    for (name, kinds), group in groupby(uses, key=lambda use: (use[0], use[2])):
        nodes = ", ".join(f"{node} ({kind})" for _, kind, _, node in group)
        yield f"`{name}`", f"`{kinds}`", nodes


def _field(name: str, uses: list[Use]) -> tuple[str, str, str, str]:
    kinds = ", ".join(f"`{kind}`" for kind in dict.fromkeys(use.type for use in uses))
    meanings: dict[str, list[str]] = {}
    for use in uses:
        meanings.setdefault(use.meaning, []).append(use.where)
    text = "<br>".join(f"{plain(meaning)} ({', '.join(where)})" for meaning, where in meanings.items())
    return f"`{name}`", kinds, uses[0].unit, text


def _parameters() -> Iterator[tuple[str, str, str]]:
    uses = sorted(
        (
            (parameter.name, parameter.type_name, parameter.description, about.name)
            for about in NODES
            for parameter in about.parameters
        ),
        key=lambda use: use[0],
    )
    for (name, kind), group in groupby(uses, key=lambda use: use[:2]):
        meanings: dict[str, list[str]] = {}
        for _, _, text, node in group:
            meanings.setdefault(text, []).append(node)
        of_nodes = "<br>".join(f"{plain(text)} ({', '.join(nodes)})" for text, nodes in meanings.items())
        yield f"`{name}`", kind, of_nodes
