# SPDX-License-Identifier: Apache-2.0
"""Findings about the content of a report: what is needed and not determined, and what its directory lacks."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding

SMALL = "Small compared with its search range."
"""Of a parameter whose interval is wide compared with its value, and which may be zero."""

PARTS = {
    "verdict": "verdict",
    "uncertainty": "uncertainties",
    "effects": "effects",
    "choice": "choice",
    "per_log": "errors of logs",
    "runs": "runs",
}
"""Part of a summary -> what it is."""


@dataclass(frozen=True, kw_only=True)
class NeededUndetermined(Finding):
    """Effects without which errors grow, though the logs do not determine them; `effects` are their names."""

    kind: str = field(default="needed_undetermined", init=False)
    effects: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and how both can be."""
        return (
            f"Needed, though these logs do not determine the value: {', '.join(self.effects)}.",
            "Without any one of them, logs held out in selection are followed worse.",
            "With it they are followed alike over a range of values.",
            "Other parameters compensate for it.",
        )


@dataclass(frozen=True, kw_only=True)
class MissingParts(Finding):
    """What an older version did not write; `parts` are keys of `PARTS`."""

    kind: str = field(default="missing_parts", init=False)
    parts: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and how to get them."""
        parts = ", ".join(PARTS[part] for part in self.parts)
        return (
            f"Not in this directory, written by an older version: {parts}.",
            "Run bam identify again for it.",
        )


@dataclass(frozen=True, kw_only=True)
class NoTrajectories(Finding):
    """Why a report has no curves.

    Attributes:
        kind: "missing_trajectories" (no such file) or "other_trajectories" (of other logs or models).
        file: its name.
    """

    file: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is wrong with the file, and how to get the curves back."""
        is_missing = self.kind == "missing_trajectories"
        return (
            f"{self.file} is missing." if is_missing else f"{self.file} is of other logs or models.",
            "Fits and residuals cannot be shown.",
            "Put it back, or run 'bam identify' again.",
        )
