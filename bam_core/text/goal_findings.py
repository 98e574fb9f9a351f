# SPDX-License-Identifier: Apache-2.0
"""Findings about goals and readings of a robot's run that are the same numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, listed


@dataclass(frozen=True, kw_only=True)
class CopiedReadings(Finding):
    """Joints whose readings are their goals, number for number.

    Attributes:
        run: name.
        joints: names.
    """

    kind: str = field(default="copied_readings", init=False)
    run: str
    joints: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what was done."""
        joints = listed(self.joints, most=8)
        return (
            f"{self.run}: readings of {joints} are their goals, number for number.",
            "Nobody measured them, so they are left out.",
        )


@dataclass(frozen=True, kw_only=True)
class RepeatedGoals(Finding):
    """Joints whose readings are their goals of some samples before, number for number.

    Attributes:
        run: name.
        joints: names.
    """

    kind: str = field(default="repeated_goals", init=False)
    run: str
    joints: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what it means."""
        joints = listed(self.joints, most=8)
        return (
            f"{self.run}: readings of {joints} are their goals of some samples before, number for number.",
            "No servo moves like that.",
            "Where the goals are the next readings, record those that were sent.",
        )
