# SPDX-License-Identifier: Apache-2.0
"""The table of names in the reference has options, arguments and parameters that exist."""

from __future__ import annotations

import argparse
import re
from importlib import import_module
from pathlib import Path

import pytest
from site_pages.launch_files import launch_files
from site_pages.nodes import NODES

import bam_core
from bam_core.cli import CORE_COMMANDS
from bam_ros.cli import ROS_COMMANDS

PAGE = Path(__file__).parents[3] / "docs/reference/spellings.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and "`" in line
]


def known(place: str) -> set[str]:
    if place == "command":
        names: set[str] = set()
        for command in (*CORE_COMMANDS, *ROS_COMMANDS):
            if command.module != "bam_core.cli.needs_ros":
                parser = argparse.ArgumentParser()
                import_module(command.module).add_arguments(parser)
                names |= set(parser._option_string_actions)
        return names
    if place == "launch":
        return {argument.name for file in launch_files() for argument in file.arguments}
    return {parameter.name for about in NODES for parameter in about.parameters}


@pytest.mark.parametrize(("place", "column"), [("command", 1), ("launch", 2), ("node", 3)])
def test_every_name_in_the_table_exists(place: str, column: int) -> None:
    named = {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[column])}
    assert len(named) > 9
    assert named <= known(place)


def test_types_in_the_table_are_public() -> None:
    types = {name for row in ROWS for name in re.findall(r"`([A-Z]\w+)`", row[4])}
    assert types
    assert all(hasattr(bam_core, name) for name in types)
