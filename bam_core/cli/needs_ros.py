# SPDX-License-Identifier: Apache-2.0
"""Commands that an installation without ROS 2 knows only by name."""

from __future__ import annotations

import argparse

from bam_core.errors import BamError

EXAMPLE = "source install/setup.bash && bam demo --output demo_output"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept whatever the real command would."""
    parser.set_defaults(accept_unknown=True)


def run(arguments: argparse.Namespace) -> int:
    """Say what is missing.

    Raises:
        BamError: always.
    """
    raise BamError(
        f"{arguments.command}: needs ROS 2 and this is the installation without it (expected the package "
        f"bam_bench built by 'make setup' or colcon); use the .venv/bin/bam that 'make setup' leaves"
    )
