# SPDX-License-Identifier: Apache-2.0
"""Which runs to record next: those of which a fit would learn most, by the Fisher information they add.

The inverse of the covariance is information, to which every run adds its own. A run is worth the decrease of
log det of the covariance (D-optimal design), which counts every halving of any uncertainty alike. Runs are
chosen one after the other, each by what it adds to those before it per second of recording; a change of load
counts as time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.identification.executors import Call, Shared, run_jobs
from bam_core.identification.search.sensitivity import sensitivity
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.uncertainty.candidate_runs import LOAD_CHANGE, CandidateRun
from bam_core.identification.uncertainty.terms import UncertaintyTerms
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout, parameter_vector

ERROR_LIMIT = 2.0
"""rad; where the recorder breaks off a run that is further from its goal."""
POSITION_LIMIT = 2.6
"""rad; where it breaks off a run that swings higher."""

_TYPICAL_RMS = 5e-3  # rad; what a good model leaves over on real recordings
_TYPICAL_SAMPLES = 20.0  # independent ones that a run of 6 s is worth then
_AT_ONCE = 32  # runs simulated together, between two signs of life


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What is known of the free parameters before the next run.

    Attributes:
        vector: (PARAMETERS,) the current model.
        covariance: (n, n) in squared shares of the search range.
        rms: position error that the model leaves over, rad.
        samples: independent samples of that size that a run is worth.
    """

    vector: Array
    covariance: Array
    rms: float = _TYPICAL_RMS
    samples: float = _TYPICAL_SAMPLES

    @classmethod
    def before_any_recording(
        cls, servo: ServoModel, space: SearchSpace, bench_effects: BenchEffects = IDEAL_BENCH
    ) -> Knowledge:
        """Know likely parameters of servo and bench, and of their errors only the bounds of the search."""
        return cls(vector=parameter_vector(servo, bench_effects), covariance=np.eye(space.dimension))

    @classmethod
    def from_terms(cls, terms: UncertaintyTerms) -> Knowledge:
        """Know the information of a fit: its errors and how much a log of its kind is worth."""
        optimum, logs = terms.optimum, len(terms.optimum.counts)
        rms = np.sqrt(np.add.reduceat(optimum.residuals**2, optimum.starts) / optimum.counts)
        typical = max(float(np.median(rms)), 1e-4)
        per_log = np.zeros_like(terms.covariance)
        for start, count in zip(optimum.starts, optimum.counts, strict=True):
            jacobian = optimum.jacobian[start : start + count]
            per_log += jacobian.T @ jacobian / count / typical**2
        # The logs' information is their mean square response times what each is worth.
        known = float(np.trace(terms.scatter @ per_log))
        # Logs of an arm that hardly moves have no information.
        worth = len(per_log) / known if known > 0.0 else np.inf
        return cls(
            vector=optimum.vector,
            covariance=terms.covariance,
            rms=typical,
            samples=float(np.clip(worth, 1.0 / logs, max(optimum.counts))),
        )


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """A run that could be recorded and the information (n, n) it would add."""

    run: CandidateRun
    information: Array


@dataclass(frozen=True, kw_only=True)
class RankedRun:
    """A run in its place in the plan.

    Attributes:
        run: what to record.
        gain: information it adds to the runs before it, bit: each halves one parameter's uncertainty once.
        helps: the parameter whose standard error it shrinks most, as a factor.
        before: (n,) standard errors in shares of the search range before it.
        after: (n,) and after it.
        seconds: that the plan takes up to and with this run, s.
    """

    run: CandidateRun
    gain: float
    helps: str
    before: Array
    after: Array
    seconds: float


def prospects(
    servo: ServoModel,
    runs: Sequence[CandidateRun],
    space: SearchSpace,
    knowledge: Knowledge,
    *,
    progress: Callable[[int], None] | None = None,
    executor: Executor | None = None,
) -> tuple[tuple[Prospect, ...], tuple[str, ...]]:
    """Simulate runs and return what each would add, and a line about each that the recorder would break off.

    Args:
        servo: its firmware and integrator count.
        runs: at least one.
        space: free parameters.
        knowledge: the model to simulate with, and the errors to expect.
        progress: called with the count of runs done since the last call.
        executor: does batches of runs; default this process.
    """
    batches = [runs[first : first + _AT_ONCE] for first in range(0, len(runs), _AT_ONCE)]
    known = (servo, space, knowledge)
    shared = Shared(known)
    parts: Iterable[tuple[int, _Prospects]] = (
        ((index, _prospects(known, batch)) for index, batch in enumerate(batches))
        if executor is None
        else run_jobs(executor, [Call(_prospects, shared, (batch,)) for batch in batches])
    )
    done: dict[int, _Prospects] = {}
    for index, part in parts:
        done[index] = part
        if progress is not None:
            progress(len(batches[index]))
    ordered = [done[index] for index in range(len(batches))]
    candidates = tuple(prospect for simulated, _ in ordered for prospect in simulated)
    return candidates, tuple(line for _, refused in ordered for line in refused)


