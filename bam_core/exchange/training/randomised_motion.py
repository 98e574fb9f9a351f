# SPDX-License-Identifier: Apache-2.0
"""What every check of a randomisation shares: ranges of terms, and a pendulum whose motion shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.exchange.training.linear_drive import LOAD_SHARE
from bam_core.recordings.recording import Recording
from bam_core.servo.pendulum import GRAVITY, PendulumBench

EXPECTED = "draws of `bam export --draws`, or a file of `--to isaaclab` or `--to playground`"
"""Files that randomise, for error lines."""

STEP = 1e-3
"""Time step, s."""

_DURATION = 3.0  # s
_LENGTH = 0.15  # m
_JUMPS = ((0.0, 2.0), (0.8, -1.0))  # s, rad: a drive reaches its limits
_SWING_START, _SWING, _SWING_PERIOD = 1.6, 0.5, 1.4  # s, rad, s: and reverses slowly, in friction

Move = Callable[[str | None, float], Array]
"""Positions (n,) rad with one term at a value; None: with none."""


@dataclass(frozen=True, kw_only=True)
class TermRange:
    """A term of a file.

    Attributes:
        name: in the file.
        low: lower end; SI, or a factor.
        high: upper end, likewise.
        cause: why it cannot act, a cause of `NoOp`; None: it may.
    """

    name: str
    low: float
    high: float
    cause: str | None = None


def times() -> Array:
    """Return the times of the motion, (n,) s."""
    return np.asarray(np.arange(round(_DURATION / STEP)) * STEP, dtype=np.float64)


def goals(time: Array) -> Array:
    """Return the goals at (n,) s, rad."""
    jumps = np.select([time >= start for start, _ in reversed(_JUMPS)], [to for _, to in reversed(_JUMPS)])
    swing = _SWING * np.sin(2.0 * np.pi * (time - _SWING_START) / _SWING_PERIOD)
    return np.asarray(jumps + np.where(time >= _SWING_START, swing, 0.0))


def bench(stall_torque: float) -> PendulumBench:
    """Return a pendulum that loads a drive of some torque, N·m, by LOAD_SHARE of it."""
    return PendulumBench(mass=LOAD_SHARE * stall_torque / (GRAVITY * _LENGTH), length=_LENGTH)


def drive_commands(bench: PendulumBench) -> Recording:
    """Return the goals for a drive on a pendulum, as a recording."""
    time = times()
    unknown = np.full(len(time), np.nan)
    return Recording(
        name="randomisation",
        source=Path("randomisation"),
        sha256="",
        servo="drive",
        bench=bench,
        kp=1.0,
        supply_voltage=12.0,  # of a drive none counts
        script="",
        time=time,
        position=np.zeros(len(time)),
        velocity=unknown,
        goal_position=goals(time),
        torque_enabled=np.ones(len(time), dtype=bool),
        voltage=unknown,
        temperature=unknown,
        duty=unknown,
    )
