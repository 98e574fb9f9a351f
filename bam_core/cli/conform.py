# SPDX-License-Identifier: Apache-2.0
"""``bam conform``: run a port of the servo law through golden cases; name where and why it differs."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.errors import Missing
from bam_core.files.atomic_file import require_file, write_text

if TYPE_CHECKING:
    from bam_core.exchange.conformance import Conformance, GoldenCase

EXAMPLE = "bam conform --against my_port:servo --json conformance.json"

_DIFFERS = 1  # exit status of a port that differs; 2 is for bad input


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Run a port of the servo law through golden cases, and name where and why it differs.\n\n"
        "The port is a function that takes the numbers of a servo and returns an object with\n"
        "reset() and step(step) -> (motor torque, friction torque), N·m. Exit status 1: it differs."
    )
    parser.add_argument(
        "--against", metavar="MODULE:FUNCTION", help="the port; modules of the working directory count"
    )
    parser.add_argument(
        "--precision", choices=("float64", "float32"), default="float64", help="of the port (default float64)"
    )
    parser.add_argument("--json", metavar="FILE", help="write all differences to this file, SI units")
    parser.add_argument(
        "--vectors", metavar="FILE", help="write the golden cases as JSON, for ports in other languages"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare, print, write."""
    from bam_core.exchange.conformance import conformance, load_port
    from bam_core.exchange.conformance.cases import VERSION, golden_cases

    if arguments.against is None and arguments.vectors is None:
        raise Missing("--against", "module:function, a port of the law", advice="name one, or give --vectors")
    for path in (arguments.json, arguments.vectors):
        if path is not None:
            require_file(Path(path))
    if arguments.vectors is not None:
        cases = [_written(case) for case in golden_cases()]
        text = json.dumps({"version": VERSION, "cases": cases}, allow_nan=False)
        write_text(Path(arguments.vectors), text + "\n")
        print(f"wrote {arguments.vectors}")
    if arguments.against is None:
        return 0
    outcome = conformance(load_port(arguments.against), arguments.precision)
    _print(arguments.against, outcome)
    if arguments.json is not None:
        write_text(Path(arguments.json), json.dumps(_summary(outcome), indent=1) + "\n")
        print(f"wrote {arguments.json}")
    return 0 if outcome.conforms else _DIFFERS


def _written(case: GoldenCase) -> dict[str, object]:
    """Return a case as JSON has it; a set-point without a speed limit has null there."""
    servo = {name: None if value == math.inf else value for name, value in asdict(case.servo).items()}
    written = {**asdict(case), "servo": servo}
    return {**written, "resets": sorted(case.resets), "expected": case.expected.tolist()}


def _print(name: str, outcome: Conformance) -> None:
    right = outcome.cases - len(outcome.differences)
    print(
        f"{name}: {right} of {outcome.cases} golden cases agree (largest error {outcome.largest_error:.2g})"
    )
    for difference in outcome.differences:
        print(f"- {difference.sentence}")


def _summary(outcome: Conformance) -> dict[str, object]:
    return {
        "version": outcome.version,
        "cases": outcome.cases,
        "conforms": outcome.conforms,
        "largest_error": outcome.largest_error,
        "differences": [difference.summary() for difference in outcome.differences],
    }
