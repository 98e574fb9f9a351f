# SPDX-License-Identifier: Apache-2.0
"""Findings about the result of a robot's identification: errors, bands, what stayed at its prior."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, listed, percent


@dataclass(frozen=True, kw_only=True)
class NoBand(Finding):
    """Runs without a 90 % band.

    Attributes:
        model: name.
        runs: names.
    """

    kind: str = field(default="no_band", init=False)
    model: str
    runs: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, why, and what is not affected."""
        return (
            f"{self.model}: no 90 % band for {listed(self.runs)}.",
            "Hardly any draw of the parameters can be simulated.",
            "Parameters and errors are not affected.",
        )


@dataclass(frozen=True, kw_only=True)
class RobotErrors(Finding):
    """How errors of a robot's runs compare.

    Attributes:
        kind: "no_test_runs", "worse_than_fitted" (test runs), "worse_than_given" (test runs, than with the
            servos given) or "errors_passed_on" (the whole robot, than one joint at a time).
        factor: ratio of the errors; None of "no_test_runs".
    """

    factor: float | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The ratio, and what it means."""
        return {
            "no_test_runs": (
                "All runs were fitted, so errors of other runs are unknown.",
                "Give --test FILES or --test kp=VALUE.",
            ),
            "worse_than_fitted": (
                f"Test runs are followed {self.factor or 0.0:.1f} times worse than fitted ones.",
                "The servos may not carry over to such runs.",
            ),
            "worse_than_given": ("Test runs are followed worse than with the servos given.",),
            "errors_passed_on": (
                f"The whole robot's error is {self.factor or 0.0:.1f} times that of one joint at a time.",
                "Joints or the base pass errors on to other joints.",
                "Look for one that slips.",
            ),
        }[self.kind]


@dataclass(frozen=True, kw_only=True)
class UndeterminedServos(Finding):
    """Servos of which no parameter is determined on its own; `servos` are their names."""

    kind: str = field(default="undetermined_servos", init=False)
    servos: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which."""
        return (f"These runs determine no parameter of {', '.join(self.servos)} on its own.",)


@dataclass(frozen=True, kw_only=True)
class NarrowBands(Finding):
    """Test runs whose 90 % bands hold too few samples.

    Attributes:
        runs: names.
        shares: of their samples.
        total: number of test runs.
    """

    kind: str = field(default="narrow_bands", init=False)
    runs: tuple[str, ...]
    shares: tuple[float, ...]
    total: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many they hold, and what that means."""
        low, high = percent(min(self.shares)), percent(max(self.shares))
        held = low if low == high else f"{low} to {high}"
        where = ", ".join(self.runs) if len(self.runs) <= 3 else f"{len(self.runs)} of {self.total} test runs"
        return (
            f"90 % bands hold only {held} of the samples of {where}.",
            "They are too narrow for such runs.",
        )


@dataclass(frozen=True, kw_only=True)
class PriorOnly(Finding):
    """Parameters that runs do not determine on their own; the tables mark them."""

    kind: str = field(default="prior_only", init=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the mark means, and how to use such values."""
        return (
            "Not determined on its own: the interval is hardly narrower than what was known beforehand.",
            "The value may still have changed, together with others.",
            "Use all values of a servo together.",
            "A single value is not a property of the servo.",
        )
