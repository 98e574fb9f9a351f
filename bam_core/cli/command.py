# SPDX-License-Identifier: Apache-2.0
"""What ``bam`` does before and after a subcommand runs: choice, help, errors, exit status.

A subcommand is a module with two functions and an example, imported only when it is chosen::

    EXAMPLE = "bam servos xl330"
    FIRST_SCREEN = ("--name",)  # options that --help shows, where not all fit one screen
    def add_arguments(parser: argparse.ArgumentParser) -> None: ...
    def run(arguments: argparse.Namespace) -> int: ...  # exit status; BamError: one line and status 2
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from importlib import import_module
from typing import NamedTuple, TextIO, cast

from bam_core._version import __version__
from bam_core.cli.parser import USER_ERROR, CommandParser
from bam_core.cli.standard_output import StandardOutput
from bam_core.errors import BamError, Conflict, Terminated, UnknownName
from bam_core.simulation.threads import one_blas_thread
from bam_core.text.warning_lines import print_warnings

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
TERMINATED = 143  # 128 + SIGTERM


class Command(NamedTuple):
    """One subcommand."""

    name: str
    """What the user types after ``bam``: one word, or a group and a word."""
    help: str
    """What it does, one line."""
    module: str
    """Where it lives, imported when chosen."""


CORE_COMMANDS: tuple[Command, ...] = (
    Command("servos", "list the servo library, show a servo, or describe a new one", "bam_core.cli.servos"),
    Command("servos add", "add a published servo, verified, under its name", "bam_core.cli.servos_add"),
    Command("servos bundle", "pack a servo file to pass it on", "bam_core.cli.servos_bundle"),
    Command("servos check", "check a servo to contribute on test logs", "bam_core.cli.servos_check"),
    Command("identify", "find a servo's parameters from recordings", "bam_core.cli.identify"),
    Command("validate", "measure how well servo models reproduce recordings", "bam_core.cli.validate"),
    Command("design", "rank what to record next by what a fit would learn", "bam_core.cli.design"),
    Command("robot identify", "find a robot's servos from its own runs", "bam_core.cli.robot.identify"),
    Command(
        "robot validate",
        "measure how well servos on all joints reproduce runs of a robot",
        "bam_core.cli.robot.validate",
    ),
    Command("robot view", "show runs of a robot, and what servos make of them", "bam_core.cli.robot.view"),
    Command("robot design", "plan a motion from which a fit learns most", "bam_core.cli.robot.design"),
    Command("diagram", "draw the drive/backdrive diagram of servo models", "bam_core.cli.diagram"),
    Command("report", "write what an identification found as one HTML page", "bam_core.cli.report"),
    Command("view", "show recordings, and what servo models make of them", "bam_core.cli.view"),
    Command("simulate", "simulate a servo on the bench in MuJoCo", "bam_core.cli.simulate"),
    Command("import", "turn parameters or logs of BAM's program into ours", "bam_core.cli.import_"),
    Command("export", "turn servos or recordings into BAM's JSON or MJCF", "bam_core.cli.export"),
    Command("build-plugin", "compile MuJoCo's engine plugin for another MuJoCo", "bam_core.cli.build_plugin"),
    Command("fleet", "compare units of one servo: differences, outliers, spread", "bam_core.cli.fleet"),
    Command("conform", "compare a port of the servo law with golden cases", "bam_core.cli.conform"),
    Command(
        "check-randomisation",
        "name terms of a randomisation that do nothing",
        "bam_core.cli.check_randomisation",
    ),
    Command("gear", "find the asymmetric friction of a servo's gear", "bam_core.cli.gear"),
    Command("record", "record a session on the bench (ROS 2)", "bam_core.cli.needs_ros"),
    Command("robot record", "play a motion on a whole robot and record it (ROS 2)", "bam_core.cli.needs_ros"),
    Command("demo", "record, identify and simulate a virtual servo (ROS 2)", "bam_core.cli.needs_ros"),
)
"""The commands of an installation without ROS 2; where two have one name, the later one counts."""

_HELP = "help"
"""First word of `bam help COMMAND`, which is `bam COMMAND --help`."""

GROUPS = {"robot": "an assembled robot: identify, validate, view, design, record"}
"""First word of commands of two words -> what they are for."""


def main(argv: Sequence[str] | None = None, commands: Sequence[Command] = CORE_COMMANDS) -> int:
    """Run ``bam``.

    Args:
        argv: arguments after ``bam``, by default those of the process.
        commands: what can be chosen; of commands with the same name the last one is taken.

    Returns:
        Exit status: 0 on success, 2 after a user's mistake (one line on standard error), 130 after Ctrl-C,
        143 where a command ends on SIGTERM as on Ctrl-C.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    print_warnings("bam: %(message)s")
    table = {command.name: command for command in commands}
    chosen = _chosen(argv, table)
    prefix = f"bam {chosen}" if chosen in table else "bam"
    output = StandardOutput(sys.stdout)
    try:
        with redirect_stdout(cast(TextIO, output)):
            return _status(argv, commands)
    except BamError as error:
        _print_line(f"{prefix}: {error}")
        return USER_ERROR
    except KeyboardInterrupt as stop:  # which may say what to do about it
        _print_line(f"\n{prefix}: {stop if stop.args else 'interrupted'}")
        return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        output.discard()
        return 0


