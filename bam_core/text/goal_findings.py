# SPDX-License-Identifier: Apache-2.0
"""Findings about goals and readings of a robot's run that are the same numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, listed


@dataclass(frozen=True, kw_only=True)
class SameNumbers(Finding):
    """Joints of a run whose goals and readings are the same numbers.

    Attributes:
        run: name.
        joints: names.
    """

    run: str
    joints: tuple[str, ...]

    @property
    def _readings(self) -> str:
        return f"{self.run}: readings of {listed(self.joints, most=8)}"


@dataclass(frozen=True, kw_only=True)
class CopiedReadings(SameNumbers):
    """Joints whose readings are their goals, number for number."""

    kind: str = field(default="copied_readings", init=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what was done."""
        return (
            f"{self._readings} are their goals, number for number.",
            "Nobody measured them, so they are left out.",
        )


@dataclass(frozen=True, kw_only=True)
class RepeatedGoals(SameNumbers):
    """Joints whose readings are their goals of some samples before, number for number."""

    kind: str = field(default="repeated_goals", init=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what it means."""
        return (
            f"{self._readings} are their goals of some samples before, number for number.",
            "No servo moves like that.",
            "Where the goals are the next readings, record those that were sent.",
        )
