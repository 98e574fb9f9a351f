# SPDX-License-Identifier: Apache-2.0
"""Joints whose readings are later than those of the others: simulations show it, and by how much.

A simulated joint that is read L later fits best at t + L. Friction that differs from the model's looks alike
in slow motions, so only samples in motion count, and offset, direction of motion and acceleration are fitted
beside: what they explain is no lateness. All joints may be late together: that is the delay of a fit.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.gaps import sample_gaps
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.validation import errors_of, simulate_runs
from bam_core.servo.model import ServoModel
from bam_core.text.finding import log_findings
from bam_core.text.robot_run_findings import LateJoint

log = logging.getLogger(__name__)

_STEP = 0.005  # s
_LAGS = np.arange(-20, 201) * _STEP  # s; a reading that is ahead shows a model that is too slow
_NONE = 20  # index of no lateness
_MOVES = 0.2  # rad/s; slower, friction counts more than time
_LEAST_MOTION = 1.0  # s of a run
_SMOOTH = 9  # samples, short against motions and long against counts
_INDEPENDENT = 5.0  # 1/s; errors of simulations of a real arm are alike for 0.2 s
_SURE = 45.0
"""Gain of log-likelihood. In 24 runs of a real SO-101, together or in groups of four, no joint that is 15 ms
or more beside the others comes above 37. With readings 30 ms late, joints reach 180 to 820 in all 24."""
_LEAST = 0.015  # s beside the others of its kind, where these are within 10 ms
_NO_SERVO = 0.15  # s; by so much no servo is slower than its model
_LONGEST = 60.0  # s of a run that are simulated
_BETTER = 0.97  # of the error, which readings at their times must come below


@dataclass(frozen=True, kw_only=True)
class _Evidence:
    """Log-likelihoods (lags,) of a joint in one run."""

    run: str
    fit: Array


def with_true_times(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    types: Mapping[str, str],
    deviations: RobotDeviations = NO_DEVIATIONS,
) -> list[RobotRun]:
    """Return runs whose late joints are at their times, and log which ones are; see `late_joints`.

    Raises:
        BamError: a run cannot be simulated.
    """
    begins = [run.beginning(_LONGEST) for run in runs]
    findings = late_joints(begins, simulate_runs(bench, begins, servos, deviations), joints, types)
    log_findings(log, findings)
    return without_lateness(runs, findings)


def late_joints(
    runs: Sequence[RobotRun],
    simulated: Mapping[str, Array],
    joints: Sequence[str],
    types: Mapping[str, str],
) -> list[LateJoint]:
    """Return a finding for every joint, and every lateness, that runs show.

    Args:
        runs: recorded.
        simulated: name of a run -> (n, joints of the run) rad.
        joints: that count.
        types: joint -> its type of servo; those of one type have one model, right or wrong.
    """
    evidence = {joint: [_evidence(run, simulated[run.name], joint) for run in runs] for joint in joints}
    known = {joint: [part for part in parts if part is not None] for joint, parts in evidence.items()}
    pooled = {
        joint: _best(np.sum([part.fit for part in parts], axis=0)) for joint, parts in known.items() if parts
    }
    findings = []
    for joint, parts in known.items():
        others = [lag for name, lag in pooled.items() if name != joint]
        alike = [lag for name, lag in pooled.items() if name != joint and types[name] == types[joint]]
        usual = median(alike or others) if others else 0.0
        latenesses = {part.run: late for part in parts if (late := _own_lateness(part, parts, usual)) > 0.0}
        for lateness in sorted(set(latenesses.values())):
            names = [name for name, late in latenesses.items() if late == lateness]
            late_runs = [run for run in runs if run.name in names]
            before = _error(late_runs, simulated, joint)
            after = _error([_earlier(run, joint, lateness) for run in late_runs], simulated, joint)
            if after > _BETTER * before:
                continue
            findings.append(
                LateJoint(
                    joint=joint,
                    runs=tuple(names),
                    lateness=lateness,
                    error=before,
                    other_error=after,
                    is_corrected=bool(alike) or lateness > _NO_SERVO,
                )
            )
    return findings


def without_lateness(runs: Sequence[RobotRun], findings: Sequence[LateJoint]) -> list[RobotRun]:
    """Return runs with the readings of late joints at the times when they were true."""
    corrected = {run.name: run for run in runs}
    for finding in findings:
        for name in finding.runs if finding.is_corrected else ():
            corrected[name] = _earlier(corrected[name], finding.joint, finding.lateness)
    return [corrected[run.name] for run in runs]


def _own_lateness(part: _Evidence, parts: Sequence[_Evidence], usual: float) -> float:
    """Return by how much a run's readings are later than usual, s: as in all runs, or as in this one."""
    together = np.sum([of_run.fit for of_run in parts], axis=0)
    none = int(np.argmin(np.abs(_LAGS - usual)))
    common = int(np.argmax(together)) if _is_late(together, none) else none
    best = int(np.argmax(part.fit))
    index = best if part.fit[best] - part.fit[common] > _SURE else common
    lateness = float(_LAGS[index] - _LAGS[none])
    return (
        round(lateness, 4) if lateness > _LEAST - 0.5 * _STEP and _LAGS[index] > _LEAST - 0.5 * _STEP else 0.0
    )


