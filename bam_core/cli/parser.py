# SPDX-License-Identifier: Apache-2.0
"""The parser of a command: its mistakes, its help of one screen, and its complete help."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

from bam_core.cli.logs import Logs
from bam_core.errors import close_name, printable_line

USER_ERROR = 2

_ELSEWHERE = {
    "--supply-voltage": "--vin",
    "--supply": "--vin",
    "--voltage": "--vin",
    "--joint-names": "--joints",
    "--timestep": "--dt",
    "--step": "--dt",
    "--gain": "--kp",
    "--servo": "--params",
    "--model-file": "--robot",
    "--urdf": "--robot",
    "--out": "--output",
    "--dir": "--output",
}
"""Names of the same things in nodes, Python and files, or in other programs -> the option."""


class CommandParser(argparse.ArgumentParser):
    """Parser of one command: mistakes in one line, help of one screen, and all of it with `--help-all`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._words: tuple[str, ...] = ()
        self.register("type", int, _whole_number)
        self.register("type", float, _number)

    _first_screen: frozenset[str] | None = None
    """Options that --help shows, briefly; None: all of them, in full."""

    def add_help_all(self, first_screen: Collection[str] | None) -> None:
        """Declare ``--help-all``, and which options ``--help`` shows; None for all of them."""
        self.add_argument(
            "--help-all", action=_HelpAll, nargs=0, help="show every option, with all that it does"
        )
        self._first_screen = (
            None if first_screen is None else frozenset((*first_screen, "--help", "--help-all"))
        )

    def parse_known_args(self, args: Any = None, *more: Any, **options: Any) -> Any:
        """Parse, and require LOGS, which may also come from behind an option."""
        self._words = tuple(args or ())
        namespace, unknown = super().parse_known_args(args, *more, **options)
        if any(isinstance(action, Logs) for action in self._actions) and not namespace.logs:
            self.error("the following arguments are required: LOGS")
        return namespace, unknown

    def format_help(self) -> str:
        """Return what ``--help`` prints."""
        if self._first_screen is None:
            return super().format_help()
        complete = [(action, action.help) for action in self._actions]
        try:
            for action, text in complete:
                shown = not action.option_strings or self._first_screen.intersection(action.option_strings)
                action.help = brief(text or "") if shown else argparse.SUPPRESS
            return super().format_help()
        finally:
            for action, text in complete:
                action.help = text

    def format_help_all(self) -> str:
        """Return what ``--help-all`` prints."""
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """End with the mistake in one line; usage is what --help shows.

        A misspelled option is named first: what argparse misses may be what it should have given.
        """
        slip = next(filter(None, map(self._slip, self._words)), None)
        line = printable_line(" ".join((slip or message.removeprefix("argument ")).split()))
        self.exit(USER_ERROR, f"{self.prog}: error: {line} (see {self.prog} --help)\n")

    def refuse(self, argv: Sequence[str], unknown: Sequence[str]) -> NoReturn:
        """End because of words that no argument takes."""
        first = unknown[0]
        before = list(argv[: argv.index(first)]) if first in argv else []
        option = next((word for word in reversed(before) if word.startswith("--")), "")
        action = self._option_string_actions.get(option)
        cure = ""
        if action is not None and isinstance(action.metavar, str) and "," in action.metavar:
            together = ",".join([*before[before.index(option) + 1 :], *unknown])
            cure = f"; {option} takes them with commas between: {option} {together}"
        self.error(f"unrecognized arguments: {' '.join(unknown)}{cure}")

    def _slip(self, word: str) -> str | None:
        """Return what is wrong with a word that looks like an option and is none; None where it is right."""
        name = word.split("=")[0]
        known = self._option_string_actions
        if not re.fullmatch("--[a-z][a-z_-]*", name) or name in known:
            return None
        name_here = name.replace("_", "-")
        elsewhere = _ELSEWHERE.get(name_here)
        if elsewhere in known and f"{name_here}s" not in known:  # --servo is closer to --servos
            return f"{name}: unknown; did you mean {elsewhere}?"
        close = close_name(name_here, [option for option in known if option.startswith("--")])
        return f"{name}: unknown; did you mean {close}?" if close else None


class _HelpAll(argparse.Action):
    """Prints the complete help and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        assert isinstance(parser, CommandParser)
        sys.stdout.write(parser.format_help_all())
        parser.exit()


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"is {text!r} (expected a whole number)") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"is {text!r} (expected a number)") from None


def brief(text: str) -> str:
    """Return a help text up to its first detail: a semicolon, a colon or a bracket."""
    return re.split(r"; |: | \(", text, maxsplit=1)[0]
