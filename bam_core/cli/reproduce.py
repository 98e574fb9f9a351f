# SPDX-License-Identifier: Apache-2.0
"""``bam reproduce``: a paper's tables and figures redone, what it says beside what is found here."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bam_core.reproduce import PAPERS, claims_table, reproduce, write_claims

EXAMPLE = "bam reproduce kikuuwe --output redone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    titles = "; ".join(f"{paper.name}: {paper.title}" for paper in PAPERS.values())
    parser.add_argument("paper", choices=tuple(PAPERS), help=titles)
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="directory for plots and summary.json"
    )


def run(arguments: argparse.Namespace) -> int:
    """Redo the paper, print the table, write plots and summary.json."""
    from tqdm import tqdm

    from bam_core.atomic_file import require_directory

    require_directory(arguments.output)
    start = time.monotonic()
    with tqdm(desc=arguments.paper, unit=" steps", disable=None, leave=False) as bar:

        def say(words: str) -> None:
            bar.set_description(f"{arguments.paper}: {words}")
            bar.update()

        claims = reproduce(arguments.paper, arguments.output, say)
    write_claims(claims, arguments.output / "summary.json")
    print(PAPERS[arguments.paper].title)
    print()
    print(claims_table(claims))
    held = sum(each.holds for each in claims)
    print(f"\n{held} of {len(claims)} hold. {time.monotonic() - start:.0f} s.")
    pictures = sorted(path.name for path in arguments.output.glob("*.png"))
    print(f"In {arguments.output}: summary.json, {', '.join(pictures)}")
    return 0
