# SPDX-License-Identifier: Apache-2.0
"""Arguments of commands that read recordings, and compare servo models with them."""

from __future__ import annotations

import argparse


def add_logs(parser: argparse._ActionsContainer) -> None:
    """Declare ``LOGS``."""
    parser.add_argument(
        "logs",
        nargs="+",
        metavar="LOGS",
        help="JSON logs, text files of runs in open loop, bags, or directories that are searched recursively",
    )


def add_params(parser: argparse._ActionsContainer, purpose: str) -> None:
    """Declare ``--params`` of several servo models.

    Args:
        purpose: end of the help's sentence.
    """
    parser.add_argument(
        "--params",
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"servo YAML files or names from 'bam servos'{purpose}",
    )
