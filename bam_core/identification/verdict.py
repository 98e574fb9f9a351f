# SPDX-License-Identifier: Apache-2.0
"""The verdict on the chosen model: green, yellow or red, computed from what the identification found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.misfit.floor import configuration
from bam_core.identification.uncertainty.estimates import Uncertainty
from bam_core.identification.verdict_form import VerdictForm
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import BenchEffects
from bam_core.text.error_findings import FEWEST_LOGS
from bam_core.text.misfit_findings import UNKNOWN
from bam_core.text.verdict_words import GREEN_SHARE, RED_SHARE, WORSE_RUN, reason_words

REASONS = (
    "failed_search",
    "error_above_motion",
    "unidentifiable",
    "interrupted",
    "no_test",
    "large_error",
    "not_converged",
    "few_tests",
    "no_other_condition",
    "worse_run",
    "at_bound",
    "open_misfit",
)
"""Kinds of reservations, the weightiest first: the first three make a verdict red, the others yellow."""

_BENCH = frozenset(field.name for field in fields(BenchEffects))


@dataclass(frozen=True, kw_only=True)
class Verdict(VerdictForm):
    """Whether to use a servo file, for what, and how far off it will be.

    Attributes:
        test_logs: number of test logs.
        floor: error that measurement alone leaves, rad; None where that was not looked into.
        at_bound: parameters that the end of their search range has stopped.
    """

    test_logs: int
    floor: float | None
    at_bound: tuple[str, ...] = ()

    RED: ClassVar = REASONS[:3]

    @property
    def file(self) -> str:
        """Name of the servo file."""
        return f"{self.model}.yaml"

    def words(self, kind: str) -> str:
        """Return a reservation of REASONS in at most eight words."""
        return reason_words(
            kind,
            share=self.share or 0.0,
            logs=self.test_logs,
            count=len(self.at_bound),
            factor=self.worst,
        )

    def summary(self) -> dict[str, Any]:
        """Return its entry in ``summary.json``; errors in rad."""
        return {
            **super().summary(),
            "test_logs": self.test_logs,
            "floor": self.floor,
            "at_bound": list(self.at_bound),
        }


def verdict(fit: ModelFit, split: Split, *, restart: float | None = None, complete: bool = True) -> Verdict:
    """Return the verdict on a fit.

    Args:
        fit: of the chosen model.
        split: its training and test logs.
        restart: time after which simulations of the test logs restart from the measured state, s; None:
            never.
        complete: whether all models were fitted and effects ablated.
    """
    test, diagnosis = split.test, fit.diagnosis
    motion = fmean(mean_motion(recording, restart) for recording in test) if test else None
    error = fit.test_mae
    share = error / motion if error is not None and motion else 0.0
    at_floor = diagnosis is not None and error is not None and not diagnosis.is_above(error)
    largest = max(fit.per_log.values(), default=0.0)
    applies = {
        "failed_search": fit.failed,
        "error_above_motion": share > RED_SHARE and not at_floor,
        "unidentifiable": not fit.failed and _determines_nothing(fit.uncertainty),
        "interrupted": not complete,
        "no_test": error is None,
        "large_error": GREEN_SHARE < share <= RED_SHARE and not at_floor,
        "not_converged": fit.ended_early,
        "few_tests": 0 < len(test) < FEWEST_LOGS,
        "no_other_condition": bool(test)
        and {configuration(recording) for recording in test}
        <= {configuration(recording) for recording in split.train},
        "worse_run": bool(error)
        and largest > WORSE_RUN * (error or 0.0)
        and (diagnosis is None or diagnosis.is_above(largest)),
        "at_bound": bool(fit.at_bound) and not fit.failed,
        "open_misfit": diagnosis is not None
        and not fit.failed
        and any(finding.kind != UNKNOWN for finding in diagnosis.findings),
    }
    return Verdict(
        model=fit.model,
        test_mae=error,
        test_logs=len(test),
        motion=motion,
        floor=None if diagnosis is None else diagnosis.floor.value,
        new=_new_conditions(split.train, test),
        reasons=tuple(reason for reason in REASONS if applies[reason]),
        at_bound=fit.at_bound,
        worst=largest / error if error else 0.0,
    )


def _determines_nothing(uncertainty: Uncertainty | None) -> bool:
    """Return whether no parameter of the servo is identifiable; what belongs to the bench does not count."""
    if uncertainty is None:
        return False
    return not any(estimate.identifiable for estimate in uncertainty.estimates if estimate.name not in _BENCH)


def mean_motion(recording: Recording, restart: float | None = None) -> float:
    """Return the mean absolute distance from the mean position, rad; of each piece between restarts."""
    position = recording.position
    if restart is None:
        return float(np.mean(np.abs(position - position.mean())))
    piece = ((recording.time - recording.time[0]) // restart).astype(np.intp)
    mean = np.bincount(piece, weights=position) / np.maximum(np.bincount(piece), 1)
    return float(np.mean(np.abs(position - mean[piece])))


def _new_conditions(train: Sequence[Recording], test: Sequence[Recording]) -> tuple[str, ...]:
    """Return in what all test logs differ from all training logs."""
    return tuple(
        name
        for name in ("kp", "load", "supply", "script")
        if test and not _values(name, train) & _values(name, test)
    )


def _values(name: str, recordings: Iterable[Recording]) -> set[object]:
    def of(recording: Recording) -> object:
        bench = recording.bench
        return {
            "kp": recording.kp,
            "load": (bench.mass, bench.arm_mass, bench.length, bench.flywheel),
            "supply": recording.supply_voltage,
            "script": recording.script,
        }[name]

    return set(map(of, recordings))
