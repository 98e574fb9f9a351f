# SPDX-License-Identifier: Apache-2.0
"""``bam check-randomisation``: whether every term of a randomisation changes the motion."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from bam_core.files.atomic_file import require_file, write_text
from bam_core.text.table import format_table

EXAMPLE = "bam check-randomisation sts3215_isaaclab.py --json check.json"

_NO_OP = 1  # exit status where a term does nothing; 2 is for bad input


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Apply each term of a randomisation alone, at both ends of its range, to a pendulum of 3 s in\n"
        "MuJoCo. Print how far the motion changes, and name terms that do nothing.\n"
        "Exit status 1: a term does nothing. Code of files for Playground is run."
    )
    parser.add_argument(
        "config",
        metavar="CONFIG",
        help="FILE.npz of `bam export --draws`, or FILE.py of `--to isaaclab` or `--to playground`",
    )
    parser.add_argument(
        "--servo",
        metavar="SERVO",
        help="what the draws are of: a servo file or library name (default: the name in FILE.npz)",
    )
    parser.add_argument(
        "--to", choices=("mjlab",), help="draws as this program reads them (default: all of them)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the terms to this file, SI units")


def run(arguments: argparse.Namespace) -> int:
    """Check, print, write."""
    from bam_core.exchange.training.randomisation import check_randomisation

    if arguments.json is not None:
        require_file(Path(arguments.json))
    terms = check_randomisation(arguments.config, arguments.servo, target=arguments.to)
    rows = [(term.name, f"{term.low:.5g}", f"{term.high:.5g}", f"{1e3 * term.change:.4g}") for term in terms]
    print(format_table(("term", "low", "high", "change [mrad]"), rows))
    no_ops = [term.no_op for term in terms if term.no_op is not None]
    for no_op in no_ops:
        print(f"- {no_op.sentence}")
    if arguments.json is not None:
        written = [
            {**asdict(term), "no_op": None if term.no_op is None else term.no_op.summary()} for term in terms
        ]
        summary = {"config": arguments.config, "acts": not no_ops, "terms": written}
        write_text(Path(arguments.json), json.dumps(summary, indent=1, allow_nan=False) + "\n")
        print(f"wrote {arguments.json}")
    return _NO_OP if no_ops else 0
