# SPDX-License-Identifier: Apache-2.0
"""What `bam servos check` finds: criteria of a servo that somebody contributes, and the verdict on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bam_core.text.error_findings import FEWEST_LOGS
from bam_core.text.finding import Finding, mrad, percent
from bam_core.text.verdict_words import GREEN_SHARE, LEAST_HELD

LARGEST_CRPS = 1.0
"""Of the draws, as a share of the mean absolute error. The CRPS of a single prediction is its absolute error
(Gneiting and Raftery 2007, section 4.2), so draws above it predict worse than the servo alone."""

LARGEST_DIFFERENCE = 1.2e-3
"""Between the positions of MuJoCo and of the compiled kernel, rad, mean of a run. It is what steps of 1 ms
cost where an arm falls freely; encoder counts of 4096 per turn are 1.5 mrad."""

LIMITS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        "split": ("at most", 0),
        "logs": ("at least", FEWEST_LOGS),
        "servo": ("at most", 0),
        "test_error": ("at most", GREEN_SHARE),
        "bands": ("at least", LEAST_HELD),
        "draws": ("at most", LARGEST_CRPS),
        "conformance": ("at most", LARGEST_DIFFERENCE),
    }
)
"""Criterion -> its threshold, and on which side of it a servo passes."""

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "split": "training logs among the logs",
        "logs": "number of logs",
        "servo": "logs of another servo or control law",
        "test_error": "test error as a share of the motion",
        "bands": "samples in the 90 % bands",
        "draws": "CRPS of the draws as a share of the error",
        "conformance": "difference between MuJoCo and kernel",
    }
)


@dataclass(frozen=True, kw_only=True)
class Criterion(Finding):
    """One criterion.

    Attributes:
        kind: of LIMITS.
        value: what was measured, SI units and shares; None where it cannot be, and the criterion is missed.
    """

    value: float | None

    @property
    def passed(self) -> bool:
        """Whether the servo passes."""
        side, limit = LIMITS[self.kind]
        if self.value is None:
            return False
        return self.value <= limit if side == "at most" else self.value >= limit

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was measured, with the threshold."""
        side, limit = LIMITS[self.kind]
        value = "unknown" if self.value is None else self._shown(self.value)
        return (f"{_WORDS[self.kind].capitalize()}: {value} ({side} {self._shown(limit)}).",)

    def summary(self) -> dict[str, object]:
        """Return the entry in the JSON file."""
        return {**super().summary(), "limit": LIMITS[self.kind][1], "passed": self.passed}

    def _shown(self, value: float) -> str:
        if self.kind == "conformance":
            return mrad(value)
        if self.kind in ("test_error", "bands"):
            return percent(value) if self.kind == "bands" else f"{100.0 * value:.1f} %"
        return f"{value:.2g}"


@dataclass(frozen=True, kw_only=True)
class ContributionVerdict(Finding):
    """Whether a servo can be contributed.

    Attributes:
        kind: "accepted" or "refused".
        servo: its name.
        criteria: how many there are.
        missed: kinds of those that it misses.
    """

    servo: str
    criteria: int
    missed: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict."""
        if not self.missed:
            return (f"{self.servo} meets all {self.criteria} criteria.",)
        return (f"{self.servo} misses {len(self.missed)} of {self.criteria}: {', '.join(self.missed)}.",)
