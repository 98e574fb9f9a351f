# SPDX-License-Identifier: Apache-2.0
"""Findings about parameters that recordings do not determine, and which recording would help."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.text.finding import Finding

_MOST_FACTOR = 10.0  # beyond that, the prediction depends on what is negligible by now


@dataclass(frozen=True, kw_only=True)
class RunAdvice(Finding):
    """Which further recording would determine a parameter.

    Attributes:
        kind: "record" (this run), "no_run" (none near these set-ups), or "pendulum" (runs in open loop
            cannot).
        run: label of the run; empty where there is none.
        factor: by which it reduces the standard error; 1 where there is no run.
    """

    run: str = ""
    factor: float = 1.0

    @property
    def sentences(self) -> tuple[str, ...]:
        """The run and what it brings."""
        if self.kind == "no_run":
            return ("No single run near these set-ups would help much.",)
        if self.kind == "pendulum":
            return (
                "Record runs on a pendulum, some with torque off.",
                "In open loop, inertia is the only load.",
                "Back-EMF and viscous friction then have the same effect.",
            )
        factor = "more than tenfold" if self.factor >= _MOST_FACTOR else f"by a factor of {self.factor:.1f}"
        return (f"Record {self.run}.", f"That reduces its standard error {factor}.")


@dataclass(frozen=True, kw_only=True)
class ParameterRemark(Finding):
    """Why a parameter is not identifiable, or what is particular about its interval.

    Attributes:
        kind: "trades" (only a combination is determined), "related" (hardly distinguishable), "disagreement"
            (recordings differ by more than noise), "insensitive" (recordings hardly depend on it),
            "missing_physics" (most of its interval), "outside_interval" (the value is), or "late_stamps"
            (of a negative delay).
        parameters: others with which it trades or to which it is related.
        advice: which recording would help; None where that was not looked for, or would not help.
        is_late_stamped: a negative delay is in its interval.
    """

    parameters: tuple[str, ...] = ()
    advice: RunAdvice | None = None
    is_late_stamped: bool = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """Why, what would help, and what a negative delay means."""
        why = {
            "trades": (
                f"Trades with {', '.join(self.parameters)}.",
                "These recordings determine only their combination.",
            ),
            "related": (f"Hardly distinguishable from {' and '.join(self.parameters)} in these recordings.",),
            "disagreement": (
                "The recordings disagree about it by more than their noise.",
                "The model lacks something.",
            ),
            "insensitive": ("These recordings hardly depend on it.",),
            "missing_physics": ("Most of its interval comes from physics that the model lacks.",),
            "outside_interval": (
                "Finer steps of the simulation, or a longer search, would lead into the interval.",
            ),
            "late_stamps": (),
        }[self.kind]
        advice = () if self.advice is None else self.advice.sentences
        late = ("Below zero means that commands are stamped late, or positions early.",)
        return (*why, *advice, *(late if self.is_late_stamped else ()))
