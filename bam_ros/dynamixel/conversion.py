# SPDX-License-Identifier: Apache-2.0
"""Answers of one read are converted while the next one is on the line, where the driver only waits."""

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
        self._waiting: list[Answers] = []

    def put(self, answers: Answers) -> None:
        """Take answers; `run` converts them."""
        self._waiting.append(answers)

    def run(self) -> None:
        """Convert what was put here since the last call. Never raises."""
        for answers in self._waiting:
            for servo, (data, error) in answers.items():
                self.measured[servo] = self._servos[servo].measured(data), error
        self._waiting.clear()
