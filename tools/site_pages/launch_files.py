# SPDX-License-Identifier: Apache-2.0
"""The page of the launch files, from the arguments that they declare.

The files are parsed, not imported: launch_ros is missing where ROS 2 comes as wheels.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bam_ros.launching.argument import Argument
from site_pages.markdown import code, plain, table

ROOT = Path(__file__).resolve().parents[2]
COMMON = ROOT / "bam_ros" / "launching" / "launch_values.py"
WITHOUT_COMMON = "demo"
"""The launch file that lacks the common arguments."""


class LaunchFile(NamedTuple):
    """A launch file in words."""

    name: str
    purpose: str
    """Its docstring; the lines after the first paragraph are commands."""
    arguments: tuple[Argument, ...]


def launch_files() -> list[LaunchFile]:
    """Return all launch files with their arguments, the common ones last."""
    common = _arguments(ast.parse(COMMON.read_text(encoding="utf-8")))
    files = []
    for file in sorted((ROOT / "launch").glob("*.launch.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        name = file.name.removesuffix(".launch.py")
        own = _arguments(tree)
        everything = own if name == WITHOUT_COMMON else (*own, *common)
        files.append(LaunchFile(name, ast.get_docstring(tree) or "", everything))
    return files


def _arguments(tree: ast.Module) -> tuple[Argument, ...]:
    """The calls of Argument in a file, or of DeclareLaunchArgument; constants of the file are looked up."""
    constants = {"math.inf": ast.Constant(math.inf), **dict(_constants(tree))}
    arguments = []
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        given = {
            keyword.arg: constants.get(ast.unparse(keyword.value), keyword.value) for keyword in call.keywords
        }
        if call.func.id == "Argument":
            arguments.append(
                Argument(**{str(name): ast.literal_eval(value) for name, value in given.items()})
            )
        elif call.func.id == "DeclareLaunchArgument" and isinstance(call.args[0], ast.Constant):
            name, default, words = call.args[0], given["default_value"], given["description"]
            values = (ast.literal_eval(node) for node in (name, default, words))
            arguments.append(Argument(**dict(zip(("name", "default", "description"), values, strict=True))))
    return tuple(arguments)


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            (target,), value = node.targets, node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                yield from zip(map(ast.unparse, target.elts), value.elts, strict=True)
            else:
                yield ast.unparse(target), value


def pages() -> dict[str, str]:
    """Return the page."""
    parts = [
        "# Launch files\n",
        "Made from the arguments that the files declare; `ros2 launch bam_bench FILE --show-args` prints"
        " them. Lists"
        " are written with commas, `joints:=hip,knee`.\n",
    ]
    for file in launch_files():
        purpose, _, examples = file.purpose.partition("\n\n")
        parts += [f"## {file.name}.launch.py\n", f"{plain(purpose)}\n"]
        if examples:
            parts.append(code(examples, "bash"))
        rows = (
            (
                f"`{argument.name}`",
                f"`{argument.default_text}`" if argument.default_text else "",
                plain(argument.description),
            )
            for argument in file.arguments
        )
        parts.append(table(("argument", "default", "meaning"), rows))
    return {"reference/launch.md": "\n".join(parts)}
