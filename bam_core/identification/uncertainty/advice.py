# SPDX-License-Identifier: Apache-2.0
"""Which recording would determine a parameter that the recordings at hand do not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bam_core.identification.motor_evidence import has_free_scale
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.uncertainty.candidate_runs import choice_near
from bam_core.identification.uncertainty.design import Knowledge, Prospect, best_for, prospects
from bam_core.identification.uncertainty.terms import UncertaintyTerms
from bam_core.identification.uncertainty.uncertainty import Advise
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.text.uncertainty_findings import RunAdvice

_HELPS = 0.8  # of the standard error: what a run must at least bring it down to


def advisor(servo: ServoModel, recordings: Sequence[Recording], space: SearchSpace) -> Advise:
    """Return what finds the recording that helps most, near those that the lab has made.

    Args:
        servo: with the parameters found.
        recordings: those at hand.
        space: free parameters.
    """

    def advise(terms: UncertaintyTerms, unidentifiable: Sequence[int]) -> list[RunAdvice | None]:
        if any(recording.open_loop for recording in recordings):
            return [RunAdvice(kind="pendulum")] * len(unidentifiable)
        if has_free_scale(recordings):  # there is no load near which to look for others
            return [None] * len(unidentifiable)
        knowledge = Knowledge.from_terms(terms)
        candidates, _ = prospects(servo, choice_near(servo, recordings).runs(), space, knowledge)
        if not candidates:
            return [None] * len(unidentifiable)
        return [_advice(i, candidates, knowledge) for i in unidentifiable]

    return advise


def _advice(index: int, candidates: Sequence[Prospect], knowledge: Knowledge) -> RunAdvice:
    now = math.sqrt(knowledge.covariance[index, index])
    run, then = best_for(index, candidates, knowledge)
    if then > _HELPS * now:
        return RunAdvice(kind="no_run")
    return RunAdvice(kind="record", run=run.label, factor=now / then)
