# SPDX-License-Identifier: Apache-2.0
"""Findings about parameters that recordings do not determine, and which recording would help."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, count, percent

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
            "missing_physics" (most of its interval), "outside_interval" (the value is), "late_stamps" (of a
            negative delay), or "measured" (from voltage and current).
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
            "missing_physics": ("Uncertainty comes mostly from model error.",),
            "outside_interval": (
                "Finer steps of the simulation, or a longer search, would lead into the interval.",
            ),
            "late_stamps": (),
            "measured": ("From measured duty, supply and current.",),
        }[self.kind]
        advice = () if self.advice is None else self.advice.sentences
        late = ("Below zero means that commands are stamped late, or positions early.",)
        return (*why, *advice, *(late if self.is_late_stamped else ()))


@dataclass(frozen=True, kw_only=True)
class IntervalMethod(Finding):
    """How intervals of parameters are computed.

    Attributes:
        logs: number of logs in the bootstrap.
        level: of the intervals, such as 0.95.
        follows_valley: intervals are longer where the error stays low along a bent valley.
        allows_for_bench: they allow for tolerances of the bench.
        allows_for_model: they allow for what parameters change with short windows and with the cause found.
        has_prior: they combine the logs with a prior of units.
    """

    kind: str = field(default="interval_method", init=False)
    logs: int
    level: float
    follows_valley: bool = False
    allows_for_bench: bool = False
    allows_for_model: bool = False
    has_prior: bool = False

    @property
    def degrees_of_freedom(self) -> int:
        """Of Student's t: one less than logs, at least 1."""
        return max(self.logs - 1, 1)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The covariance, the distribution, and what is allowed for."""
        bent = "They follow the bent valley while the error does not rise (profile likelihood)."
        model = "They allow for the change of parameters with short windows, and with the cause identified."
        degrees = self.degrees_of_freedom
        prior = "The prior of the servo type counts beside the logs."
        student = f"{percent(self.level)} intervals: Student's t with {degrees} degrees of freedom."
        return (
            "Jacobian at the optimum.",
            f"Block bootstrap over {count(self.logs, 'log')} in closed form, scores corrected for leverage.",
            "The centre is where finer steps and the rest of the search would lead.",
            *((prior, f"{percent(self.level)} intervals: normal.") if self.has_prior else (student,)),
            *((bent,) if self.follows_valley else ()),
            *(("They allow for tolerances of the bench.",) if self.allows_for_bench else ()),
            *((model,) if self.allows_for_model else ()),
        )
