# SPDX-License-Identifier: Apache-2.0
"""``bam reproduce``: a paper's tables and figures redone, what it says beside what is found here."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bam_core.errors import Unreadable
from bam_core.reproduce import DEVICES, PAPERS, Task, claims_table, reproduce, write_claims, write_page

EXAMPLE = "bam reproduce kikuuwe --output redone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    titles = "; ".join(f"{paper.name}: {paper.title}" for paper in PAPERS.values())
    parser.add_argument("paper", choices=tuple(PAPERS), help=titles)
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="DIR",
        help="directory for plots, page.md and summary.json",
    )
    sources = "; ".join(f"{device}: {source}" for device, source in DEVICES.items())
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="directory with recordings of real devices, one folder each, and where they can be had:"
        f" {sources} (default: what needs them is left out and said)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Redo the paper, print the table, write plots and summary.json."""
    from tqdm import tqdm

    from bam_core.files.atomic_file import require_directory

    require_directory(arguments.output)
    if arguments.data is not None and not arguments.data.is_dir():
        raise Unreadable(
            arguments.data, "is not a directory", expected="a directory with a folder per device"
        )
    if arguments.data is not None and not any((arguments.data / name).is_dir() for name in DEVICES):
        raise Unreadable(
            arguments.data,
            "has no folder with recordings of a device",
            expected=f"one of {', '.join(DEVICES)} in it",
            advice="name the directory above them",
        )
    start = time.monotonic()
    with tqdm(desc=arguments.paper, unit=" steps", disable=None, leave=False) as bar:

        def say(words: str) -> None:
            bar.set_description(f"{arguments.paper}: {words}")
            bar.update()

        redone = reproduce(arguments.paper, Task(output=arguments.output, data=arguments.data, say=say))
    title = PAPERS[arguments.paper].title
    write_claims(redone.claims, arguments.output / "summary.json")
    write_claims(redone.checks, arguments.output / "checks.json")
    write_page(title, redone, arguments.output / "page.md")
    print(f"{title}\n\n{claims_table(redone.claims)}\n")
    if redone.checks:
        print(f"Checks that are no statement of the paper\n\n{claims_table(redone.checks)}\n")
    for exhibit in redone.exhibits:
        if exhibit.extent == "no":
            print(f"Not redone: {exhibit.name}, {exhibit.subject}: {exhibit.remark}")
        elif exhibit.extent == "in part":
            print(f"Redone in part: {exhibit.name}, {exhibit.subject}; missing: {exhibit.missing}")
    held = sum(each.counts for each in redone.claims)
    print(f"{redone.counts()}.\n{held} of {len(redone.claims)} hold. {time.monotonic() - start:.0f} s.")
    pictures = sorted(path.name for path in arguments.output.glob("*.png"))
    print(f"In {arguments.output}: page.md, summary.json, checks.json, {', '.join(pictures)}")
    return 0
