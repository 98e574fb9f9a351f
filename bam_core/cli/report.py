# SPDX-License-Identifier: Apache-2.0
"""``bam report``: what an identification found, as one page."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from bam_core.atomic_file import require_file

EXAMPLE = "bam report out/xl330"

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("directory", metavar="DIR", help="the --output of 'bam identify'")
    parser.add_argument("--output", metavar="FILE", help="page to write (default: DIR/report.html)")


def run(arguments: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    from bam_core.report import load_results, write_report

    results = load_results(arguments.directory)
    output = Path(arguments.output or Path(arguments.directory) / "report.html")
    require_file(output)
    write_report(results, output)
    if results.without_trajectories:
        log.warning("%s: %s", arguments.directory, results.without_trajectories)
    print(f"wrote {output}")
    return 0
