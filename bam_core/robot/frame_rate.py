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

from bam_core.errors import BadData, BamError
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.validation import errors_of
from bam_core.servo.model import ServoModel
from bam_core.text.robot_run_findings import OtherRate

_UNITS = (0.1, 10.0)  # of times, where they are not in s
_SURE_UNIT = 0.2  # of the error: a delay of half a second would be mistaken for another unit with 0.5
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

    given = _error(bench, run, 1.0, joints, servos, deviations)
    if given < _LEAST_ERROR:
        return []
    errors = {}
    for factor in _FACTORS:
        with contextlib.suppress(BamError):  # a robot that cannot be simulated was not so fast
            errors[factor] = _error(bench, run, factor, joints, servos, deviations)
    best = min(errors, key=errors.__getitem__, default=1.0)
    if best == 1.0 or errors[best] > _SURE * given:
        return []
    rate = 1.0 / float(np.median(np.diff(run.time)))
    return [OtherRate(run=run.name, rate=rate, shown=rate / best, error=given, other_error=errors[best])]


def require_seconds(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations = NO_DEVIATIONS,
) -> None:
    """Refuse times that are 10 times too long or too short, as the first run shows; arguments as above.

    Raises:
        BadData: at such times its error is a fifth at most.
    """
    run = runs[0]
    given = _error(bench, run, 1.0, joints, servos, deviations)
    if given < _LEAST_ERROR:
        return
    for factor in _UNITS:
        with contextlib.suppress(BamError):  # a robot that cannot be simulated was not so fast
            true = _error(bench, run, factor, joints, servos, deviations)
            if true < _SURE_UNIT * given:
                break
    else:
        return
    raise BadData(
        f"{run.name}, time",
        f"is 10 times too {'long' if factor < 1.0 else 'short'}: readings follow goals so",
        expected=f"seconds, at which the error is {1e3 * true:.2g} mrad, not {1e3 * given:.2g}",
        advice=f"multiply times by {factor:g}, or correct the rate that they were made of",
    )


def _error(
    bench: RobotBench,
    run: RobotRun,
    factor: float,
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations,
) -> float:
    """Return the mean error of the first part of a run whose times are multiplied, rad."""
    slower = _slowed(run, factor)
    return errors_of([slower], joints, {slower.name: bench.simulate(slower, servos, deviations)}).mae


def _is_even(run: RobotRun) -> bool:
    periods = np.diff(run.time)
    return bool(np.ptp(periods) < _EVEN * np.median(periods))


def _slowed(run: RobotRun, factor: float) -> RobotRun:
    """Return the first part of a run that counts, at another rate."""
    time = run.time[0] + factor * (run.time - run.time[0])
    first, end = time[run.counts][0], time[run.counts][-1]
    sent = {joint: (time[0] + factor * (at - run.time[0]), goals) for joint, (at, goals) in run.sent.items()}
    return replace(run, time=time, sent=sent, interval=(float(first), float(min(first + _LONGEST, end))))
