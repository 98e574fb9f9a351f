# SPDX-License-Identifier: Apache-2.0
"""Recordings in open loop, of a servo whose parameters are known."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoLike, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import finely_simulated


def synthesize_open_loop(
    servo: ServoLike,
    time: ArrayLike,
    duty: ArrayLike,
    *,
    bench: PendulumBench,
    name: str = "open loop",
    supply_voltage: float | None = None,
    quantised: bool = False,
) -> Recording:
    """Record a simulated run in open loop, from rest at θ = 0.

    Args:
        servo: that applies the duties.
        time: (n,) s of samples and duties, evenly apart.
        duty: (n,) -1..1, in force from each sample to the next.
        bench: what is on the shaft.
        name: of the recording.
        supply_voltage: V; default the servo's nominal one.
        quantised: round positions to whole encoder counts.

    Returns:
        A recording without noise. Velocities beyond the first one, and the temperature, are unknown.

    Raises:
        BamError: a value is out of range, or the servo regulates a current.
    """
    servo = load_servo(servo)
    time = np.asarray(time, dtype=np.float64)
    unknown = np.full(len(time), np.nan)
    at_rest = Recording(
        name=name,
        source=Path("synthetic") / name,
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        servo=servo.name,
        bench=bench,
        open_loop=True,
        kp=0.0,
        supply_voltage=servo.nominal_voltage if supply_voltage is None else supply_voltage,
        script=name,
        time=time,
        position=np.zeros(len(time)),
        velocity=np.where(np.arange(len(time)) == 0, 0.0, np.nan),
        goal_position=unknown,
        torque_enabled=np.ones(len(time), dtype=np.bool_),
        voltage=unknown,
        temperature=unknown,
        duty=np.asarray(duty, dtype=np.float64),
    )
    return dataclasses.replace(at_rest, position=finely_simulated(servo, at_rest, quantised))
