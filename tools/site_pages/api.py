# SPDX-License-Identifier: Apache-2.0
"""The page of the Python interface: the public names of `bam_core`, by room."""

from __future__ import annotations

import ast
import inspect
from importlib.resources import files
from typing import get_origin

import bam_core
from site_pages.markdown import toctree

_ROOMS = (
    ("identification", "Identify", "Recordings in, servo models with errors and intervals out."),
    ("recordings", "Recordings", "Reading, checking and writing runs."),
    ("servo", "Servo models", "Firmware, motor, friction, and the bench."),
    ("simulation", "Simulate on the bench", "The compiled rollout, and synthetic recordings."),
    (
        "mujoco",
        "Simulate in MuJoCo",
        "Servos on the joints of any model, from Python or as an engine plugin.",
    ),
    ("validation", "Validate", "Errors of a servo model on recordings."),
    ("robot", "Robots", "Servos of an assembled robot, identified from its runs and validated on them."),
    ("report", "Report and plots", "The page of an identification."),
    ("exchange", "Other programs", "To and from BAM's program, MJCF and bags."),
    ("errors", "Errors", "One line for the user; a kind and attributes for programs."),
)
_WITH = {"plots": "report", "arrays": "simulation", "text": "identification"}
_WHOLE = ("errors", "report")
"""Rooms whose other names are public, too, as `bam_core.ROOM.NAME`."""

_SETTINGS = (
    ("identify", "IdentifySettings"),
    ("identify_robot", "RobotIdentifySettings"),
    ("validate", "ValidateSettings"),
    ("design_runs", "DesignSettings"),
    ("synthesize", "SynthesisSettings"),
    ("Rollout", "RolloutSettings"),
    ("load_runs", "RunSettings"),
)


def pages() -> dict[str, str]:
    """Return a page per room, and the index."""
    by_room: dict[str, list[str]] = {room: [] for room, _, _ in _ROOMS}
    for name, room in sorted(_homes().items()):
        by_room[_WITH.get(room, room)].append(name)
    written = {}
    for room, title, purpose in _ROOMS:
        parts = [f"# {title}\n", f"{purpose}\n"]
        parts += [_entry(name) for name in by_room[room]]
        if room in _WHOLE:
            parts.append(
                f"```{{eval-rst}}\n.. automodule:: bam_core.{room}\n   :members:\n   :noindex:\n```\n"
            )
        written[f"reference/api/{room}.md"] = "\n".join(parts)
    lines = [
        f"- [{title}]({room}.md): {', '.join(f'`{name}`' for name in by_room[room])}"
        for room, title, _ in _ROOMS
    ]
    written["reference/api/index.md"] = "\n".join(
        [
            "# Python\n",
            "The names that `from bam_core import ...` offers, from their docstrings. They are stable"
            " ([what that means](../../stability.md)); paths of modules are not. Where a servo is asked for,"
            " a name"
            " from `bam servos`, the path of a file or a `ServoModel` will do."
            " [Distribution, import and command](../../how-to/install.md#names) have different names.\n",
            "A function takes its data as arguments, at most six, and its options as one frozen dataclass:\n",
            "| function | settings |",
            "|---|---|",
            *(f"| `{function}` | `{settings}` |" for function, settings in _SETTINGS),
            "",
            *lines,
            "",
            toctree(room for room, _, _ in _ROOMS),
        ]
    )
    return written


def _homes() -> dict[str, str]:
    """Return the room of every public name, from the stub that lists them."""
    stub = ast.parse((files("bam_core") / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    rooms = {name.name: str(node.module).partition(".")[0] for node in imports for name in node.names}
    return {name: room for name, room in rooms.items() if not name.startswith("_")}


def _entry(name: str) -> str:
    thing = getattr(bam_core, name)
    if get_origin(thing) is not None:  # an alias, whose docstring would be that of what it stands for
        return f"```{{eval-rst}}\n.. py:data:: bam_core.{name}\n\n   ``{thing}``\n```\n"
    if inspect.isclass(thing):
        kind, options = "autoclass", "\n   :members:"
    elif inspect.isroutine(thing):
        kind, options = "autofunction", ""
    else:
        kind, options = "autodata", "\n   :no-value:"
    return f"```{{eval-rst}}\n.. {kind}:: bam_core.{name}{options}\n```\n"
