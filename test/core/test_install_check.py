# SPDX-License-Identifier: Apache-2.0
"""Every command that a page prints is run in a clean environment, or has a reason why it is not."""

from __future__ import annotations

import re

import pytest

from test.documented import written

from install_check.documented_commands import commands  # isort: skip

FOUND = list(commands(written()))


def test_commands_that_need_no_hardware_are_run() -> None:
    run = [each for each in FOUND if not each.reason]
    assert len(run) >= 25
    assert {each.text.split()[1] for each in run} >= {"identify", "validate", "design", "report", "servos"}


def test_commands_of_hardware_ros_and_root_are_not_run() -> None:
    needs = re.compile(r"/dev/tty|eth0|\bros2\b|sudo|install/|^make\b|^source\b")
    kept = [each for each in FOUND if needs.search(each.text)]
    assert kept
    assert all(each.reason for each in kept)


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("bam identify logs --output out  # a comment", "bam identify logs --output out --trials 60"),
        (".venv/bin/bam report out", "bam report out"),
        (
            "bam robot design --robot a --seconds 60 --kp 8",
            "bam robot design --robot a --seconds 10 --pieces 20 --kp 8",
        ),
        ("bam robot identify --robot a \\\n    --kp 8", "bam robot identify --robot a --kp 8 --models m1"),
    ],
)
def test_a_command_is_run_as_printed_with_a_short_budget(printed: str, typed: str) -> None:
    (found,) = commands({"page.md": f"text\n```bash\n{printed}\n```\n"})
    assert (found.typed, found.reason, found.line) == (typed, "", 2)


def test_a_line_of_a_shell_block_that_is_no_command_is_refused() -> None:
    with pytest.raises(ValueError, match=r"page\.md:1: 'This is a sentence\.' begins with no program"):
        list(commands({"page.md": "```bash\nThis is a sentence.\n```\n"}))
