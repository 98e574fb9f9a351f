# SPDX-License-Identifier: Apache-2.0
"""What controller and motor may do that the model does not know of."""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.identification.misfit.cause import FULL, POSITIVE, SHARE, Cause
from bam_core.identification.misfit.motion import Motion, slewed
from bam_core.servo.motor import WINDING_COOLING_TIME

_BANDS = (0.003, 0.006, 0.012, 0.024, 0.048)  # rad; two encoder counts to what nobody would sell
_INSIDE, _EDGE = 0.8, 1.2  # of a band: at its edge, what acts goes on and off, on average anything between
_SLEWS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)  # rad/s
_DELAYS = (0.002, 0.005, 0.01, 0.02, 0.04)  # s


def _dead_band(motion: Motion) -> Array:
    """Take away what is asked for within the band: errors are smaller by it, or small ones count as none."""
    asked, size = -motion.gain * motion.error, np.abs(motion.error)
    columns = []
    for band in _BANDS:
        columns.append(-motion.gain * np.clip(motion.error, -band, band))
        columns += [
            asked * (size < _INSIDE * band),
            asked * ((size >= _INSIDE * band) & (size < _EDGE * band)),
        ]
    return np.stack(columns, axis=1)


def _slew(motion: Motion) -> Array:
    position = motion.goal - motion.error
    goals = [slewed(motion.goal, motion.enabled, position, speed * motion.dt) for speed in _SLEWS]
    return _of_other_goals(motion, np.stack(goals, axis=1))


def _late(motion: Motion) -> Array:
    goals = np.stack([np.interp(motion.time - late, motion.time, motion.goal) for late in _DELAYS], axis=1)
    return _of_other_goals(motion, goals)


def _of_other_goals(motion: Motion, goals: Array) -> Array:
    """Torques of other goals beyond those of the goal, as far as the firmware's limit lets them act."""
    position = motion.goal - motion.error
    duty = np.clip(motion.duty_per_error * (goals - position[:, None]), -1.0, 1.0)
    return np.asarray(motion.full[:, None] * (duty - motion.duty[:, None]))


def _gain_curve(motion: Motion) -> Array:
    error, gain = motion.error, motion.gain
    near = [np.exp(-np.abs(error) / scale) for scale in (0.01, 0.03)]
    return np.stack([gain * error * shape for shape in (np.abs(error), *near)], axis=1)


def _saturation(motion: Motion) -> Array:
    return np.asarray((-motion.motor * np.abs(motion.motor))[:, None])


def _heat(motion: Motion) -> Array:
    """Torque that a winding loses as it warms: energy so far, less what has left."""
    decay = np.exp(-motion.dt / WINDING_COOLING_TIME)
    heat = np.empty_like(motion.loss)
    _gathered(motion.loss, decay, motion.dt, heat)
    return np.asarray((-motion.motor * heat)[:, None])


@compiled()
def _gathered(rate: Array, decay: float, dt: float, gathered: Array) -> None:
    total = 0.0
    for k in range(len(rate)):
        gathered[k] = total
        total = decay * total + dt * rate[k]


def _shortfall(motion: Motion) -> Array:
    return np.asarray((-motion.full * motion.duty * motion.limited)[:, None])


def _late_sensor(motion: Motion) -> Array:
    """Torque of a position that is 10 ms old."""
    return np.asarray((0.01 * motion.gain * motion.velocity)[:, None])


def _coasting(motion: Motion) -> Array:
    """Back-EMF that does not act while the bridge is open; see `effects.ServoEffects`."""
    return np.asarray((motion.back_emf * (1.0 - np.abs(motion.duty)) * motion.velocity)[:, None])


def drive_causes() -> list[Cause]:
    """Return the causes that are of controller and motor."""
    return [
        Cause(
            kind="dead_band",
            missing="a dead band of the controller",
            forms=tuple(
                f"of ±{1e3 * band:g} mrad{what}"
                for band in _BANDS
                for what in (" that is taken off all errors", " within which nothing acts")
            ),
            sizes=(1, 2) * len(_BANDS),
            torques=_dead_band,
            advice="give the servo a firmware with dead_band (see firmwares.yaml)",
        ),
        Cause(
            kind="goal_slew",
            missing="a limit of the goal's speed inside the servo",
            forms=tuple(f"of {speed:g} rad/s" for speed in _SLEWS),
            sizes=(1,) * len(_SLEWS),
            torques=_slew,
            range=FULL,
            effects=("goal_slew_time",),
        ),
        Cause(
            kind="command_delay",
            missing="the time from a command to its effect",
            forms=tuple(f"of {1e3 * late:g} ms" for late in _DELAYS),
            sizes=(1,) * len(_DELAYS),
            torques=_late,
            range=FULL,
            effects=("command_delay",),
        ),
        Cause(
            kind="gain_curve",
            missing="a gain of the controller that changes with the error",
            forms=("in proportion to it", "below 10 mrad", "below 30 mrad"),
            sizes=(1, 1, 1),
            torques=_gain_curve,
            advice="give the servo a firmware with dead_band or error_offset (see firmwares.yaml)",
        ),
        Cause(
            kind="torque_saturation",
            missing="torque that grows less than the current",
            forms=("",),
            sizes=(1,),
            torques=_saturation,
            range=POSITIVE,
            effects=("torque_saturation",),
        ),
        Cause(
            kind="sensor_delay",
            missing="the age of the position that the controller works with",
            forms=("",),
            sizes=(1,),
            torques=_late_sensor,
            range=POSITIVE,
            effects=("sensor_delay",),
        ),
        Cause(
            kind="bridge_coasting",
            missing="a bridge that opens, so that back-EMF acts for a part of the time",
            forms=("",),
            sizes=(1,),
            torques=_coasting,
            range=SHARE,
            effects=("bridge_coasting",),
        ),
        Cause(
            kind="winding_heating",
            missing="a winding that loses torque as it warms within a run",
            forms=("",),
            sizes=(1,),
            torques=_heat,
            range=POSITIVE,
            effects=("winding_heating",),
        ),
        Cause(
            kind="limit_shortfall",
            missing="a limit of duty or current below that of its law",
            forms=("",),
            sizes=(1,),
            torques=_shortfall,
            range=SHARE,
            effects=("limit_shortfall",),
        ),
    ]
