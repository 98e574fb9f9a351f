# SPDX-License-Identifier: Apache-2.0
"""How well a model carries over to configurations that it was not fitted to, each held out in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from bam_core.identification.data.split import Split

EvaluateSplit = Callable[[Split], Mapping[str, float]]
"""From a split to the errors of its held-out logs by name, rad, of a fit to its training logs."""


@dataclass(frozen=True, kw_only=True)
class Fold:
    """One configuration that was held out.

    Attributes:
        split: the logs; its rule names the configuration, as "kp=8".
        per_log: mean absolute position error of every held-out log by name, rad.
    """

    split: Split
    per_log: Mapping[str, float]

    @property
    def mae(self) -> float:
        """Mean over the held-out logs, rad."""
        return fmean(self.per_log.values())


@dataclass(frozen=True, kw_only=True)
class CrossValidation:
    """All folds of one model.

    Attributes:
        folds: one per configuration, two at least.
    """

    folds: tuple[Fold, ...]

    @property
    def per_log(self) -> dict[str, float]:
        """Error of every log from the fold that held it out, by name, rad."""
        return {name: error for fold in self.folds for name, error in fold.per_log.items()}

    @property
    def mae(self) -> float:
        """Mean over all logs, each held out once, rad."""
        return fmean(self.per_log.values())

    @property
    def standard_error(self) -> float:
        """Standard error of `mae`, rad, with configurations as the independent units."""
        logs = [len(fold.per_log) for fold in self.folds]
        share = [count / sum(logs) * len(logs) for count in logs]
        weighted = [fold.mae * each for fold, each in zip(self.folds, share, strict=True)]
        return stdev(weighted) / math.sqrt(len(self.folds))


def cross_validate(
    splits: Sequence[Split], evaluate: EvaluateSplit, *, progress: Callable[[Split], None] | None = None
) -> CrossValidation:
    """Fit to the training logs of every split and evaluate on its held-out logs.

    Args:
        splits: as `split.leave_one_out` returns them.
        evaluate: fits one model; called once per split.
        progress: called before each.
    """
    folds = []
    for split in splits:
        if progress is not None:
            progress(split)
        folds.append(Fold(split=split, per_log=evaluate(split)))
    return CrossValidation(folds=tuple(folds))
