# SPDX-License-Identifier: Apache-2.0
"""Findings about the search and the parameters of a fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath

from bam_core.text.finding import Finding
from bam_core.text.uncertainty_findings import ParameterRemark

_MOST_IN_FULL = 3  # parameters that are not identifiable, each with its reason


@dataclass(frozen=True, kw_only=True)
class NotConverged(Finding):
    """Searches that did not converge.

    Attributes:
        models: names; empty where only one is in question.
        spent: their trials were used up; otherwise the descents do not agree, and further ones would not
            have been made.
    """

    kind: str = field(default="not_converged", init=False)
    models: tuple[str, ...] = ()
    spent: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        """What ended them, and how to see what it means."""
        who = f"{', '.join(self.models)}: the search" if self.models else "The search"
        change = "Errors and choice may change."
        if self.spent:
            return (
                f"{who} used all its trials before it converged.",
                change,
                "Give more --trials, or see with --seeds 3 by how much.",
            )
        return (
            f"{who} ended with trials left, but its descents do not agree on the lowest error.",
            change,
            "See with --seeds 3 by how much.",
        )


@dataclass(frozen=True, kw_only=True)
class AtBound(Finding):
    """A parameter that the end of its search range has stopped.

    Attributes:
        model: name.
        parameter: name.
        value: of it, SI.
        low: end of the range.
        high: the other end.
        unit: of them; empty where it has none.
    """

    kind: str = field(default="at_bound", init=False)
    model: str
    parameter: str
    value: float
    low: float
    high: float
    unit: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """Value and range."""
        ends = f"{self.low:.4g} to {self.high:.4g} {self.unit}".strip()
        return (
            f"{self.model}, {self.parameter}: {self.value:.4g} is at the end of its search range, {ends}.",
        )


@dataclass(frozen=True, kw_only=True)
class ParameterList(Finding):
    """Parameters that have something in common.

    Attributes:
        kind: "at_bounds" (stopped by the end of their range) or "not_identifiable".
        parameters: names.
    """

    parameters: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What they have in common, and their names."""
        what = {
            "at_bounds": "Stopped by the end of the search range",
            "not_identifiable": "Not determined by these logs",
        }[self.kind]
        return (f"{what}: {', '.join(self.parameters)}.",)


@dataclass(frozen=True, kw_only=True)
class UnobservedBenchErrors(Finding):
    """Errors of the bench that no log reveals.

    Attributes:
        names: of the tolerances.
    """

    kind: str = field(default="unobserved_bench_errors", init=False)
    names: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what follows."""
        return (
            f"No log reveals an error of {', '.join(self.names)}.",
            "Parameters compensate for it.",
            "Intervals include it.",
        )


@dataclass(frozen=True, kw_only=True)
class Unidentifiable(Finding):
    """A parameter that the logs do not determine.

    Attributes:
        model: name.
        parameter: name.
        is_needed: it is an effect without which errors grow.
        remark: why, and what would help; None where that was not looked for.
    """

    kind: str = field(default="unidentifiable", init=False)
    model: str
    parameter: str
    is_needed: bool
    remark: ParameterRemark | None

    @property
    def sentences(self) -> tuple[str, ...]:
        """That it is, and the remark."""
        needed = "needed, but " if self.is_needed else ""
        remark = () if self.remark is None else self.remark.sentences
        return (f"{self.model}, {self.parameter}: {needed}not identifiable.", *remark)


@dataclass(frozen=True, kw_only=True)
class Undetermined(Finding):
    """Many parameters that the logs do not determine, in short; the report has every reason.

    Attributes:
        model: name.
        parameters: all of them.
        needed: those of them that are effects without which errors grow.
        run: the recording that helps most of them; empty where none was found.
        helps: how many it helps.
    """

    kind: str = field(default="undetermined", init=False)
    model: str
    parameters: tuple[str, ...]
    needed: tuple[str, ...] = ()
    run: str = ""
    helps: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many, which, and what would help most."""
        names = f"{len(self.parameters)} parameters of {self.model} are not identifiable"
        advice = f"Record {self.run}: that helps {self.helps} of them most."
        return (
            f"{names}: {', '.join(self.parameters)}.",
            *((f"Needed all the same: {', '.join(self.needed)}.",) if self.needed else ()),
            *((advice,) if self.run else ()),
            "The report has the reason for each.",
        )


def in_short(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with one in place of many about parameters that are not identifiable."""
    findings = tuple(findings)
    many = [finding for finding in findings if isinstance(finding, Unidentifiable)]
    if len(many) <= _MOST_IN_FULL:
        return findings
    advice = [finding.remark.advice for finding in many if finding.remark is not None]
    runs = Counter(run.run for run in advice if run is not None and run.run)
    ((run, helps),) = runs.most_common(1) or [("", 0)]
    short = Undetermined(
        model=many[0].model,
        parameters=tuple(finding.parameter for finding in many),
        needed=tuple(finding.parameter for finding in many if finding.is_needed),
        run=run,
        helps=helps,
    )
    return (*(finding for finding in findings if not isinstance(finding, Unidentifiable)), short)


@dataclass(frozen=True, kw_only=True)
class WidenRange(Finding):
    """How to widen a search range.

    Attributes:
        servo: name or file.
    """

    kind: str = field(default="widen_range", init=False)
    servo: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """The steps."""
        if PurePath(self.servo).suffix:
            return (f"To widen a range: write NAME: [LOW, HIGH] under `search:` in {self.servo}.",)
        return (
            f"To widen a range: bam servos {self.servo} > my_servo.yaml.",
            "Write NAME: [LOW, HIGH] under `search:` there.",
            "Then give --servo my_servo.yaml.",
        )
