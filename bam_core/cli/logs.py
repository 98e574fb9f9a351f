# SPDX-License-Identifier: Apache-2.0
"""Arguments of commands that read recordings, and compare servo models with them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

_SERVO_FILES = (".yaml", ".yml")


def add_logs(parser: argparse._ActionsContainer) -> None:
    """Declare ``LOGS``."""
    parser.add_argument(
        "logs",
        nargs="+",
        metavar="LOGS",
        help="JSON logs, text files of runs in open loop, bags, or directories that are searched recursively",
    )


def add_params(parser: argparse._ActionsContainer, purpose: str) -> None:
    """Declare ``--params`` of several servo models.

    Args:
        purpose: end of the help's sentence.
    """
    parser.add_argument(
        "--params",
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"servo YAML files or names from 'bam servos'{purpose}",
    )


def logs_first(words: Sequence[str], option: str = "--params") -> list[str]:
    """Return the words of a command line with LOGS that follow the files of an option before all options.

    An option that takes several words takes LOGS behind them, too.

    Args:
        words: the command's name first.
        option: whose words are servo files or names; others that exist are LOGS.
    """
    if option not in words:
        return list(words)
    begin = words.index(option) + 1
    end = next((i for i, word in enumerate(words) if i >= begin and word.startswith("-")), len(words))
    first = next((i for i in range(begin + 1, end) if _is_log(words[i])), end)
    return [*words[:1], *words[first:end], *words[1:first], *words[end:]]


def _is_log(word: str) -> bool:
    path = Path(word)
    if path.suffix in _SERVO_FILES or not path.exists():
        return False
    from bam_core.servo.model import servo_names  # most commands need not wait for it

    return word not in servo_names()  # such as a directory of results called mx64
