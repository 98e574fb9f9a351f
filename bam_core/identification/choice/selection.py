# SPDX-License-Identifier: Apache-2.0
"""Cross-validation errors, by which models and effects are chosen.

Each fold (see `data.folds`) leaves out some training logs. The model is fitted again to the other ones. Its
error is measured on the logs that were left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bam_core.identification.data.split import Split
from bam_core.identification.fitting import Fitter
from bam_core.identification.planned_fit import Fit, fit_all
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.rollout_settings import RolloutSettings

STEPS = 5
"""Largest number of Gauss-Newton steps of a fold's fit, which starts at the fit to all training logs.

With 20, the errors of an XL330's models change by a few per cent, their order stays, and the cost is 3 times
as high.
"""


class Selection:
    """Cross-validation errors of fits; the errors of each fit are computed once.

    Attributes:
        folds: at least one.
    """

    def __init__(self, folds: Sequence[Split], fitter: Callable[[Split], Fitter]) -> None:
        """Make a fitter for each fold; no fit runs yet.

        Args:
            folds: see `folds.selection_folds`.
            fitter: returns the fitter for the training logs of a fold.
        """
        self.folds = tuple(folds)
        self._fold_fitters = [_FoldFitter(fold, fitter(fold)) for fold in folds]
        self._errors_by_fit: dict[tuple[object, ...], dict[str, float]] = {}

    def errors(self, fit: Fit) -> Mapping[str, float]:
        """Return the mean absolute position error, rad, of each left-out log, by name.

        If several folds leave out a log, its error is the mean over these folds.
        """
        self.prepare([fit])
        return self._errors_by_fit[_key(fit)]

    def prepare(self, fits: Sequence[Fit]) -> None:
        """Compute the errors of several fits, with all their folds in parallel (see `fit_all`)."""
        missing = {_key(fit): fit for fit in fits if _key(fit) not in self._errors_by_fit}
        planned = [
            fold_fitter.fitter.plan_descent(fit, STEPS)
            for fit in missing.values()
            for fold_fitter in self._fold_fitters
        ]
        refits = iter(fit_all(planned))
        for key in missing:
            errors: dict[str, list[float]] = {}
            for fold_fitter in self._fold_fitters:
                for name, error in fold_fitter.errors(next(refits)).items():
                    errors.setdefault(name, []).append(error)
            self._errors_by_fit[key] = {name: fmean(values) for name, values in sorted(errors.items())}


@dataclass
class _FoldFitter:
    """Fits to the training logs of one fold, and simulates the logs that it leaves out."""

    fold: Split
    fitter: Fitter
    held_out: Rollout = field(init=False)

    def __post_init__(self) -> None:
        self.held_out = Rollout(
            self.fold.test, self.fitter.servo.firmware, RolloutSettings(integrator=INTEGRATOR)
        )

    def errors(self, fit: Fit) -> dict[str, float]:
        """Return the mean absolute position error, rad, of each left-out log, by name."""
        errors = self.held_out.errors(fit.vector)[0].tolist()
        return {log.name: error for log, error in zip(self.fold.test, errors, strict=True)}


def _key(fit: Fit) -> tuple[object, ...]:
    return fit.model.name, fit.effects, fit.vector.tobytes()
