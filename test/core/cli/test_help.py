# SPDX-License-Identifier: Apache-2.0
"""`--help` of every command fits one screen; `--help-all` shows every option."""

from __future__ import annotations

import argparse
from importlib import import_module

import pytest

from bam_core.cli import CORE_COMMANDS, Command, main
from bam_core.cli.parser import brief
from bam_ros.cli import ROS_COMMANDS

SCREEN = 40  # lines
COMMANDS = tuple({command.name: command for command in (*CORE_COMMANDS, *ROS_COMMANDS)}.values())


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def options(command: Command) -> set[str]:
    parser = argparse.ArgumentParser()
    import_module(command.module).add_arguments(parser)
    return set(parser._option_string_actions)


@pytest.mark.parametrize(
    "words", [[], ["robot"], *(command.name.split() for command in COMMANDS)], ids=" ".join
)
def test_help_fits_one_screen(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"], COMMANDS) == 0
    assert len(capsys.readouterr().out.splitlines()) <= SCREEN


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_all_shows_every_option(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.name.split(), "--help-all"], COMMANDS) == 0
    first_words = {
        word.strip(",") for line in capsys.readouterr().out.splitlines() for word in line.split()[:3]
    }
    assert options(command) <= first_words


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_first_screen_has_options_that_exist_and_all_required_ones(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = getattr(import_module(command.module), "FIRST_SCREEN", None)
    if shown is None:
        return
    assert set(shown) <= options(command)
    parser = argparse.ArgumentParser()
    import_module(command.module).add_arguments(parser)
    for action in parser._actions:
        assert not action.required or not action.option_strings or set(action.option_strings) & set(shown)
    assert main([*command.name.split(), "--help"], COMMANDS) == 0
    printed = capsys.readouterr().out
    assert all(f"  {option} " in printed for option in (*shown, "--help-all"))


def test_the_brief_help_ends_before_details() -> None:
    assert brief("friction models; required") == "friction models"
    assert brief("supply, V (default: 12)") == "supply, V"
    assert brief("which logs") == "which logs"
