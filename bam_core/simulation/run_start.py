# SPDX-License-Identifier: Apache-2.0
"""The state in which a recorded run starts: position, velocity, and the integral of its controller."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording
from bam_core.servo.firmware import PositionFirmware

_START_WINDOW = 0.05  # s; long enough to see a velocity through encoder counts, short against the motion
_START_SAMPLES = 6
_REPORTED = 3  # samples: of the first one, some recorders do not report a velocity
_LAGS = (0.003, 0.005, 0.008, 0.012, 0.02, 0.03)  # s; of a servo without and with a load


def initial_integral(recording: Recording, firmware: PositionFirmware) -> float:
    """Return the integral of the firmware at the first sample, rad.

    Where torque was on before, the duty shows it: it is what the error does not ask for. Without a duty it
    counts as 0, as where torque comes on.
    """
    duty = float(recording.duty[0])
    unknown = recording.open_loop or firmware.regulates_current or not math.isfinite(duty)
    if recording.ki == 0.0 or unknown or not recording.torque_enabled[0]:
        return 0.0
    stiffness = float(firmware.gains(recording.kp)[0])
    most = min(firmware.demand_limit, recording.demand_limit) / stiffness
    asked = float(firmware.shaped_error(recording.goal_position[0] - recording.position[0]))
    return min(max(duty / stiffness - asked, -most), most)


def initial_state(recording: Recording, resolution: float) -> tuple[float, float]:
    """Return position (rad) and velocity (rad/s) of the arm at the first sample.

    A parabola through the first 50 ms gives the velocity; one that encoder counts of `resolution` rad could
    feign counts as rest. In open loop the duty may jump where the run starts, and an unloaded servo follows
    within 10 ms: there an exponential may be added (`_start_in_open_loop`).
    """
    time = recording.time - recording.time[0]
    count = max(int(np.searchsorted(time, _START_WINDOW)), _START_SAMPLES)
    time, position = time[:count], recording.position[:count]
    fit = _Start.fit(np.stack([np.ones_like(time), time, time**2], axis=1), np.array([0, 1, 0]), position)
    if recording.open_loop:
        fit = _start_in_open_loop(fit, position, recording.velocity[:_REPORTED], resolution)
    noise = max(resolution / np.sqrt(12.0), fit.residual)
    if abs(fit.velocity) < 3.0 * noise * fit.spread:
        return float(recording.position[0]), 0.0
    return fit.position, fit.velocity


@dataclass(frozen=True, kw_only=True)
class _Start:
    """A curve through the first positions of a run.

    Attributes:
        position: at the start, rad.
        velocity: at the start, rad/s.
        residual: standard deviation of the residual, rad.
        spread: standard deviation of the velocity per rad of noise, 1/s.
        powers: (samples, 3) of the time.
    """

    position: float
    velocity: float
    residual: float
    spread: float
    powers: Array

    @classmethod
    def fit(cls, design: Array, slope: Array, position: Array) -> _Start:
        """Fit columns of a design, which have these slopes at the start."""
        curve = np.linalg.lstsq(design, position, rcond=None)[0]
        return cls(
            position=float(design[0] @ curve),
            velocity=float(slope @ curve),
            residual=float(np.std(position - design @ curve)),
            spread=float(np.sqrt(slope @ np.linalg.inv(design.T @ design) @ slope)),
            powers=design[:, :3],
        )


def _start_in_open_loop(parabola: _Start, position: Array, reported: Array, resolution: float) -> _Start:
    """Return rest, the parabola, or a parabola and the exponential that follows positions best.

    It is the one whose velocity is nearest to what the servo reported, which is that before the start (such
    registers lag). Where it reported none, the exponential is due if the residual falls by more than two
    parameters explain (Bayesian information criterion).
    """
    time = parabola.powers[:, 1]
    bent = min(
        (
            _Start.fit(
                np.column_stack([parabola.powers, np.exp(-time / lag)]),
                np.array([0, 1, 0, -1 / lag]),
                position,
            )
            for lag in _LAGS
        ),
        key=lambda start: start.residual,
    )
    known = reported[np.isfinite(reported)]
    if len(known):
        rest = replace(parabola, position=float(position[0]), velocity=0.0)
        return min((rest, parabola, bent), key=lambda start: abs(start.velocity - known[0]))
    least = resolution / np.sqrt(12.0)
    gain = 2.0 * len(time) * np.log(max(parabola.residual, least) / max(bent.residual, least))
    return bent if gain > 2.0 * np.log(len(time)) else parabola
