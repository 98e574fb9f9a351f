# SPDX-License-Identifier: Apache-2.0
"""Values of a data sheet for ``bam servos new``: options, or questions in a terminal."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from bam_core.errors import BamError, Missing, OutOfRange
from bam_core.text.quantity import CURRENT, NO_UNIT, SPEED, TIME, TORQUE, VOLTAGE, Units, quantity


class Question(NamedTuple):
    """One value of the data sheet."""

    option: str
    """Its option, without dashes."""
    words: str
    """What it is."""
    units: Units = NO_UNIT
    """In which it may be given."""
    default: str | None = None
    """What an empty answer means; None: there has to be one; empty: the value may be unknown."""

    @property
    def field(self) -> str:
        """Its name in what the options were parsed into."""
        return self.option.replace("-", "_")

    def value(self, text: str) -> float:
        """Read a number, with a unit or without, in SI units.

        Raises:
            WrongType: it is no number, or has another unit.
            OutOfRange: it is not above zero.
        """
        value = quantity(f"--{self.option}", text, self.units)
        if not 0.0 < value < math.inf:
            raise OutOfRange(f"--{self.option}", text, "above zero")
        return value


SHEET = (
    Question("voltage", "supply of the following values [V]", VOLTAGE),
    Question("stall-torque", "stall torque, such as '50 kg.cm' or '4.9' [N·m]", TORQUE),
    Question("stall-current", "stall current [A]", CURRENT),
    Question("no-load-speed", "speed without load, such as '75 rpm' or '0.133 s/60deg' [rad/s]", SPEED),
)
"""Fields of `DataSheet`."""

CONTROLLER = (
    Question("counts-per-turn", "encoder counts per turn of the output shaft", default="4096"),
    Question("factory-kp", "position gain kp that it comes with", default="32"),
    Question("period", "period of its position controller [s]", TIME, default="0.001"),
)
LAWS: Mapping[str, tuple[Question, ...]] = MappingProxyType(
    {
        "voltage": (
            Question(
                "duty-per-kp",
                "duty (1: whole supply) per rad of error and unit of kp; empty: unknown, it is fitted",
                default="",
            ),
            Question("duty-limit", "largest duty, 1 is the whole supply", default="1"),
        ),
        "current": (
            Question("current-limit", "largest current [A]", CURRENT),
            Question(
                "amps-per-kp", "A per rad of error and unit of kp; empty: unknown, it is fitted", default=""
            ),
            Question("damping", "damping [A·s/rad per root of the gain in A/rad]; empty: none", default=""),
        ),
    }
)
"""Fields of the firmware, those that all laws have and those of one."""


def answers(questions: Iterable[Question], arguments: argparse.Namespace) -> dict[str, float]:
    """Return the values of options, or of what is typed; what is unknown is left out."""
    values = {question.field: _answer(question, arguments) for question in questions}
    return {field: value for field, value in values.items() if value is not None}


def _answer(question: Question, arguments: argparse.Namespace) -> float | None:
    text: str | None = getattr(arguments, question.field)
    if text is None and sys.stdin.isatty():
        return _typed(question)
    text = question.default if text is None else text
    if text is None:
        raise Missing(
            f"--{question.option}",
            question.words,
            advice="give it, or run this in a terminal to be asked",
        )
    return question.value(text) if text else None


def _typed(question: Question) -> float | None:
    hint = f" ({question.default})" if question.default else ""
    while True:
        try:
            text = input(f"{question.words}{hint}: ").strip() or question.default
        except EOFError:
            raise Missing(
                f"answer to --{question.option}", question.words, advice="answer, or give the option"
            ) from None
        if text == "":
            return None
        try:
            return question.value(text or "")
        except BamError as error:
            print(error, file=sys.stderr)
