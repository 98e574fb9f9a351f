# SPDX-License-Identifier: Apache-2.0
"""What controller and motor may do that the model does not know of."""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.identification.misfit.cause import FULL, POSITIVE, SHARE, Cause
from bam_core.identification.misfit.motion import Motion, slewed
from bam_core.servo.motor import WINDING_COOLING_TIME
from bam_core.text.misfit_findings import Form

_BANDS = (0.003, 0.006, 0.012, 0.024, 0.048)  # rad; two encoder counts to what nobody would sell
_INSIDE, _EDGE = 0.8, 1.2  # of a band: at its edge, what acts goes on and off, on average anything between
_SLEWS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)  # rad/s
_GAIN_SCALES = (0.01, 0.03)  # rad; of the error below which a gain differs
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
    near = [np.exp(-np.abs(error) / scale) for scale in _GAIN_SCALES]
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


def _current_law(motion: Motion) -> Array:
    """Back-EMF that does not act, as electronics regulate the current."""
    return np.asarray((motion.back_emf * motion.velocity)[:, None])


_OF_CONTROLLER = ("current_law", "dead_band", "goal_slew", "gain_curve", "sensor_delay", "limit_shortfall")


def drive_causes(*, controlled: bool = True) -> list[Cause]:
    """Return the causes that are of motor and controller, if there was one."""
    return [cause for cause in _drive_causes() if controlled or cause.kind not in _OF_CONTROLLER]


def _drive_causes() -> list[Cause]:
    return [
        Cause(
            kind="dead_band",
            forms=tuple(
                Form(shape=shape, value=band) for band in _BANDS for shape in ("subtracted", "no_output")
            ),
            sizes=(1, 2) * len(_BANDS),
            torques=_dead_band,
        ),
        Cause(
            kind="goal_slew",
            forms=tuple(Form(value=speed) for speed in _SLEWS),
            sizes=(1,) * len(_SLEWS),
            torques=_slew,
            range=FULL,
            effects=("goal_slew_time",),
        ),
        Cause(
            kind="command_delay",
            forms=tuple(Form(value=late) for late in _DELAYS),
            sizes=(1,) * len(_DELAYS),
            torques=_late,
            range=FULL,
            effects=("command_delay",),
        ),
        Cause(
            kind="gain_curve",
            forms=(
                Form(shape="proportional"),
                *(Form(shape="below", value=scale) for scale in _GAIN_SCALES),
            ),
            sizes=(1, 1, 1),
            torques=_gain_curve,
        ),
        Cause(
            kind="torque_saturation",
            forms=(Form(),),
            sizes=(1,),
            torques=_saturation,
            range=POSITIVE,
            effects=("torque_saturation",),
        ),
        Cause(
            kind="sensor_delay",
            forms=(Form(),),
            sizes=(1,),
            torques=_late_sensor,
            range=POSITIVE,
            effects=("sensor_delay",),
        ),
        Cause(
            kind="bridge_coasting",
            forms=(Form(),),
            sizes=(1,),
            torques=_coasting,
            range=SHARE,
            effects=("bridge_coasting",),
        ),
        Cause(
            kind="current_law",
            forms=(Form(),),
            sizes=(1,),
            torques=_current_law,
            range=FULL,
        ),
        Cause(
            kind="winding_heating",
            forms=(Form(),),
            sizes=(1,),
            torques=_heat,
            range=POSITIVE,
            effects=("winding_heating",),
        ),
        Cause(
            kind="limit_shortfall",
            forms=(Form(),),
            sizes=(1,),
            torques=_shortfall,
            range=SHARE,
            effects=("limit_shortfall",),
        ),
    ]