def _is_late(fit: Array, none: int) -> bool:
    return bool(fit.max() - fit[none] > _SURE)


def _best(fit: Array) -> float:
    """Return the likeliest lateness, s; none where another one is hardly likelier."""
    return float(_LAGS[np.argmax(fit)]) if _is_late(fit, _NONE) else 0.0


def _evidence(run: RobotRun, simulated: Array, joint: str) -> _Evidence | None:
    """Return how well each lateness explains the readings of a joint; None: it hardly moves."""
    column = run.column(joint)
    window = np.hanning(_SMOOTH + 2)[1:-1]
    if len(run.time) < 2 * _SMOOTH:
        return None
    path, read = (
        np.convolve(values, window / window.sum(), "same")
        for values in (simulated[:, column], run.position[:, column])
    )
    speed = np.gradient(path, run.time)
    acceleration = np.gradient(speed, run.time)
    period = float(np.median(np.diff(run.time)))
    inside = (run.time > run.time[0] - _LAGS[0] + 0.5) & (run.time < run.time[-1] - _LAGS[-1] - 0.1)
    rows = np.flatnonzero(
        inside & run.counts & run.is_sound[:, column] & (np.abs(speed) > _MOVES) & np.isfinite(path)
    )
    if len(rows) * period < _LEAST_MOTION or len(rows) < 2 * _SMOOTH:
        return None
    beside = np.stack([np.ones(len(rows)), np.sign(speed[rows]), acceleration[rows]], axis=1)
    explained, _ = np.linalg.qr(beside)
    left = np.empty(len(_LAGS))
    for index, lag in enumerate(_LAGS):
        off = np.interp(run.time[rows] + lag, run.time, read) - path[rows]
        left[index] = np.mean((off - explained @ (explained.T @ off)) ** 2)
    independent = _INDEPENDENT * len(rows) * period
    return _Evidence(run=run.name, fit=-0.5 * independent * np.log(np.maximum(left, 1e-12)))


def _earlier(run: RobotRun, joint: str, lateness: float) -> RobotRun:
    """Return a run with the readings of a joint at earlier times; at the end there are none then."""
    column = run.column(joint)
    times = run.time + lateness
    position, sound = run.position.copy(), run.is_sound.copy()
    position[:, column] = np.interp(times, run.time, run.position[:, column])
    sound[:, column] = _are_between_sound(run, column, times)
    return replace(run, position=position, sound=sound)


def _are_between_sound(run: RobotRun, column: int, times: Array) -> NDArray[np.bool_]:
    """Return (n,) whether times are between two sound readings of a joint, and in no gap."""
    after = np.searchsorted(run.time, times)
    within = after < len(run.time)
    after = np.minimum(after, len(run.time) - 1)
    known = run.is_sound[:, column]
    gaps = np.zeros(len(run.time), dtype=bool)
    gaps[sample_gaps(run.time)] = True
    return np.asarray(within & known[after] & known[np.maximum(after - 1, 0)] & ~gaps[after])


def _error(runs: Sequence[RobotRun], simulated: Mapping[str, Array], joint: str) -> float:
    return errors_of(runs, [joint], simulated).mean_of_joint(joint)
