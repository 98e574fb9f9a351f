# SPDX-License-Identifier: Apache-2.0
"""Findings about the errors of a fit: on test logs, beside training, and of single logs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from bam_core.text.choice_findings import precise
from bam_core.text.finding import Finding, listed, percent

UNEXPLAINED = ("unknown", "load_header", "gain_header")
"""Kinds of misfit with which outliers may have a wrong header."""

TOO_FEW = "too few for an interval"
"""Of fewer test logs than `FEWEST_LOGS`."""

FEWEST_LOGS = 4
"""Logs of which an interval of their mean is given. Over three it reaches 2.5 standard deviations to either
side and hides what the errors are; over four 1.6."""

_MIN_ERROR_RATIO = 2.0  # ratio of errors of the test, or of selection, to those in training that is reported
_WORSE = 5.0  # times the median error; 2 to 3 between scripts and gains
_LEAST_OFF = 0.01  # rad; smaller errors need no explanation
_HARDEST = 2  # logs that are named with their share of the training error
_LEAST_ERROR = 1e-9  # rad; for ratios


def restart_words(restart: float) -> str:
    """Return which errors those of runs in open loop are, whose simulations restart every so many s."""
    return f"in open loop, restarted from measured states every {restart:g} s"


@dataclass(frozen=True, kw_only=True)
class TestError(Finding):
    """The error of the chosen model on logs that no fit and no choice has seen.

    Attributes:
        model: name.
        error: mean absolute position error over the test logs, rad; None without such.
        logs: number of test logs.
        interval: 95 % of the error, rad; None of fewer than two logs.
        rule: that separated the test logs.
        restart: period after which simulations restart, of runs in open loop, s; None otherwise.
        seeds: model and test error, rad, of each seed, where there are several.
    """

    __test__ = False  # it is no class of tests

    kind: str = field(default="test_error", init=False)
    model: str
    error: float | None
    logs: int
    interval: tuple[float, float] | None
    rule: str
    restart: float | None
    seeds: tuple[tuple[str, float], ...] = ()

    @property
    def has_interval(self) -> bool:
        """Whether there are enough logs for an interval."""
        return self.interval is not None and self.logs >= FEWEST_LOGS

    @property
    def sentences(self) -> tuple[str, ...]:
        """The error, its interval or why there is none, other seeds, and restarts."""
        restart = () if self.restart is None else (f"Errors are {restart_words(self.restart)}.",)
        if self.error is None:
            return (
                "No test set: all errors are of logs that were used for the fit or the choice.",
                *restart,
            )
        if self.interval is not None and self.has_interval:
            low, high = self.interval
            over = f"{self.logs} logs, 95 % interval {1e3 * low:.2f} to {precise(high)}"
        else:
            over = "one log" if self.logs == 1 else f"{self.logs} logs, {TOO_FEW}"
        seeds: tuple[str, ...] = ()
        if self.seeds:
            models, errors = zip(*self.seeds, strict=True)
            ends = f"{1e3 * min(errors):.2f} to {precise(max(errors))}"
            seeds = (f"{len(self.seeds)} seeds choose {', '.join(models)}, with test errors of {ends}.",)
        return (
            f"Test error of {self.model}: {precise(self.error)} ({self.rule}: {over}).",
            *seeds,
            *restart,
        )


@dataclass(frozen=True, kw_only=True)
class ShortErrors(Finding):
    """Errors of simulations that restart from measured states.

    Attributes:
        errors: period of the restarts, s, and mean absolute position error, rad.
    """

    kind: str = field(default="short_errors", init=False)
    errors: tuple[tuple[float, float], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Each period with its error."""
        errors = ", ".join(f"every {period:g} s: {precise(error)}" for period, error in self.errors)
        return (f"Restarted from measured states {errors}.",)


