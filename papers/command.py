# SPDX-License-Identifier: Apache-2.0
"""``python -m papers``: a paper's tables and figures redone, what it says beside what is found here."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from bam_core.errors import BamError, Unreadable, printable_line
from bam_core.files.atomic_file import require_directory
from bam_core.simulation.threads import one_blas_thread
from bam_core.text.warning_lines import print_warnings
from papers.claim import claims_table, write_claims
from papers.page import write_page
from papers.paper import PAPERS, reproduce
from papers.redone import DEVICES, Redone, Task

PROGRAM = "python -m papers"
USER_ERROR = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def main(argv: Sequence[str] | None = None) -> int:
    """Redo the paper that is named; write plots, page.md, summary.json and checks.json.

    Args:
        argv: arguments after ``python -m papers``, by default those of the process.

    Returns:
        Exit status: 0 on success, 2 after a user's mistake (one line on standard error), 130 after Ctrl-C.
    """
    print_warnings(f"{PROGRAM}: %(message)s")
    try:
        arguments = _parser().parse_args(argv)
        _check(arguments)
        with one_blas_thread():
            _redo(arguments)
    except BamError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print(f"\n{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except SystemExit as done:  # argparse, after help or a usage error that it has printed
        return done.code if isinstance(done.code, int) else 0
    return 0


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line; usage is what --help shows."""

    def error(self, message: str) -> NoReturn:
        line = printable_line(" ".join(message.split()))
        self.exit(USER_ERROR, f"{self.prog}: error: {line} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        description="Redo a paper's tables and figures.",
        epilog=f"example:\n  {PROGRAM} kikuuwe --output redone",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    titles = "; ".join(f"{paper.name}: {paper.title}" for paper in PAPERS.values())
    parser.add_argument("paper", choices=tuple(PAPERS), help=titles)
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="DIR",
        help="directory for plots, page.md, summary.json and checks.json",
    )
    sources = "; ".join(f"{device}: {source}" for device, source in DEVICES.items())
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="directory with recordings of real devices, one folder each, and where they can be had:"
        f" {sources} (default: what needs them is left out and named)",
    )
    return parser


def _check(arguments: argparse.Namespace) -> None:
    """Refuse places that cannot be written to or read, before the work."""
    require_directory(arguments.output)
    data = arguments.data
    if data is not None and not data.is_dir():
        raise Unreadable(data, "is not a directory", expected="a directory with a folder per device")
    if data is not None and not any((data / name).is_dir() for name in DEVICES):
        raise Unreadable(
            data,
            "has no folder with recordings of a device",
            expected=f"one of {', '.join(DEVICES)} in it",
            advice="name the directory above them",
        )


def _redo(arguments: argparse.Namespace) -> None:
    """Redo the paper, print the table, write what was found."""
    from tqdm import tqdm

    output: Path = arguments.output
    start = time.monotonic()
    with tqdm(desc=arguments.paper, unit=" steps", disable=None, leave=False) as bar:

        def say(words: str) -> None:
            bar.set_description(f"{arguments.paper}: {words}")
            bar.update()

        redone = reproduce(arguments.paper, Task(output=output, data=arguments.data, say=say))
    title = PAPERS[arguments.paper].title
    write_claims(redone.claims, output / "summary.json")
    write_claims(redone.checks, output / "checks.json")
    write_page(title, redone, output / "page.md")
    _print(title, redone)
    files = ["page.md", "summary.json", "checks.json", *sorted(path.name for path in output.glob("*.png"))]
    print(f"In {output}, after {time.monotonic() - start:.0f} s: {', '.join(files)}")


def _print(title: str, redone: Redone) -> None:
    """Print claims and checks as tables, what is not redone, and the counts."""
    print(f"{title}\n\n{claims_table(redone.claims)}\n")
    if redone.checks:
        print(f"Checks that are no statement of the paper\n\n{claims_table(redone.checks)}\n")
    for exhibit in redone.exhibits:
        if exhibit.extent == "no":
            print(f"Not redone: {exhibit.name}, {exhibit.subject}: {exhibit.remark}")
        elif exhibit.extent == "in part":
            print(f"Redone in part: {exhibit.name}, {exhibit.subject}; missing: {exhibit.missing}")
    held = sum(claim.counts for claim in redone.claims)
    print(f"{redone.counts()}.\n{held} of {len(redone.claims)} hold.")
