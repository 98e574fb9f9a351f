# SPDX-License-Identifier: Apache-2.0
"""Findings about servo files."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, listed


@dataclass(frozen=True, kw_only=True)
class UnfinishedServo(Finding):
    """A servo file that an interrupted identification left.

    Attributes:
        file: its path.
    """

    kind: str = field(default="unfinished_servo", init=False)
    file: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what to do."""
        return (
            f"{self.file}: its identification was interrupted before it had converged.",
            "Identify the servo again before you rely on it.",
        )


@dataclass(frozen=True, kw_only=True)
class GuessedServos(Finding):
    """Servos that are simulated, but were never identified.

    Attributes:
        servos: their names.
    """

    kind: str = field(default="guessed_servos", init=False)
    servos: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, what is not known of them, and what to do."""
        return (
            f"{listed(self.servos)}: from a data sheet, so friction and armature are guesses.",
            "Identify the servo before you rely on this motion.",
        )
