# SPDX-License-Identifier: Apache-2.0
"""Joints whose readings are in each other's columns: each follows the goals of another one."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.robot.run import RobotRun
from bam_core.text.exchange_findings import ExchangedReadings
from bam_core.text.finding import log_findings

log = logging.getLogger(__name__)

_LAGS = np.arange(0.0, 0.55, 0.05)  # s; servos follow within
_SAMPLES = 2000  # that are looked at
_MOVES = 0.1  # rad; goals that change by less are followed by nothing
_BETTER = 0.2
"""Of the mean square to their own goals. In 24 runs of a real arm, none is below 1."""


def exchanged_joints(run: RobotRun) -> dict[str, str]:
    """Return joint -> in whose column its readings are, of those that are in another one."""
    from scipy.optimize import linear_sum_assignment  # takes long to load

    moving = [joint for joint in run.joints if np.ptp(run.goal_position[:, run.column(joint)]) > _MOVES]
    if len(moving) < 2:
        return {}
    columns = [run.column(joint) for joint in moving]
    left = _distances(run, columns)
    best = linear_sum_assignment(np.log(left))[1]
    shares = left[np.arange(len(best)), best] / np.diag(left)
    exchanged = {}
    for row, joint in enumerate(moving):
        # Joints with the same goals may change places without a gain: only together do they show something.
        together = float(np.prod(shares[_cycle(best, row)]))
        if best[row] != row and shares[row] < _BETTER and together < _BETTER:
            exchanged[joint] = moving[best[row]]
    return exchanged


def _cycle(order: NDArray[np.intp], row: int) -> list[int]:
    """Return the places that an order leads to from one of them, until it is there again."""
    cycle = [row]
    while order[cycle[-1]] != row:
        cycle.append(int(order[cycle[-1]]))
    return cycle


def with_own_readings(run: RobotRun, exchanged: dict[str, str]) -> RobotRun:
    """Return a run whose exchanged readings are back in their columns; as it is without such an order."""
    if not exchanged or set(exchanged) != set(exchanged.values()):
        return run
    order = [run.column(exchanged.get(joint, joint)) for joint in run.joints]
    return replace(
        run,
        position=run.position[:, order],
        sound=None if run.sound is None else run.sound[:, order],
        left_out={joint: run.left_out[of] for joint, of in _pairs(run, exchanged) if of in run.left_out},
        wraps={joint: run.wraps[of] for joint, of in _pairs(run, exchanged) if of in run.wraps},
    )


def in_own_columns(runs: Sequence[RobotRun]) -> list[RobotRun]:
    """Return runs whose exchanged readings are back in their columns, and log which ones were."""
    orders = {run.name: exchanged_joints(run) for run in runs}
    log_findings(log, exchange_findings(orders))
    return [with_own_readings(run, orders[run.name]) for run in runs]


def exchange_findings(orders: Mapping[str, Mapping[str, str]]) -> Iterator[ExchangedReadings]:
    """Return a finding about each order of joints that runs have.

    Args:
        orders: name of a run -> as of `exchanged_joints`.
    """
    runs: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, exchanged in orders.items():
        if exchanged:
            runs.setdefault(tuple(exchanged.items()), []).append(name)
    return (ExchangedReadings(runs=tuple(of), joints=joints) for joints, of in runs.items())


def _pairs(run: RobotRun, exchanged: dict[str, str]) -> list[tuple[str, str]]:
    return [(joint, exchanged.get(joint, joint)) for joint in run.joints]


def _distances(run: RobotRun, columns: list[int]) -> Array:
    """Return (joints, joints) least mean squares between the goals of each and the readings of each."""
    rows = np.arange(len(run.time))[:: max(len(run.time) // _SAMPLES, 1)]
    rows = rows[run.is_sound[rows][:, columns].all(axis=1)]
    left = np.full((len(columns), len(columns)), np.inf)
    if not len(rows):
        return np.ones_like(left)
    read = run.position[rows][:, columns]
    for index, column in enumerate(columns):
        for lag in _LAGS:
            goal = np.interp(run.time[rows] - lag, run.time, run.goal_position[:, column])
            left[index] = np.minimum(left[index], np.mean((read - goal[:, None]) ** 2, axis=0))
    return np.maximum(left, 1e-12)
