# SPDX-License-Identifier: Apache-2.0
"""A page with all commands of `bam`, from the parsers that parse them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module

from bam_core.cli import CORE_COMMANDS, Command
from bam_core.cli.command import GROUPS
from bam_ros.cli import ROS_COMMANDS
from site_pages.markdown import code, plain, table


def commands() -> dict[str, Command]:
    """Return all commands by name, those that need ROS 2 included."""
    return {command.name: command for command in (*CORE_COMMANDS, *ROS_COMMANDS)}


def split(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command's name, of one word or two, and its arguments."""
    count = 2 if words[0] in GROUPS or " ".join(words[:2]) in commands() else 1
    return " ".join(words[:count]), list(words[count:])


def parser(name: str) -> argparse.ArgumentParser:
    """Return a command's parser."""
    result = argparse.ArgumentParser(prog=f"bam {name}", add_help=False)
    import_module(commands()[name].module).add_arguments(result)
    return result


def pages() -> dict[str, str]:
    """Return the page."""
    parts = [
        "# Commands\n",
        "Made from the parsers of the commands; `bam COMMAND --help-all` prints the same. In a checkout,"
        " `bam` is `.venv/bin/bam`. Exit status: 0 done, 2 a mistake in what was given (one line on standard"
        " error), 130 and 143 interrupted.\n",
        table(
            ("command", "what it does"),
            (
                (f"[`bam {name}`](#bam-{name.replace(' ', '-')})", plain(command.help))
                for name, command in commands().items()
            ),
        ),
    ]
    for name, command in commands().items():
        parts += [f"## bam {name}\n", plain(command.help[0].upper() + command.help[1:]) + ".\n"]
        parts.append(code(str(import_module(command.module).EXAMPLE), "bash"))
        parts.append(table(("argument", "meaning"), _arguments(parser(name))))
    return {"reference/commands.md": "\n".join(parts)}


def _arguments(parser: argparse.ArgumentParser) -> list[tuple[str, str]]:
    formatter = parser._get_formatter()
    rows = []
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        shown = formatter._format_args(action, _metavar(action)) if action.nargs != 0 else ""
        name = ", ".join(action.option_strings) or _metavar(action)
        words = f"{name} {shown}".strip() if action.option_strings else shown
        needed = " *Required.*" if action.required and action.option_strings else ""
        rows.append((f"`{words}`".replace("|", r"\|"), plain(formatter._expand_help(action)) + needed))
    return rows


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "{" + ",".join(str(choice) for choice in action.choices) + "}"
    return action.dest.upper() if action.option_strings else action.dest
