# SPDX-License-Identifier: Apache-2.0
"""``bam servos`` with `--models`: which models the node `dynamixel` drives, also those of one's own file."""

from __future__ import annotations

import argparse
from pathlib import Path

from bam_core.cli import servos as library
from bam_core.errors import Conflict
from bam_core.text.table import format_table

EXAMPLE = library.EXAMPLE
FIRST_SCREEN = (*library.FIRST_SCREEN, "--models")

_ALL = ""  # where no file is given


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    library.add_arguments(parser)
    parser.add_argument(
        "--models",
        nargs="?",
        const=_ALL,
        metavar="FILE",
        help="list the models that the node dynamixel drives, or those of your FILE of control tables",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the models, or do what `bam servos` does without ROS."""
    if arguments.models is None:
        return library.run(arguments)
    if arguments.servo is not None:
        raise Conflict(
            arguments.servo, "is one argument too many", expected="--models alone", advice="leave it out"
        )
    from bam_ros.dynamixel.control_table import CONTROL_TABLES

    tables = CONTROL_TABLES
    if arguments.models != _ALL:
        tables = CONTROL_TABLES.with_file(Path(arguments.models))
    names = [name for name in tables if arguments.models == _ALL or name not in CONTROL_TABLES]
    rows = []
    for name in names:
        table = tables[name]
        law = table.position_firmware or f"not modelled: {table.law}"
        rows.append((name, table.title, f"{table.protocol}.0", str(table.model_number), law))
    print(format_table(("name", "title", "protocol", "model number", "control law"), rows))
    print(
        "models that are missing: describe them in a YAML file (docs/reference/control_tables.md),"
        " and set the parameter models of the node to it"
    )
    return 0
