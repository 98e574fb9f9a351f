# SPDX-License-Identifier: Apache-2.0
"""Findings about the split into training, selection and test."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, count

FEW = {
    "one_training_log": ("One training log: standard errors and intervals need two or more.",),
    "no_selection": (
        "{training}: selection needs {needed} different gains, loads or scripts.",
        "Model and effects are chosen by training error.",
        "A richer model always has a lower training error.",
        "Record another gain or load.",
    ),
    "one_test_log": (
        "One test log: it does not show how far other logs are from it.",
        "An interval needs {needed}.",
        "Keep more logs for the test.",
    ),
    "too_few_for_test": (
        "No test set: {training}, a test by default needs {needed}.",
        "All errors are of logs that were used for the fit or the choice.",
        "Record more, choose some with --test, or give others to bam validate.",
    ),
    "no_test": (
        "No test set: all errors are of logs that were used for the fit or the choice.",
        "Keep some with --test, or give others to bam validate.",
    ),
}
"""Kind -> sentences."""


@dataclass(frozen=True, kw_only=True)
class FewLogs(Finding):
    """Something that needs more logs.

    Attributes:
        kind: "one_training_log", "no_selection", "one_test_log", "too_few_for_test" (by
            default) or "no_test".
        training: number of training logs.
        test: number of test logs.
        needed: number of logs, of training or test, that it needs.
    """

    training: int
    test: int
    needed: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is not known, and which logs would help."""
        training = count(self.training, "training log")
        return tuple(line.format(training=training, needed=self.needed) for line in FEW[self.kind])


@dataclass(frozen=True, kw_only=True)
class InBothSets(Finding):
    """Logs that were given for training and for the test; `logs` are their paths."""

    kind: str = field(default="in_both_sets", init=False)
    logs: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what they are used for."""
        return (f"In LOGS and in --test, used for the test only: {', '.join(self.logs)}.",)


@dataclass(frozen=True, kw_only=True)
class FittedToTest(Finding):
    """A model that was fitted to logs of the test set.

    Attributes:
        model: its name or file.
        seen: number of these logs.
        total: number of logs of the test set.
    """

    kind: str = field(default="fitted_to_test", init=False)
    model: str
    seen: int
    total: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many, and what follows."""
        return (
            f"{self.model} was fitted to {self.seen} of {self.total} test logs.",
            "Its error there is no test error.",
        )


@dataclass(frozen=True, kw_only=True)
class TrainedOn(Finding):
    """Logs of a validation that a model was fitted to.

    Attributes:
        model: its name or file.
        logs: names of these logs.
        total: number of logs of the validation.
    """

    kind: str = field(default="trained_on", init=False)
    model: str
    logs: tuple[str, ...]
    total: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many, and what follows."""
        some = "" if len(self.logs) == self.total else f" ({', '.join(self.logs)})"
        return (
            f"{self.model} was fitted to {len(self.logs)} of these {self.total} logs{some}.",
            "Errors there are training errors.",
        )
