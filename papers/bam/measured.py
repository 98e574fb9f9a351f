# SPDX-License-Identifier: Apache-2.0
"""Drive and backdrive torques of real servos, read from recordings of slow motion: fig. 3 on real data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording
from bam_core.servo.motor import DcMotor
from papers.bam.fits import Repeat
from papers.claim import UNCERTAIN, Claim

SCRIPTS = ("up_and_down", "sin_sin")
"""Trajectories that raise and lower loads slowly."""

_SPEEDS = (0.1, 1.0)  # rad/s: moving, so that friction opposes; slow, so that viscous friction is small
_GENTLE = 5.0  # rad/s²; the torque of inertia, which is taken off, is then a tenth of the load or less
_WINDOW = 0.1  # s; over which velocity and acceleration are taken
_SHORTEST = 20  # points of a log that count
_SURE = 2.0  # standard errors


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionPoints:
    """Torques of a servo in slow motion, seen so that the load is positive; (n,) N·m each.

    Attributes:
        motor: τ_m as duty, supply and speed say, with the k_t and R that were identified.
        load: -τ_e.
        friction: τ_f against the motion: what motor, load and inertia leave over.
        drives: True where the load is raised.
        log: index of the recording.
    """

    motor: Array
    load: Array
    friction: Array
    drives: NDArray[np.bool_]
    log: NDArray[np.intp]

    def growth(self) -> tuple[float, float]:
        """Return friction's growth with the load, N·m per N·m, and its standard error.

        It is the mean of the slopes of two lines, through the points of raising and through those of
        lowering: what k_t/R is wrong by is then in them with opposite signs. The error is found by leaving
        out each log in turn (jackknife), for the points of one log are not independent.
        """
        logs = np.unique(self.log)
        everything = np.ones(len(self.log), dtype=np.bool_)
        slope = self._slope(everything)
        others = np.array([self._slope(self.log != i) for i in logs])
        count = len(logs)
        return slope, float(np.sqrt((count - 1) / count * np.sum((others - others.mean()) ** 2)))

    def _slope(self, kept: NDArray[np.bool_]) -> float:
        sides = (kept & self.drives, kept & ~self.drives)
        return float(np.mean([np.polyfit(self.load[side], self.friction[side], 1)[0] for side in sides]))


def motion_points(repeat: Repeat, logs: Sequence[Recording]) -> MotionPoints:
    """Return the points of slow motion of recordings, with an identified motor.

    Args:
        found: tells motor, firmware and the encoder's zero.
        logs: of a servo that regulates a voltage.
    """
    parts = []
    for index, log in enumerate(logs):
        if log.script not in SCRIPTS:
            continue
        motor, load, friction, drives = _of_log(repeat, log)
        if len(motor) >= _SHORTEST:
            parts.append((motor, load, friction, drives, np.full(len(motor), index, dtype=np.intp)))
    motors, loads, frictions, sides, indices = zip(*parts, strict=True)
    return MotionPoints(
        motor=np.concatenate(motors),
        load=np.concatenate(loads),
        friction=np.concatenate(frictions),
        drives=np.concatenate(sides),
        log=np.concatenate(indices),
    )


def _of_log(repeat: Repeat, log: Recording) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    servo, zero = repeat.servo, repeat.bench_effects.zero_offset
    position, velocity, acceleration = _motion(log)
    supply = np.nan_to_num(log.voltage, nan=log.supply_voltage)
    duty = servo.firmware.demand(log.kp, log.goal_position - log.position)
    motor = np.asarray(_torque(servo.motor, duty * supply.mean(), velocity))
    external = log.bench.external_torque(position - zero)
    net = motor + external - (log.bench.inertia + servo.motor.armature) * acceleration
    side = np.sign(-external)
    speed = np.abs(velocity)
    steady = (speed > _SPEEDS[0]) & (speed < _SPEEDS[1]) & (np.abs(acceleration) < _GENTLE)
    kept = steady & log.torque_enabled & (side != 0.0)
    return (
        (motor * side)[kept],
        np.abs(external)[kept],
        (net * np.sign(velocity))[kept],
        (velocity * side > 0.0)[kept],
    )


def _torque(motor: DcMotor, voltage: Array, velocity: Array) -> Array:
    return motor.torque_constant / motor.resistance * (voltage - motor.torque_constant * velocity)


def _motion(log: Recording) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration at the samples: parabolas through windows."""
    from scipy.signal import savgol_filter

    grid = np.arange(log.time[0], log.time[-1], log.dt)
    width = 2 * round(0.5 * _WINDOW / log.dt) + 1
    even = np.interp(grid, log.time, log.position)
    smooth = [savgol_filter(even, width, 2, deriv=order, delta=log.dt) for order in range(3)]
    position, velocity, acceleration = (np.interp(log.time, grid, samples) for samples in smooth)
    return position, velocity, acceleration


def growth_claim(label: str, points: MotionPoints) -> Claim:
    """Section II-C: the friction is increased by the involved torques."""
    slope, error = points.growth()
    holds = slope > _SURE * error
    return Claim(
        claim=f"II-C, fig. 3, {label}: friction is increased by the involved torques",
        paper="> 0",
        ours=f"{slope:.3f} ± {error:.3f}",
        unit="N·m of friction per N·m of load",
        holds=holds,
        kind="real",
        threshold_reason=f"the slope is over {_SURE:g} standard errors above zero; torques from duty, supply"
        " and the motor identified with M1, which knows no load, loads from the angle",
        contradicts=slope < -_SURE * error,
        undecided=-_SURE * error <= slope <= _SURE * error,
        reason="" if holds else _why_no_growth(slope, error),
    )


def _why_no_growth(slope: float, error: float) -> str:
    if slope < -_SURE * error:
        return "not understood; a wrong k_t/R is excluded, it is in both lines with opposite signs"
    return f"{UNCERTAIN}: the logs differ so that the slope is {slope / error:.1f} standard errors"


def plot_motion_points(points: Mapping[str, MotionPoints]) -> Figure:
    """Draw motor torque and load of each servo in slow motion, as fig. 3."""
    figure = Figure(figsize=(5.0 * len(points), 4.8), layout="constrained")
    panels = np.atleast_1d(np.asarray(figure.subplots(1, len(points))))
    for axes, (title, motion) in zip(panels, points.items(), strict=True):
        for drives, color, label in ((True, "tab:blue", "raising"), (False, "tab:red", "lowering")):
            kept = motion.drives == drives
            axes.plot(motion.motor[kept], motion.load[kept], ".", ms=2, alpha=0.4, color=color, label=label)
        axes.axline((0.0, 0.0), slope=1.0, color="black", lw=1, ls="--")
        axes.set(xlabel="motor torque τₘ [N·m]", ylabel="load torque −τₑ [N·m]", title=title)
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small", markerscale=5)
    return figure
