# SPDX-License-Identifier: Apache-2.0
"""Answers are converted while the next ones are on the line, where the driver only waits."""

from __future__ import annotations

from collections.abc import Sequence

from bam_ros.dynamixel.block_read import Answers
from bam_ros.dynamixel.servo import DynamixelServo


class Conversion:
    """What servos answered in one exchange, in SI units.

    Args:
        servos: of the bus.

    Attributes:
        measured: id -> what its block holds, None after a restart; and the error byte of its answer.
    """

    def __init__(self, servos: Sequence[DynamixelServo]) -> None:
        self.measured: dict[int, tuple[list[float] | None, int]] = {}
        self._servos = {servo.id: servo for servo in servos}
        self._waiting: Answers = {}

    def put(self, answers: Answers) -> None:
        """Take answers, some of which may have been converted; `run` converts the others."""
        self._waiting |= {servo: answer for servo, answer in answers.items() if servo not in self.measured}

    def run(self) -> None:
        """Convert what was put here since the last call. Never raises."""
        for servo, (data, error) in self._waiting.items():
            self.measured[servo] = self._servos[servo].measured(data), error
        self._waiting.clear()

    def take(self, answers: Answers) -> None:
        """Take answers and convert all that wait. Never raises."""
        self.put(answers)
        self.run()
