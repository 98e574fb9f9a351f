# SPDX-License-Identifier: Apache-2.0
"""What a user mistypes: options, values with units, and the ways to ask for help."""

from __future__ import annotations

import argparse
import re
from importlib import import_module

import pytest

from bam_core.cli import CORE_COMMANDS, Command, main
from bam_ros.cli import ROS_COMMANDS

COMMANDS = tuple({command.name: command for command in (*CORE_COMMANDS, *ROS_COMMANDS)}.values())
PHYSICAL = {
    "--vin": "5V",
    "--mass": "490g",
    "--arm-mass": "36 g",
    "--length": "10cm",
    "--dt": "1ms",
    "--seconds": "60 s",
    "--speed": "100 deg/s",
    "--approach-speed": "20 deg/s",
    "--torque": "50%",
    "--max-torque": "580 oz-in",
    "--clearance": "10 mm",
    "--floor": "-2cm",
    "--error": "20°",
    "--state-timeout": "300ms",
}
"""Option -> a value with a unit."""


def parsed(command: Command, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    import_module(command.module).add_arguments(parser)
    for action in parser._actions:
        action.required = False
    return parser.parse_known_args(words)[0]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_that_is_a_quantity_takes_its_unit(command: Command) -> None:
    parser = argparse.ArgumentParser()
    import_module(command.module).add_arguments(parser)
    for option in PHYSICAL.keys() & parser._option_string_actions.keys():
        value = getattr(parsed(command, [f"{option}={PHYSICAL[option]}"]), option[2:].replace("-", "_"))
        assert isinstance(value, (float, str))
    numbers = {
        option
        for option, action in parser._option_string_actions.items()
        if action.type is float and option not in ("--kp", "--ki", "--kd")
    }
    assert not numbers, "quantities have units: use quantity_in"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["identify", "x", "--modles", "m1"], ("--modles", "--models")),
        (["identify", "x", "--servo", "xl330", "--model=m1"], ("--model", "--models")),
        (["export", "x", "--outptu", "y"], ("--outptu", "--output")),
        (["robot", "identify", "x", "--robt", "y"], ("--robt", "--robot")),
        (["simulate", "--arm_mass", "1"], ("--arm_mass", "--arm-mass")),
        (["simulate", "--supply_voltage", "5"], ("--supply_voltage", "--vin")),
        (["robot", "identify", "x", "--joint-names", "y"], ("--joint-names", "--joints")),
        (["validate", "x", "--servo", "xl330"], ("--servo", "--params")),
        (["robot", "validate", "x", "--servo", "a=xl330"], ("--servo", "--servos")),
    ],
)
def test_a_misspelled_option_is_named_with_the_one_that_was_meant(
    words: list[str], named: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert re.search(rf"{named[0]}\b.*{named[1]}\?", line)


def test_an_unknown_option_like_no_other_is_refused_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["servos", "--zzz"]) == 2
    line = capsys.readouterr().err
    assert "--zzz" in line
    assert "?" not in line


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "--servo", "xl330", "--script", "sin_sin", "--vin", "15X"],
        ["identify", "x", "--seed", "a"],
        ["simulate", "--servo", "xl330", "--script", "sin_sin", "--kp", "x"],
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_what_was_expected(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    line = capsys.readouterr().err
    assert words[-2] in line
    assert repr(words[-1]) in line
    assert "invalid" not in line
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["help"], ["--help"]),
        (["help", "identify"], ["identify", "--help"]),
        (["help", "robot"], ["robot", "--help"]),
        (["robot", "help"], ["robot", "--help"]),
        (["robot", "help", "identify"], ["robot", "identify", "--help"]),
        (["help", "robot", "identify"], ["robot", "identify", "--help"]),
    ],
)
def test_help_is_also_a_word_before_the_command(
    words: list[str], same: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == main(same) == 0
    printed = capsys.readouterr().out
    assert printed[: len(printed) // 2] == printed[len(printed) // 2 :]


def test_help_for_a_misspelled_command_names_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "idntify"]) == 2
    assert "'identify'?" in capsys.readouterr().err


def test_all_that_identify_lacks_is_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "x"]) == 2
    line = capsys.readouterr().err
    assert all(option in line for option in ("--servo", "--models", "--output"))
