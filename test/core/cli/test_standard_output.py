# SPDX-License-Identifier: Apache-2.0
"""A standard output that is full or closed ends a command in one line; one that nobody reads, in silence."""

from __future__ import annotations

import errno
import io
import sys
from types import ModuleType

import pytest

from bam_core.cli.command import Command, main
from bam_core.cli.standard_output import StandardOutput
from bam_core.errors import NotWritable
from test.core.refusals import refused

FULL = OSError(errno.ENOSPC, "No space left on device")
GONE = BrokenPipeError(errno.EPIPE, "Broken pipe")


class Lost(io.StringIO):
    """Raises where it is written to, or, with a buffer before it, where that is handed over."""

    def __init__(self, error: OSError, *, buffered: bool) -> None:
        super().__init__()
        self.error, self.buffered = error, buffered

    def write(self, text: str) -> int:
        if not self.buffered:
            raise self.error
        return super().write(text)

    def flush(self) -> None:
        if self.buffered:
            raise self.error


@pytest.fixture
def prints(monkeypatch: pytest.MonkeyPatch) -> tuple[Command, ...]:
    """Give a command that prints."""
    module = ModuleType("prints")

    def run(arguments: object) -> int:
        print("a table")
        return 0

    vars(module).update(EXAMPLE="bam prints", add_arguments=lambda parser: None, run=run)
    monkeypatch.setitem(sys.modules, "prints", module)
    return (Command("prints", "prints", "prints"),)


each_buffer = pytest.mark.parametrize("buffered", [True, False])
each_command = pytest.mark.parametrize("words", [["prints"], ["prints", "--help"], ["--version"]])


@each_buffer
@each_command
def test_a_full_one_is_told_in_one_line(
    prints: tuple[Command, ...],
    words: list[str],
    buffered: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", Lost(FULL, buffered=buffered))
    assert main(words, prints) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "standard output" in error
    assert "No space left" in error


@each_command
def test_a_closed_one_is_told_in_one_line(
    prints: tuple[Command, ...],
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(words, prints) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "standard output: is closed" in error


@each_buffer
@each_command
def test_one_that_nobody_reads_ends_a_command_in_silence(
    prints: tuple[Command, ...],
    words: list[str],
    buffered: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", Lost(GONE, buffered=buffered))
    assert main(words, prints) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("stream", [None, Lost(FULL, buffered=False)])
def test_without_standard_error_the_status_stays(
    stream: io.StringIO | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    assert main(["nothing"]) == 2
    assert capsys.readouterr().out == ""


def test_what_is_printed_is_passed_on() -> None:
    output = StandardOutput(io.StringIO())
    assert output.write("ö") == 1
    assert output.getvalue() == "ö"
    output.flush()
    with refused(NotWritable, path="standard output"):
        StandardOutput(Lost(FULL, buffered=False)).write("a")
