# SPDX-License-Identifier: Apache-2.0
"""Findings of the choice among models and effects: which was taken, and why others were not."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.text.finding import Finding, percent


@dataclass(frozen=True, kw_only=True)
class ModelVerdict(Finding):
    """What became of one model.

    Attributes:
        kind: "only" (no other was fitted), "chosen", "more_complex" (as good as the chosen one, which is
            simpler), "worse_trained" (as good, with a higher training error), or "worse".
        chosen: name of the chosen model.
        best: name of the model with the lowest error.
        is_best: it is this one.
        compared: errors that are compared: of "selection", or of "training" where there is none.
        error: mean absolute position error, rad.
        best_error: the lowest, rad.
        excess: mean difference to the best, log by log, rad.
        tolerance: difference that does not count, rad.
        is_statistical: the tolerance follows from several logs.
        training_error: rad.
        chosen_training_error: of the chosen model, rad.
    """

    chosen: str
    best: str
    is_best: bool
    compared: str
    error: float
    best_error: float
    excess: float
    tolerance: float
    is_statistical: bool
    training_error: float
    chosen_training_error: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The decision, and the errors that it follows from."""
        if self.kind == "only":
            return ("The only model that was fitted.",)
        worse = (
            f"In {self.compared} {precise(self.excess)} worse than {self.best} "
            f"({_pair(self.error, self.best_error)})."
        )
        if self.kind == "worse":
            what = "its standard error over the logs" if self.is_statistical else "what does not count"
            return (worse, f"That is more than {what} ({precise(self.tolerance)}).")
        numbers = (
            () if self.is_best else (worse, f"Differences within {precise(self.tolerance)} are no worse.")
        )
        good = f"lowest {self.compared} error" if self.is_best else f"as good as {self.best}"
        if self.kind == "chosen":
            return (f"Chosen: {good}.", *numbers)
        if self.kind == "more_complex":
            return (f"{good.capitalize()}, but {self.chosen} is simpler.", *numbers)
        trained = _pair(self.training_error, self.chosen_training_error)
        return (f"{good.capitalize()}, but its training error is higher ({trained}).", *numbers)


@dataclass(frozen=True, kw_only=True)
class ChoiceReason(Finding):
    """Why the chosen model was taken.

    Attributes:
        kind: "only", "clearly_best", or "simplest" of those that are as good as the best.
        chosen: name of the model.
        error: its error, rad.
        best: name of the model with the lowest error.
        best_error: rad.
        compared: errors that are compared: of "selection", or of "training" where there is none.
        training_error: of the chosen model, rad, where training errors took part; None otherwise.
        margin: relative difference of training errors that does not count.
        not_done: what an interruption left out.
    """

    chosen: str
    error: float
    best: str
    best_error: float
    compared: str
    training_error: float | None = None
    margin: float
    not_done: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The best model, the chosen one, and what the choice lacks."""
        return (*self._why, *self._lacks)

    @property
    def _why(self) -> tuple[str, ...]:
        if self.kind == "only":
            error = f"{self.compared} error {precise(self.error)}"
            return (f"{self.chosen} is the only model that was fitted ({error}).",)
        lowest = f"{self.best} has the lowest {self.compared} error ({precise(self.best_error)})."
        if self.kind == "clearly_best":
            return (lowest, "No other model comes within one standard error of it, log by log.")
        which = "it" if self.chosen == self.best else f"{self.chosen} ({precise(self.error)})"
        if self.training_error is None:
            trained = "."
        else:
            error, margin = precise(self.training_error), percent(self.margin)
            trained = f" whose training error ({error}) is within {margin} of the lowest."
        return (
            lowest,
            "Models within one standard error of it, log by log, are as good.",
            f"Of these, {which} is the simplest{trained}",
        )

    @property
    def _lacks(self) -> tuple[str, ...]:
        few = ("There are too few logs for selection.",) if self.compared == "training" else ()
        left = (f"Interrupted, not done: {', '.join(self.not_done)}.",) if self.not_done else ()
        return (*few, *left)


@dataclass(frozen=True, kw_only=True)
class AblationVerdict(Finding):
    """Why an effect is kept or not.

    Attributes:
        kind: "needed", "dropped", "within_chance", "requested", "needed_in_training" or "needed_together".
        compared: set of logs whose errors are compared: "selection" or "training".
        chance: standard error of the difference, rad.
    """

    compared: str
    chance: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The decision and the error that it follows from."""
        error = f"the error in {self.compared}"
        return {
            "needed": (f"Needed: {error} grows without it.",),
            "dropped": (f"Dropped: {error} does not grow without it.",),
            "within_chance": (
                f"Kept: {error} grows without it, but within its standard error over the logs "
                f"({precise(self.chance)}).",
            ),
            "requested": (
                "Kept: it was requested, or is the servo's own.",
                f"{error.capitalize()} does not grow without it.",
            ),
            "needed_in_training": (
                "Kept: the error in training grows without it.",
                "That in selection does not.",
            ),
            "needed_together": ("Kept: not needed alone, but the error grows without all such effects.",),
        }[self.kind]


def precise(error: float) -> str:
    """Return an error, rad, in mrad with two decimals."""
    return f"{1e3 * error:.2f} mrad"


def _pair(error: float, reference: float) -> str:
    return f"{1e3 * error:.2f}, not {precise(reference)}"
