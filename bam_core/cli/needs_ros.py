# SPDX-License-Identifier: Apache-2.0
"""Commands that an installation without ROS 2 knows only by name."""

from __future__ import annotations

import argparse

from bam_core.errors import MissingSoftware

EXAMPLE = "make setup && .venv/bin/bam demo --output demo_output"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept whatever the real command would."""
    parser.set_defaults(accept_unknown=True)


def run(arguments: argparse.Namespace) -> int:
    """Name what is missing.

    Raises:
        MissingSoftware: always.
    """
    raise MissingSoftware(
        f"the command {arguments.command}",
        "ROS 2",
        problem="is not part of an installation without ROS 2 (expected the ROS 2 package bam_bench)",
        advice="run 'make setup' in its checkout and use the .venv/bin/bam that it leaves",
    )
