# SPDX-License-Identifier: Apache-2.0
"""``bam report``: what an identification found, as one page."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from bam_core.files.atomic_file import require_file, write_text

EXAMPLE = "bam report out/xl330"

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "directory", metavar="DIR", help="the --output of 'bam identify', with --robot or without"
    )
    parser.add_argument("--output", metavar="FILE", help="page to write (default: DIR/report.html)")


def run(arguments: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from bam_core.report import is_of_robot, load_results, load_robot_results, render, render_robot

    output = Path(arguments.output or Path(arguments.directory) / "report.html")
    if is_of_robot(arguments.directory):
        of_robot = load_robot_results(arguments.directory)
        page, finding, verdict = render_robot(of_robot), of_robot.without_curves, of_robot.verdict
    else:
        results = load_results(arguments.directory)
        page, finding, verdict = render(results), results.without_trajectories, results.verdict
    require_file(output)
    write_text(output, page)
    if finding is not None:
        log.warning("%s: %s", arguments.directory, finding)
    print(f"wrote {output}")
    if verdict is not None:
        print(f"{verdict.headline}: {verdict.sentence}", *verdict.findings, sep="\n")
        print(f"rule: {verdict.rule}")
    return 0
