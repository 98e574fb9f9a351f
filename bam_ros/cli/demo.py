# SPDX-License-Identifier: Apache-2.0
"""``bam demo``: a virtual servo recorded over its bus, identified and simulated."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from bam_core.errors import NotWritable

EXAMPLE = "bam demo --output demo_output"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from bam_ros.demo.bench import DEMO_BENCHES

    parser.add_argument(
        "--servo",
        choices=tuple(DEMO_BENCHES),
        default="mx106",
        help="mx106, xm430_w350 or sts3215 on a serial bus; erob80_100 on EtherCAT, needs root"
        " (default: %(default)s)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("demo_output"),
        metavar="DIR",
        help="where everything goes (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="which servo is hidden (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo, print the tables, and write bags, servo files, plots and summary.json."""
    from bam_core.files.atomic_file import write_text
    from bam_ros.demo import pipeline, plots, report
    from bam_ros.demo.bench import DEMO_BENCHES
    from bam_ros.node.node_processes import node_processes
    from bam_ros.node.private_domain import private_domain

    bench = DEMO_BENCHES[arguments.servo]
    output = arguments.output.absolute()
    start = time.monotonic()
    set_aside(output)
    with private_domain(), node_processes(output / "logs") as nodes:
        pipeline.start_bench(nodes, bench, output, arguments.seed)
        with pipeline.Session(nodes) as client:
            bags = pipeline.record(client, output)
            identified = pipeline.identify(client, bench, output)
            outcome = pipeline.evaluate(client, bench, bags, identified)
    write_text(output / "summary.json", json.dumps(report.summary(outcome), indent=2) + "\n")
    pictures = plots.draw(outcome, output / "plots")
    print(f"\n{report.text(outcome)}")
    print(f"In {arguments.output}: bags/, identified/ with the servo files, summary.json, and in plots/")
    print(f"{', '.join(picture.name for picture in pictures)}. {time.monotonic() - start:.0f} s.")
    print(*report.verdict_lines(outcome), sep="\n")
    return 0


def set_aside(output: Path) -> None:
    """Make room for a new demo: an earlier one is renamed, never deleted or mixed with this one.

    Raises:
        NotWritable: there is something else.
    """
    if output.exists() and not output.is_dir():
        raise NotWritable(output, "is a file", expected="a directory", advice="choose another --output")
    if not output.exists() or not any(output.iterdir()):
        return
    if not (output / "logs").is_dir():
        raise NotWritable(
            output,
            "holds something else than a demo",
            expected="nothing",
            advice="choose another --output",
        )
    number = 1
    while (older := output.with_name(f"{output.name}.{number}")).exists():
        number += 1
    output.rename(older)
    print(f"The earlier demo is now in {older}")
