# SPDX-License-Identifier: Apache-2.0
"""The option that names the columns, topics and joints of recordings."""

from __future__ import annotations

import argparse

from bam_core.text.comma_list import comma_list


def add_map(parser: argparse._ActionsContainer) -> None:
    """Declare ``--map``."""
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FILE|NAME|RECORDED=JOINT,...",
        help="what columns, topics and joints of the logs are, as the section map of a bench.yaml (default: "
        "the one above a log): a YAML file, sage_so101, jandi_mx106, or joints, as in "
        "--map 'main_*=*,lift=-lift+0.12'",
    )


def map_words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the words of all ``--map``."""
    return tuple(word for option in arguments.map for word in comma_list(option))
