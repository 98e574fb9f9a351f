# SPDX-License-Identifier: Apache-2.0
"""Arguments of commands that read recordings, and compare servo models with them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

_RECORDINGS = "JSON logs, text files of runs in open loop, bags, or directories that are searched recursively"
_SERVO_FILES = (".yaml", ".yml")


def add_logs(parser: argparse._ActionsContainer, help: str = _RECORDINGS) -> None:
    """Declare ``LOGS``, at least one."""
    parser.add_argument(
        "logs",
        action=Logs,
        nargs="*",
        metavar="LOGS",
        help=help,
    )


def add_strict(parser: argparse._ActionsContainer) -> None:
    """Declare ``--strict``."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help="end at the first recording that cannot be used (default: a warning names each, the results "
        "list it under 'excluded', and the others count)",
    )


def add_params(parser: argparse._ActionsContainer, purpose: str) -> None:
    """Declare ``--params`` of several servo models.

    Args:
        purpose: end of the help's sentence.
    """
    parser.add_argument(
        "--params",
        action=_ServoFiles,
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"servo YAML files or names from 'bam servos'{purpose}",
    )


def add_test(parser: argparse._ActionsContainer, help: str, metavar: tuple[str, str]) -> None:
    """Declare ``--test``: one word, or several where LOGS stand before it."""
    parser.add_argument("--test", action=_Test, nargs="+", metavar=metavar, help=help)


class Logs(argparse.Action):
    """LOGS, also those that follow an option of several words."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        """Add to the LOGS that there are."""
        option = getattr(namespace, "logs_behind", None)
        if values and option is not None:
            parser.error(
                f"LOGS: are in two places, one of them behind {option}; give them before the options"
            )
        namespace.logs = [*(namespace.logs or []), *values]


class _ServoFiles(argparse.Action):
    """Servo files or names; words after the first that exist and are none are LOGS."""

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *__: Any
    ) -> None:
        count = next((i for i, word in enumerate(values) if i and _is_log(word)), len(values))
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *values[:count]])
        namespace.logs = [*(namespace.logs or []), *values[count:]]


class _Test(argparse.Action):
    """A rule, or files; without LOGS before it, words after the first are LOGS."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        if namespace.logs:
            namespace.test = values
            return
        namespace.test, logs = values[:1], values[1:]
        if len(logs) > 1 and Path(values[0]).exists():
            parser.error("--test: has several files; give LOGS before the options")
        if logs:
            namespace.logs, namespace.logs_behind = logs, "--test"


def _is_log(word: str) -> bool:
    path = Path(word)
    if path.suffix in _SERVO_FILES or not path.exists():
        return False
    from bam_core.servo.added import added_names  # most commands need not wait for it
    from bam_core.servo.model import servo_names

    return word not in (*servo_names(), *added_names())  # such as a directory of results called mx64