def execute(argv: Sequence[str], commands: Sequence[Command] = CORE_COMMANDS) -> int:
    """Run ``bam`` for a Python program: as `main`, but mistakes are raised.

    Raises:
        BamError: a mistake in what was given.
        SystemExit: the words are none that the command takes; or help, after it was printed.
    """
    table = {command.name: command for command in commands}
    argv = _with_help(argv)
    chosen = _chosen(argv, table)
    if chosen is not None and chosen not in table:
        raise UnknownName("command", chosen, table)
    _refuse_robot(table, chosen, argv)
    arguments = _parse(table, chosen, argv)
    with one_blas_thread():
        status: int = arguments.run(arguments)
    if sys.stdout is not None:
        sys.stdout.flush()
    return status


def _status(argv: Sequence[str], commands: Sequence[Command]) -> int:
    try:
        return execute(argv, commands)
    except SystemExit as done:  # argparse, after help or a usage error that it has printed
        sys.stdout.flush()
        return done.code if isinstance(done.code, int) else 0


def _print_line(line: str) -> None:
    """Print on standard error, where that can be."""
    if sys.stderr is not None:  # else print takes standard output
        with suppress(OSError):
            print(line, file=sys.stderr)


def _chosen(argv: Sequence[str], table: Mapping[str, Command]) -> str | None:
    """Return the command's name; None where none is named, which the parser refuses or helps with."""
    words = list(itertools.takewhile(lambda word: not word.startswith("-"), argv))
    if not words:
        return next((word for word in argv if not word.startswith("-")), None)
    if words[0] in GROUPS:
        return " ".join(words[:2]) if words[1:] else None
    if (of_two := " ".join(words[:2])) in table:
        return of_two
    return words[0]


def _with_help(argv: Sequence[str]) -> list[str]:
    """Return ``COMMAND --help`` for ``help COMMAND`` and for ``GROUP help [COMMAND]``."""
    at = 1 if argv and argv[0] in GROUPS else 0
    if argv[at : at + 1] != [_HELP]:
        return list(argv)
    return [*argv[:at], *argv[at + 1 :], "--help"]


def _refuse_robot(table: Mapping[str, Command], chosen: str | None, argv: Sequence[str]) -> None:
    """Refuse the option of a group in a command of a bench, and name the command that has it."""
    for group in GROUPS:
        option, command = f"--{group}", f"{group} {chosen}"
        if command in table and any(word.split("=")[0] == option for word in argv):
            raise Conflict(
                option,
                f"is no option of bam {chosen}",
                expected=f"the command bam {command}",
                advice=f"use bam {command} {option} FILE ...",
            )


def _levels(name: str) -> list[str]:
    """Return a command's group and word. "servos add" is a word: "servos" is a command, not a group."""
    return name.split() if name.split()[0] in GROUPS else [name]


def _parse(table: dict[str, Command], chosen: str | None, argv: Sequence[str]) -> argparse.Namespace:
    """Parse with a parser that knows all names but only the chosen command's arguments."""
    parser = CommandParser(
        prog="bam",
        description="Identify a servo's friction and motor on a pendulum bench.",
        epilog="bam COMMAND --help explains a command and shows an example.",
    )
    parser.add_argument("--version", action="version", version=f"bam_bench {__version__}")
    choices = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    groups: dict[tuple[str, ...], argparse._SubParsersAction[CommandParser]] = {(): choices}
    for name, command in table.items():
        *group, word = _levels(name)
        if tuple(group) not in groups:
            of_group = choices.add_parser(
                *group, help=GROUPS[group[0]], description=f"For {GROUPS[group[0]]}."
            )
            groups[tuple(group)] = of_group.add_subparsers(
                title="commands", metavar="COMMAND", dest="command", required=True
            )
        subparser = groups[tuple(group)].add_parser(
            word,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,  # --servo of one command would be --servos of another
        )
        if name == chosen:
            module = import_module(command.module)
            subparser.epilog = f"example:\n  {module.EXAMPLE}"
            module.add_arguments(subparser)
            subparser.add_help_all(getattr(module, "FIRST_SCREEN", None))
            subparser.set_defaults(command=name, run=module.run, refuse=subparser.refuse)
    if chosen is not None and len(_levels(chosen)) < len(chosen.split()):
        argv = [chosen, *argv[2:]]
    arguments, unknown = parser.parse_known_args(argv)
    if unknown and not getattr(arguments, "accept_unknown", False):
        arguments.refuse(argv, unknown)
    return arguments
