# SPDX-License-Identifier: Apache-2.0
"""Recordings laid out for the kernel: one uniform time grid, one log per lane; a few logs are repeated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import Unsupported
from bam_core.errors.checks import require_positive
from bam_core.recordings.recording import Recording
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.motor import REFERENCE_TEMPERATURE
from bam_core.simulation.kernel.lanes import BLOCK, LANES
from bam_core.simulation.measured_states import measured_states
from bam_core.simulation.rows import ENABLED, GOAL, MEASURED, SUPPLY, LaneInputs, LogRows
from bam_core.simulation.run_start import initial_integral, initial_state
from bam_core.simulation.set_points import SetPointLimits, slewed_means

_SAME_TIME = 1e-9  # s


@dataclass(frozen=True, kw_only=True)
class PackedLogs:
    """Recordings on the grid t_k = first sample + k·dt, padded to whole groups of lanes.

    Where a block has room for all recordings several times, it holds as many copies of them, for as many
    candidates at a time: copy after copy, each `count` lanes long.

    Attributes:
        signals: (steps, 4, lanes) as of `LaneInputs`.
        ripple: (steps, lanes) as of `LaneInputs`, or empty.
        logs: as of `LaneInputs`.
        restarts: (restarts, 2, lanes) as of `LaneInputs`.
        restart: steps from one restart to the next, the first after half as many; 0: none.
        lanes: lane of each recording in the first copy.
        copies: of all recordings, one or more.
        blocks: (first lane, count) of the blocks that the kernel takes one at a time.
        dt: grid step, s.
    """

    signals: Array
    ripple: Array
    logs: LogRows
    restarts: Array
    restart: int
    lanes: NDArray[np.intp]
    copies: int
    blocks: tuple[tuple[int, int], ...]
    dt: float

    @property
    def count(self) -> int:
        """Number of recordings."""
        return len(self.lanes)

    @property
    def inputs(self) -> LaneInputs:
        """What the kernel is given."""
        return LaneInputs(self.signals, self.ripple, self.logs, self.restarts)

    def grid(self, recording: int) -> Array:
        """Times of a recording's grid in s, counted from its first sample."""
        return _grid(int(self.logs.length[self.lanes[recording]]), self.dt)


