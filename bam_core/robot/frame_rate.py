# SPDX-License-Identifier: Apache-2.0
"""Runs whose times were made of a frame rate that was not kept: readings against goals show it.

Recorders such as LeRobot write `frame / fps`, not when a frame was. A loop that was slower makes all motions
look faster, and readings follow their goals sooner than any servo can. At the true rate a simulation follows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bam_core.errors import BamError
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.validation import errors_of
from bam_core.servo.model import ServoModel
from bam_core.text.robot_run_findings import OtherRate

_FACTORS = (0.5, 2.0 / 3.0, 0.8, 1.25, 1.5, 2.0, 3.0)  # of times
_SURE = 0.5  # of the error; in 4 runs of a real arm, no wrong factor comes below 0.88
_LEAST_ERROR = 0.01  # rad; a robot that is followed so well has its rate
_LONGEST = 20.0  # s that are simulated
_EVEN = 1e-3  # of a period, up to which times differ that were made of a rate; measured ones differ by more


def rate_findings(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations = NO_DEVIATIONS,
) -> list[OtherRate]:
    """Return a finding where another rate explains the first run with even times far better.

    Args:
        bench: the robot.
        runs: recorded.
        joints: that count.
        servos: by joint.
        deviations: of this robot.

    Raises:
        BamError: the run cannot be simulated as it is.
    """
    run = next((run for run in runs if _is_even(run)), None)
    if run is None:
        return []

    def error(factor: float) -> float:
        slower = _slowed(run, factor)
        return errors_of([slower], joints, {slower.name: bench.simulate(slower, servos, deviations)}).mae

    given = error(1.0)
    if given < _LEAST_ERROR:
        return []
    errors = {}
    for factor in _FACTORS:
        with contextlib.suppress(BamError):  # a robot that cannot be simulated was not so fast
            errors[factor] = error(factor)
    best = min(errors, key=errors.__getitem__, default=1.0)
    if best == 1.0 or errors[best] > _SURE * given:
        return []
    rate = 1.0 / float(np.median(np.diff(run.time)))
    return [OtherRate(run=run.name, rate=rate, shown=rate / best, error=given, other_error=errors[best])]


def _is_even(run: RobotRun) -> bool:
    periods = np.diff(run.time)
    return bool(np.ptp(periods) < _EVEN * np.median(periods))


def _slowed(run: RobotRun, factor: float) -> RobotRun:
    """Return the first part of a run that counts, at another rate."""
    time = run.time[0] + factor * (run.time - run.time[0])
    first, end = time[run.counts][0], time[run.counts][-1]
    sent = {joint: (time[0] + factor * (at - run.time[0]), goals) for joint, (at, goals) in run.sent.items()}
    return replace(run, time=time, sent=sent, interval=(float(first), float(min(first + _LONGEST, end))))
