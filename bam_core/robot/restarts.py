# SPDX-License-Identifier: Apache-2.0
"""Where a simulation of a robot starts anew from its measurement, and in which states.

A joint that stuck where the real one slid stays off until it moves again, and its derivatives are those of a
place where the robot never was. Over short horizons this ends with the next start.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.robot.gaps import sample_gaps
from bam_core.robot.run import RobotRun
from bam_core.servo.model import ServoModel
from bam_core.simulation.measured_states import states_between

LEAD = 0.1
"""s of a piece before it counts: a servo's position forgets within as long how fast it began."""

_COUNT = 2.0 * np.pi / 4096.0  # rad; of joints whose servo is not known


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a simulation, by numbers of its steps.

    Attributes:
        start: where it starts; the first piece does at rest, like a simulation in one piece.
        counts: from where on it counts.
        end: likewise, where it ends.
    """

    start: int
    counts: int
    end: int


def pieces(
    times: Array,
    first: float,
    horizon: float | None,
    restarts: Sequence[float] = (),
    *,
    lead: float = LEAD,
) -> list[Piece]:
    """Cut a simulation.

    Args:
        times: (steps + 1,) s.
        first: s, of the first sample.
        horizon: s, after which a new piece begins; None: at restarts alone.
        restarts: s, of the first samples behind gaps, from which pieces begin whatever the horizon.
        lead: s of a piece before it counts.
    """
    step = float(times[1] - times[0])
    begin, last = round((first - times[0]) / step), len(times) - 1
    starts = [begin, *(int(np.ceil((time - times[0]) / step - 1e-9)) for time in restarts)]
    cut = []
    for start, end in zip(starts, [*starts[1:], last], strict=True):
        cut += _of_stretch(
            start, min(end, last), step, horizon, lead=round(lead / step), is_first=start == begin
        )
    return cut


def _of_stretch(
    start: int, end: int, step: float, horizon: float | None, *, lead: int, is_first: bool
) -> list[Piece]:
    """Return the pieces of a stretch without a gap; the first of all begins at rest, before it."""
    if end <= start:
        return []
    length = end - start if horizon is None else max(round(horizon / step), 1)
    begin = 0 if is_first else start
    return [
        Piece(
            start=max(counts - lead, start) if counts > start else begin,
            counts=counts,
            end=min(counts + length, end),
        )
        for counts in range(start, end, length)
    ]


def require_no_gap(run: RobotRun, first: int = 0) -> None:
    """Refuse a gap between samples of a robot whose base moves: behind it, the state is not measured.

    Args:
        run: to simulate.
        first: row with which the simulation begins.

    Raises:
        BadData: samples are missing.
    """
    used = np.arange(first, int(np.flatnonzero(run.counts)[-1]) + 1)
    if len(gaps := sample_gaps(run.time[used])):
        row = int(used[gaps[0]])
        raise BadData(
            f"{run.name}, time",
            f"has no sample from {run.time[row - 1]:.2f} to {run.time[row]:.2f} s",
            expected="no gap where the base moves, whose state is not measured",
            advice="cut the run there, or choose a part with --interval",
        )


def start_states(run: RobotRun, servos: Mapping[str, ServoModel], times: Array) -> tuple[Array, Array]:
    """Return (n, joints of the run) measured positions, rad, and velocities estimated from them, rad/s.

    Args:
        run: that was measured.
        servos: by joint; their encoders' counts decide which velocities are zero.
        times: (n,) s, within the run. Those behind a gap are estimated from what was measured behind it.
    """
    counts = tuple(servos[joint].firmware.resolution if joint in servos else _COUNT for joint in run.joints)
    return _start_states(run, counts, tuple(times))


@functools.lru_cache(maxsize=256)
def _start_states(run: RobotRun, counts: tuple[float, ...], times: tuple[float, ...]) -> tuple[Array, Array]:
    """A search asks for the same again and again."""
    at = np.array(times)
    states = np.empty((len(at), 2, len(run.joints)))
    ends = np.array([*run.restarts, len(run.time)])
    stretch = np.searchsorted(run.time[ends[:-1]], at, side="right")
    for number, rows in enumerate(np.split(np.arange(len(run.time)), ends[:-1])):
        inside = stretch == number
        if not inside.any():
            continue
        for column, count in enumerate(counts):
            states[inside, :, column] = states_between(
                run.time[rows], run.position[rows, column], at[inside], count
            )
    return states[:, 0], states[:, 1]