def pack(
    recordings: Sequence[Recording],
    firmware: PositionFirmware,
    dt: float,
    *,
    restart: float | None = None,
    slew: bool = False,
) -> PackedLogs:
    """Lay out recordings for the kernel.

    Supply and torque enable are held from sample to sample, and goals as `Recording.goals` has them. A grid
    step that spans a change gets their mean, so that a change counts from the moment at which it acts, by the
    firmware. (Releasing an arm half a step late delays its whole swing.) The measured position is
    interpolated linearly.
    Where the supply was not measured its last value counts, at first the nominal one. Of a firmware whose
    readings of the supply are aliased, their mean counts throughout, and the rest is kept apart.

    In open loop the duty takes the place of the goal, and acts at once: no controller has to read it first.

    Args:
        recordings: at least one.
        firmware: position controller that ran.
        dt: grid step, s.
        restart: time between restarts from measured states, s, to the next whole step; default or infinite:
            none. The first is after half of it: scripts switch at round times, when velocities are
            uncertain.
        slew: put the means of the firmware's set-points for those of goals, see `set_points`; `dt` is a
            multiple of its period.

    Raises:
        BamError: the time between restarts is not above zero; or duties are for a firmware that is asked for
            currents.
    """
    restart = None if restart == np.inf else restart
    if restart is not None:
        require_positive("rollout", restart=restart)
    lengths = [int((r.time[-1] - r.time[0]) / dt + 1e-6) + 1 for r in recordings]
    count = len(recordings)
    copies = max(BLOCK // count, 1)
    total = -(-copies * count // LANES) * LANES
    signals = np.zeros((max(lengths), 4, total))
    ripple = np.zeros((max(lengths) if firmware.supply_is_aliased else 0, total))
    stride = max(round(restart / dt), 1) if restart is not None else 0
    restarts = np.zeros((len(_restart_times(max(lengths), stride, dt)), 2, total))
    logs = np.zeros((len(LogRows._fields), total))
    rows = LogRows(*logs)
    rows.length[:] = rows.inertia[:] = 1.0  # padding lanes: one step of an arm that hangs still
    # Neighbours of similar length let a block stop early.
    lanes = np.empty(len(recordings), dtype=np.intp)
    lanes[np.argsort(lengths, kind="stable")] = np.arange(len(recordings))
    for recording, length, lane in zip(recordings, lengths, lanes, strict=True):
        _fill_signals(signals[:length, :, lane], recording, dt, firmware)
        if slew and not recording.open_loop:
            signals[:length, GOAL, lane] = _set_points(recording, dt, length, firmware)
        signals[length:, :, lane] = signals[length - 1, :, lane]  # a command delay may look beyond the end
        starts = _restart_times(length, stride, dt)
        restarts[: len(starts), :, lane] = measured_states(recording, starts, firmware.resolution)
        if firmware.supply_is_aliased:
            ripple[:length, lane] = _supply(recording, dt, length) - signals[0, SUPPLY, lane]
        rows.length[lane] = length
        rows.inertia[lane] = recording.bench.inertia
        rows.gravity_torque[lane] = recording.bench.gravity_torque
        if recording.open_loop:
            _require_duty(recording, firmware)
            rows.stiffness[lane] = 1.0
        else:
            rows.stiffness[lane], rows.damping[lane] = firmware.gains(recording.kp)
            rows.feedback[lane] = 1.0
            rows.rate_time[lane], rows.integral_rate[lane] = _gain_ratios(recording, firmware)
            rows.integral[lane] = initial_integral(recording, firmware)
            if not slew:
                rows.goal_acceleration[lane] = firmware.accelerated(
                    recording.goal_acceleration
                ).goal_acceleration
        rows.position[lane], rows.velocity[lane] = initial_state(recording, firmware.resolution)
        rows.case_temperature_rise[lane] = case_temperature_rise(recording)
        rows.arm_length[lane] = recording.bench.length
        # A duty that was commanded was applied, whatever the servo's own controller would allow.
        limit = np.inf if recording.open_loop else firmware.demand_limit
        rows.demand_limit[lane] = min(limit, recording.demand_limit)
        rows.load_mass[lane] = recording.bench.mass
    for copy in range(1, copies):
        signals[:, :, copy * count : (copy + 1) * count] = signals[:, :, :count]
        ripple[:, copy * count : (copy + 1) * count] = ripple[:, :count]
        restarts[:, :, copy * count : (copy + 1) * count] = restarts[:, :, :count]
        logs[:, copy * count : (copy + 1) * count] = logs[:, :count]
    return PackedLogs(
        signals=signals,
        ripple=ripple,
        logs=rows,
        restarts=restarts,
        restart=stride,
        lanes=lanes,
        copies=copies,
        blocks=_blocks(total),
        dt=dt,
    )


def _require_duty(recording: Recording, firmware: PositionFirmware) -> None:
    if firmware.regulates_current:
        raise Unsupported(
            f"recording '{recording.name}', duty",
            f"was commanded in open loop, and firmware {firmware.name} regulates a current",
            expected="a servo whose firmware sets the voltage",
            advice="leave the recording out, or name its servo",
        )


def _gain_ratios(recording: Recording, firmware: PositionFirmware) -> tuple[float, float]:
    """Return the rate time, s, and the integral rate, 1/s, of a recording's gains."""
    try:
        return (
            firmware.rate_time(recording.kp, recording.kd),
            firmware.integral_rate(recording.kp, recording.ki),
        )
    except Unsupported as error:
        raise error.within(f"recording '{recording.name}'") from None


def case_temperature_rise(recording: Recording) -> float:
    """Temperature of the motor's case above `motor.REFERENCE_TEMPERATURE`, K; 0 where nobody measured it."""
    known = recording.temperature[np.isfinite(recording.temperature)]
    return float(known.mean()) - REFERENCE_TEMPERATURE if len(known) else 0.0


def _fill_signals(signals: Array, recording: Recording, dt: float, firmware: PositionFirmware) -> None:
    """Fill one lane, (length, 4)."""
    time = recording.time - recording.time[0]
    grid = _grid(len(signals) + 1, dt)
    enabled = recording.torque_enabled.astype(np.float64)
    supply = _supply(recording, dt, len(signals))
    stamps, goals = recording.goals
    given = stamps - recording.time[0]
    if recording.open_loop:
        signals[:, GOAL] = held_mean(time, recording.duty, grid)
    elif recording.kd:  # a goal that came in over two steps would have two kicks of half the size
        newest = np.searchsorted(given, grid[:-1] + _SAME_TIME, side="right") - 1
        signals[:, GOAL] = goals[np.maximum(newest, 0)]
    else:
        signals[:, GOAL] = held_mean(given + firmware.goal_delay, goals, grid)
    signals[:, SUPPLY] = _mean_supply(recording) if firmware.supply_is_aliased else supply
    signals[:, ENABLED] = held_mean(time + firmware.release_delay, enabled, grid)
    signals[:, MEASURED] = np.interp(grid[:-1], time, recording.position)


def _set_points(recording: Recording, dt: float, length: int, firmware: PositionFirmware) -> Array:
    """Mean set-point of each of so many grid steps, rad."""
    periods = round(dt / firmware.period)
    signals = np.empty((periods * length, 4))
    _fill_signals(signals, recording, firmware.period, firmware)
    limits = set_point_limits(recording, firmware)
    return slewed_means(signals[:, GOAL], signals[:, ENABLED], signals[:, MEASURED], limits, periods)


def set_point_limits(recording: Recording, firmware: PositionFirmware) -> SetPointLimits:
    """Return how fast the set-points of a firmware followed the goals of a recording."""
    acceleration = firmware.accelerated(recording.goal_acceleration).goal_acceleration
    return SetPointLimits(firmware.period, firmware.goal_speed_limit, acceleration)


def _supply(recording: Recording, dt: float, length: int) -> Array:
    """Mean supply of each of so many grid steps, V."""
    time = recording.time - recording.time[0]
    readings = _filled(recording.voltage, recording.supply_voltage)
    return held_mean(time, readings, _grid(length + 1, dt))


def _mean_supply(recording: Recording) -> float:
    return float(_filled(recording.voltage, recording.supply_voltage).mean())


def _restart_times(length: int, stride: int, dt: float) -> Array:
    """Times, s, of the restarts of a log so many steps long, `stride` steps apart."""
    return _grid(length, dt)[stride // 2 :: stride] if stride else np.empty(0)


def _grid(points: int, dt: float) -> Array:
    return np.arange(points, dtype=np.float64) * np.float64(dt)


def held_mean(time: Array, values: Array, edges: Array) -> Array:
    """Mean, between successive edges, of a signal that keeps each value until the next sample."""
    offset = values[0]  # keeps a constant signal exact
    end = max(edges[-1], time[-1]) + 1.0
    knots = np.append(time, end)
    area = np.concatenate([[0.0], np.cumsum((values - offset) * np.diff(knots))])
    return np.asarray(offset + np.diff(np.interp(edges, knots, area)) / np.diff(edges))


def _filled(values: Array, default: float) -> Array:
    """Replace NaN by the last finite value before it, at the start by the first, all by `default`."""
    known = np.isfinite(values)
    if not known.any():
        return np.full(len(values), default)
    last = np.maximum.accumulate(np.where(known, np.arange(len(values)), -1))
    return np.asarray(values[np.where(last >= 0, last, np.argmax(known))])


def _blocks(lanes: int) -> tuple[tuple[int, int], ...]:
    """Split lanes into as few blocks as fit the kernel, of nearly equal size."""
    groups = lanes // LANES
    count = -(-lanes // BLOCK)
    edges = [groups * i // count * LANES for i in range(count + 1)]
    return tuple((low, high - low) for low, high in itertools.pairwise(edges))
