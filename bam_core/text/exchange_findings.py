# SPDX-License-Identifier: Apache-2.0
"""Findings about joints that have each other's names or columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, listed, mrad


@dataclass(frozen=True, kw_only=True)
class ExchangedNames(Finding):
    """Two joints that simulations follow far better with each other's names.

    Attributes:
        joints: names.
        error: of all joints as named, rad.
        other_error: with the two names exchanged, rad.
    """

    kind: str = field(default="exchanged_names", init=False)
    joints: tuple[str, str]
    error: float
    other_error: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both errors, and what to check."""
        return (
            f"{' and '.join(self.joints)} seem to have each other's names.",
            f"With the names exchanged the error is {mrad(self.other_error)}, not {mrad(self.error)}.",
            "Check the map and the names in the recording.",
        )


@dataclass(frozen=True, kw_only=True)
class ExchangedReadings(Finding):
    """Joints whose readings follow the goals of another one.

    Attributes:
        runs: names.
        joints: joint, and in whose column its readings are.
    """

    kind: str = field(default="exchanged_readings", init=False)
    runs: tuple[str, ...]
    joints: tuple[tuple[str, str], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, what was done, and what to check."""
        pairs = listed([f"those of {joint} in {column}" for joint, column in self.joints], most=6)
        is_order = {joint for joint, _ in self.joints} == {column for _, column in self.joints}
        return (
            f"{listed(self.runs)}: readings are in columns of other joints.",
            f"Goals show it: {pairs}.",
            "They were put back." if is_order else "Nothing was put back, as columns are missing.",
            "Correct the order of the recorded columns, or the map.",
            "If goals are exchanged and not readings, correct theirs.",
        )
