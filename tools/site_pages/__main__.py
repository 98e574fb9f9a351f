# SPDX-License-Identifier: Apache-2.0
"""`python -m site_pages DIRECTORY`: what the site is built from, docs/ and the pages made from the code."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from site_pages import (
    api,
    bench_drawing,
    commands,
    example,
    examples,
    explorer,
    fault_cells,
    launch_files,
    nodes,
    papers,
    servo_cards,
    servo_models,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the directory anew."""
    (name,) = sys.argv[1:] if argv is None else argv
    write(Path(name))
    return 0


def write(directory: Path) -> None:
    """Write the sources of the site.

    Args:
        directory: made anew; what it held is lost.
    """
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(DOCS, directory)
    for module in (
        commands,
        nodes,
        launch_files,
        api,
        examples,
        servo_cards,
        servo_models,
        explorer,
        fault_cells,
    ):
        for path, text in module.pages().items():
            file = directory / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    (directory / "pictures" / "bench.svg").write_text(bench_drawing.svg(), encoding="utf-8")
    servo_cards.draw(directory)
    papers.write(directory / "papers")
    (directory / "extra").mkdir()
    shutil.copy(example.made() / example.REPORT, directory / "extra" / "example_report.html")


if __name__ == "__main__":
    sys.exit(main())
