# SPDX-License-Identifier: Apache-2.0
"""The demo shows how far it is, as whole lines where nobody sees a bar."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bam_ros.demo.stage import Stage

LAUNCH = Path(__file__).parents[3] / "launch" / "demo.launch.py"


def test_each_line_is_printed_once_and_ends(capsys: pytest.CaptureFixture[str]) -> None:
    with Stage("recording", 1.0) as stage:
        for done in (0.1, 0.2, 0.9):
            stage.go(done, f"run 1 of 2: {done}", "run 1 of 2", 2.0)
        stage.go(1.0, "run 2 of 2", "run 2 of 2")
        stage.go(1.1, "run 1 of 2", "run 1 of 2")
        stage.end("recorded: 2 runs")
    assert capsys.readouterr().err == "recording\nrun 1 of 2\nrun 2 of 2\nrecorded: 2 runs\n"


def test_launch_gives_the_demo_no_terminal() -> None:
    """Its log has whole lines; of a bar, which rewrites one line, it shows nothing before the end."""
    words = [node.arg for node in ast.walk(ast.parse(LAUNCH.read_text())) if isinstance(node, ast.keyword)]
    assert "emulate_tty" not in words