_Prospects = tuple[list[Prospect], list[str]]


def _prospects(known: tuple[ServoModel, SearchSpace, Knowledge], runs: Sequence[CandidateRun]) -> _Prospects:
    servo, space, knowledge = known
    simulated: list[Prospect] = []
    refused: list[str] = []
    rollout = Rollout.for_servo([run.as_recording(servo) for run in runs], servo)
    answer = sensitivity(rollout, space, knowledge.vector, noise=knowledge.rms)
    for i, (run, positions) in enumerate(zip(runs, rollout.positions(answer.vector), strict=True)):
        if reason := _broken_off(run, positions, rollout.recordings[i].goal_position):
            refused.append(reason)
            continue
        start, count = answer.starts[i], answer.counts[i]
        jacobian = answer.jacobian[start : start + count]
        worth = knowledge.samples / knowledge.rms**2 / count
        simulated.append(Prospect(run=run, information=jacobian.T @ jacobian * worth))
    return simulated, refused


def rank(
    candidates: Sequence[Prospect], space: SearchSpace, knowledge: Knowledge, count: int
) -> list[RankedRun]:
    """Choose up to `count` runs, best first, each once: what a model lacks repeats itself with the run.

    Raises:
        BamError: there is no run to choose from.
    """
    if not candidates:
        raise BadData(
            "runs", "none is left to choose from", expected="at least one", advice="give other loads or gains"
        )
    information: Array = np.asarray(np.linalg.inv(knowledge.covariance))
    left = list(candidates)
    seconds, hung = 0.0, set()
    plan: list[RankedRun] = []
    while left and len(plan) < count:
        gains = np.array([_bits(information, prospect.information) for prospect in left])
        costs = [
            prospect.run.seconds + (0.0 if prospect.run.bench in hung else LOAD_CHANGE) for prospect in left
        ]
        best = int(np.argmax(gains / costs))
        chosen, gain = left.pop(best), float(gains[best])
        before = np.sqrt(np.diag(np.linalg.inv(information)))
        information = information + chosen.information
        after = np.sqrt(np.diag(np.linalg.inv(information)))
        seconds += costs[best]
        hung.add(chosen.run.bench)
        plan.append(
            RankedRun(
                run=chosen.run,
                gain=gain,
                helps=space.axes[int(np.argmin(after / before))].name,
                before=before,
                after=after,
                seconds=seconds,
            )
        )
    return plan


def best_for(index: int, candidates: Sequence[Prospect], knowledge: Knowledge) -> tuple[CandidateRun, float]:
    """Return the run that determines one parameter best, and the standard error it leaves, in shares."""
    information = np.linalg.inv(knowledge.covariance)
    left = [
        math.sqrt(np.linalg.inv(information + prospect.information)[index, index]) for prospect in candidates
    ]
    best = int(np.argmin(left))
    return candidates[best].run, left[best]


def _bits(known: Array, added: Array) -> float:
    before, after = np.linalg.slogdet(known)[1], np.linalg.slogdet(known + added)[1]
    return float(0.5 * (after - before) / math.log(2.0))


def _broken_off(run: CandidateRun, position: Array, goal: Array) -> str:
    """Return why the recorder would break the run off; empty where it would not."""
    time = np.linspace(0.0, run.script.duration, len(position))
    error = np.abs(position - goal)[run.script.torque_enabled(time)]
    highest = np.abs(position).max()
    if error.max() > ERROR_LIMIT:
        return f"{run.label}: the arm would stray {error.max():.3g} rad from its goal; left out"
    if highest > POSITION_LIMIT:
        return f"{run.label}: the arm would swing to {highest:.3g} rad; left out"
    return ""
