# SPDX-License-Identifier: Apache-2.0
"""Findings about the results of an identification on disk: replaced ones, unfinished ones, missing parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bam_core.text.finding import Finding, count


@dataclass(frozen=True, kw_only=True)
class Replaced(Finding):
    """An identification that another one replaced.

    Attributes:
        directory: of both.
        models: of the earlier one.
        date: of the earlier one; empty where it is unknown.
        files: that were removed, as the later one does not have them; without plots.
        plots: number of plots that were removed likewise.
    """

    kind: str = field(default="replaced", init=False)
    directory: Path
    models: tuple[str, ...]
    date: str = ""
    files: tuple[str, ...] = ()
    plots: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was replaced, and what was removed."""
        date = f" of {self.date}" if self.date else ""
        removed = [*self.files, *((f"plots of {count(self.plots, 'log')}",) if self.plots else ())]
        return (
            f"{self.directory}: the identification{date} is replaced ({', '.join(self.models)}).",
            *((f"Removed, as the new one does not have it: {', '.join(removed)}.",) if removed else ()),
        )


@dataclass(frozen=True, kw_only=True)
class WillReplace(Finding):
    """An identification that another one will replace, as it begins.

    Attributes:
        directory: of both.
        models: of the earlier one.
        date: of the earlier one; empty where it is unknown.
    """

    kind: str = field(default="will_replace", init=False)
    directory: Path
    models: tuple[str, ...]
    date: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is there, when it is replaced, and how to keep it."""
        date = f" of {self.date}" if self.date else ""
        return (
            f"{self.directory} holds an identification{date} ({', '.join(self.models)}).",
            "This one replaces it when it is complete.",
            "To keep it, stop now and give another --output.",
        )


@dataclass(frozen=True, kw_only=True)
class Unfinished(Finding):
    """An identification that was stopped.

    Attributes:
        kind: "interrupted" (by a signal) or "cancelled" (by a client).
        directory: of the output.
        models: that are written.
        not_converged: models of which the best point so far is written.
        without_errors: models of which parameters are written, but no errors.
        not_done: models and parts that are not written.
        error: why nothing could be written; empty where nothing failed.
        resume: option to add before it can resume where it was, empty where it can already; None: no advice.
    """

    directory: Path
    models: tuple[str, ...] = ()
    not_converged: tuple[str, ...] = ()
    without_errors: tuple[str, ...] = ()
    not_done: tuple[str, ...] = ()
    error: str = ""
    resume: str | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is written, what is not done, and how to resume."""
        kept = [
            *self.models,
            *(f"{model} (not converged)" for model in self.not_converged),
            *(f"{model} (without errors)" for model in self.without_errors),
        ]
        written = f"{', '.join(kept)} written to {self.directory}." if kept else "nothing is written."
        advice = () if self.resume is None else ("Give the same command again to resume it.",)
        if self.resume:
            advice = (f"Add {self.resume}, so that an interrupted search can resume.",)
        return (
            f"{self.kind.capitalize()}: {written}",
            *((f"Error: {self.error.rstrip('.')}.",) if self.error else ()),
            *((f"Not done: {', '.join(self.not_done)}.",) if self.not_done else ()),
            *advice,
        )


@dataclass(frozen=True, kw_only=True)
class LeftOutPart(Finding):
    """A part of the output that failed, while all other results are written.

    Attributes:
        part: "bands" or "plots".
        error: why.
    """

    kind: str = field(default="left_out_part", init=False)
    part: str
    error: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which part, and why."""
        return (
            f"No {self.part} are written, because they failed: {self.error.rstrip('.')}.",
            "All other results are written.",
        )