@dataclass(frozen=True, kw_only=True)
class ErrorsDiffer(Finding):
    """Errors of the test, or of selection, that differ much from those in training.

    Attributes:
        kind: "worse_than_training" or "better_than_training".
        compared: "test" or "selection".
        factor: ratio of the errors, above one.
        hardest: logs with the largest shares of the training error, where the others are better: name and
            share.
    """

    compared: str
    factor: float
    hardest: tuple[tuple[str, float], ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """By how much, and what to expect."""
        who = "Test logs" if self.compared == "test" else "Logs held out in selection"
        side = "worse" if self.kind == "worse_than_training" else "better"
        first = f"{who} are followed {self.factor:.1f} times {side} than training logs."
        if side == "worse":
            return (first, "The model may not carry over to their configuration.")
        shares = " and ".join(f"{name} ({percent(share)})" for name, share in self.hardest)
        return (
            first,
            "They lack what makes others hard, so expect errors as in training.",
            *((f"Largest shares of the training error: {shares}.",) if shares else ()),
        )


@dataclass(frozen=True, kw_only=True)
class Outliers(Finding):
    """Logs that a model follows far worse than the others.

    Attributes:
        logs: names.
        factor: largest error over the median error.
        share: of the training error; 0 where none of them is a training log.
        is_explained: the misfit has a named cause.
    """

    kind: str = field(default="outliers", init=False)
    logs: tuple[str, ...]
    factor: float
    share: float
    is_explained: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, how far, and what may be the reason."""
        most = "" if len(self.logs) == 1 else "up to "
        first = f"{listed(self.logs)}: followed {most}{self.factor:.0f} times worse than the median log."
        share = (f"That is {percent(self.share)} of the training error.",) if self.share else ()
        if self.is_explained:
            return (first, *share)
        headers = "its header" if len(self.logs) == 1 else "their headers"
        return (
            first,
            *share,
            "Look at the motion with bam view.",
            f"A wrong mass, length, kp or supply in {headers} leads to that.",
            "So does an arm that nearly sticks.",
        )


def error_difference(
    error: float, training: Mapping[str, float], test: float, selection: float = math.nan
) -> ErrorsDiffer | None:
    """Return whether a test is far worse or far better than training.

    Args:
        error: mean over training logs, rad.
        training: error of each of them by its name, rad; empty where unknown.
        test: mean error of the test logs, rad; NaN without such.
        selection: mean error in selection, rad, which is compared where there is no test; NaN where there is
            none.
    """
    is_test = math.isfinite(test)
    compared, unseen = ("test", test) if is_test else ("selection", selection)
    if unseen > _MIN_ERROR_RATIO * error:
        factor = unseen / max(error, _LEAST_ERROR)
        return ErrorsDiffer(kind="worse_than_training", compared=compared, factor=factor)
    if not is_test or _MIN_ERROR_RATIO * test > error:
        return None
    total = max(sum(training.values()), _LEAST_ERROR)
    worst = sorted(training, key=lambda name: training[name], reverse=True)[:_HARDEST]
    return ErrorsDiffer(
        kind="better_than_training",
        compared=compared,
        factor=error / max(test, _LEAST_ERROR),
        hardest=tuple((name, training[name] / total) for name in worst),
    )


def outliers(
    errors: Mapping[str, float], training: Mapping[str, float], *, explained: bool
) -> Outliers | None:
    """Return which logs a model follows far worse than the others.

    Args:
        errors: of each log by its name, rad.
        training: those of training logs.
        explained: the misfit has a named cause.
    """
    median = statistics.median(errors.values()) if errors else math.nan
    limit = max(_WORSE * median, _LEAST_OFF)
    outlying = {name: error for name, error in errors.items() if error > limit}
    if not outlying:
        return None
    share = sum(outlying[name] for name in outlying if name in training)
    return Outliers(
        logs=tuple(outlying),
        factor=max(outlying.values()) / max(median, _LEAST_ERROR),
        share=share / sum(training.values()) if share else 0.0,
        is_explained=explained,
    )


@dataclass(frozen=True, kw_only=True)
class OpenLoopErrors(Finding):
    """Errors of runs in open loop, whose simulation restarts every `restart` s from measured states."""

    kind: str = field(default="open_loop_errors", init=False)
    restart: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """That errors are over pieces."""
        return (
            "Runs in open loop.",
            f"Errors and bands are over pieces of {self.restart:g} s, which restart from measured states.",
        )
