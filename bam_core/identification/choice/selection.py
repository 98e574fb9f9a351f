# SPDX-License-Identifier: Apache-2.0
"""The error by which models and effects are chosen: of training logs, by fits that did without them.

A fold (see `data.folds`) leaves logs out; every model is fitted again to the rest, and what it makes of the
logs left out is its error there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bam_core.identification.data.split import Split
from bam_core.identification.fitting import Fit, Fitter, fit_all
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.simulation.rollout import Rollout

STEPS = 5
"""Of a fold's fit at most: Gauss-Newton steps from the fit to all training logs.

Twenty change the errors of an XL330's models by some per cent, not their order, and cost three times as much.
"""


class Selection:
    """Errors of fits on the logs of folds.

    Attributes:
        folds: one at least.
    """

    def __init__(self, folds: Sequence[Split], fitter: Callable[[Split], Fitter]) -> None:
        """Take note of folds.

        Args:
            folds: see `folds.selection_folds`.
            fitter: returns the one that fits to the training logs of a fold.
        """
        self.folds = tuple(folds)
        self._places = [_Place(fold, fitter(fold)) for fold in folds]
        self._known: dict[tuple[object, ...], dict[str, float]] = {}

    def errors(self, fit: Fit) -> Mapping[str, float]:
        """Return the mean absolute position error of every log that some fold leaves out, by name, rad.

        A log that several folds leave out has the mean of its errors.
        """
        self.prepare([fit])
        return self._known[_key(fit)]

    def prepare(self, fits: Sequence[Fit]) -> None:
        """Make the folds' fits for several fits at once: an executor does them side by side."""
        new = [fit for fit in {_key(fit): fit for fit in fits}.values() if _key(fit) not in self._known]
        planned = [place.fitter.plan_descent(fit, STEPS) for fit in new for place in self._places]
        made = iter(fit_all(planned))
        for fit in new:
            errors: dict[str, list[float]] = {}
            for place in self._places:
                for name, error in place.errors(next(made)).items():
                    errors.setdefault(name, []).append(error)
            self._known[_key(fit)] = {name: fmean(each) for name, each in sorted(errors.items())}


@dataclass
class _Place:
    """One fold at work."""

    fold: Split
    fitter: Fitter
    held_out: Rollout = field(init=False)

    def __post_init__(self) -> None:
        self.held_out = Rollout(self.fold.test, firmware=self.fitter.servo.firmware, integrator=INTEGRATOR)

    def errors(self, made: Fit) -> dict[str, float]:
        errors = self.held_out.errors(made.vector)[0].tolist()
        return {log.name: error for log, error in zip(self.fold.test, errors, strict=True)}


def _key(fit: Fit) -> tuple[object, ...]:
    return fit.model.name, fit.effects, fit.vector.tobytes()
