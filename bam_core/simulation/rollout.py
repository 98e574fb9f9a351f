# SPDX-License-Identifier: Apache-2.0
"""Simulate recordings with many candidate parameters at once, and return the error of each."""

from __future__ import annotations

import itertools
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.arrays import Array
from bam_core.errors import Missing, OutOfRange, Unsupported, WrongShape
from bam_core.errors.checks import require_positive
from bam_core.recordings.recording import Recording
from bam_core.servo.arm_link import LEAST_COMPLIANCE
from bam_core.servo.effects import EFFECTS, IDEAL_BENCH, BenchEffects
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.friction import FRICTION_PARAMETERS
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import ServoLike, load_servo
from bam_core.simulation.kernel.block import simulate_block
from bam_core.simulation.kernel.lanes import BLOCK, LANES
from bam_core.simulation.packing import PackedLogs, pack, set_point_limits
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.rows import NO_LOADS, Stepping, SteppingValues, firmware_stepping
from bam_core.simulation.samples import SampleChoice, Samples, choose
from bam_core.simulation.threads import allowed_threads

PARAMETERS: tuple[str, ...] = (
    "torque_constant",
    "resistance",
    "armature",
    *FRICTION_PARAMETERS,
    *EFFECTS,
)
"""Columns of candidate arrays: motor constants, the coefficients of `Friction`, effects; in SI units."""

SEMI_IMPLICIT_DT = 5e-3
"""s; the step with which BAM's authors fitted their published parameters."""

WORST_ERROR = 1e4
"""rad; what a candidate is charged whose simulation left the range of floating point."""

DEFAULT_SETTINGS = RolloutSettings()
"""Of a `Rollout`."""


class Rollout:
    """Recordings packed for simulation in closed loop, controller included.

    The controller computes its demand every `dt`, by default the firmware's own period, and holds it; the
    integrator makes `substeps` steps in between, DEFAULT_SUBSTEPS unless `dt` is given. At one step of 1 ms
    the simulation of an MX-106 with M6 friction is within 0.2 mrad (mean) of its limit for small steps, 5 ms
    costs 2.6 mrad.

    Safe to use from several threads. The simulations of one call share the processors available.

    Attributes:
        recordings: those that were packed, in the order of all results.
        dt: period of the controller, s.
        substeps: steps of the integrator per dt.
        stepping: the same and more, as the kernel takes it.
        packed: what the kernel sees of the recordings.
    """

    def __init__(
        self,
        recordings: Sequence[Recording],
        firmware: PositionFirmware,
        settings: RolloutSettings = DEFAULT_SETTINGS,
    ) -> None:
        """Pack recordings.

        Args:
            recordings: at least one.
            firmware: position controller that ran during them.
            settings: of the simulation.

        Raises:
            BamError: no recordings.
        """
        if not recordings:
            raise Missing("recording", "at least one", advice="give some")
        self.recordings = tuple(recordings)
        period = firmware.period if settings.dt is None else settings.dt
        self.dt = dt = float(settings.dt_for(firmware.period))
        require_positive("rollout", dt=dt)
        self.substeps = int(settings.substeps_per_dt)
        short_substeps = int(settings.short_substeps_per_dt)
        restart = settings.restart_for(recordings)
        slew_first = settings.slew_first and any(
            set_point_limits(recording, firmware).is_limited for recording in self.recordings
        )
        self.packed: PackedLogs = pack(self.recordings, firmware, self.dt, restart=restart, slew=slew_first)
        self.stepping = Stepping(
            dt=self.dt,
            substeps=self.substeps,
            integrator=INTEGRATORS.index(settings.integrator),
            opposing_only=settings.quadratic_rule == "opposing",
            restart=self.packed.restart,
            **firmware_stepping(firmware),
            **_renewal(dt, self.substeps, period),
            slew_share=0.5 * (1.0 + period / dt),
        )
        self._slews_first = slew_first
        if slew_first:
            self.stepping = self.stepping._replace(goal_speed_limit=math.inf)
        self._stepping = (*self.stepping,)  # a plain tuple, see `LaneArrays`
        short = {"substeps": short_substeps, **_renewal(dt, short_substeps, period)}
        self._short_stepping = (*self.stepping._replace(**short),)
        self._lane_arrays = (
            self.packed.signals,
            self.packed.ripple,
            tuple(self.packed.logs),
            self.packed.restarts,
            NO_LOADS,
        )
        self._choices: dict[int | tuple[int, ...], SampleChoice] = {}
        self._workers = settings.workers or allowed_threads()
        self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="rollout")

    @classmethod
    def for_servo(
        cls,
        recordings: Sequence[Recording],
        servo: ServoLike,
        *,
        dt: float | None = None,
        substeps: int | None = None,
        restart: float | None = None,
    ) -> Rollout:
        """Pack recordings for a servo: its firmware, integrator and quadratic rule.

        For a servo that was fitted with the "semi_implicit" integrator, `dt` defaults to the step of that
        fit, whose numerical damping its parameters carry.
        """
        servo = load_servo(servo)
        if dt is None and servo.integrator == "semi_implicit":
            dt = SEMI_IMPLICIT_DT
        return cls(
            recordings,
            servo.firmware,
            RolloutSettings(
                dt=dt,
                substeps=substeps,
                integrator=servo.integrator,
                quadratic_rule=servo.friction.quadratic_rule,
                restart=restart,
            ),
        )

    def errors(self, parameters: ArrayLike) -> Array:
        """Return the mean absolute position error of every candidate on every recording.

        Args:
            parameters: (candidates, PARAMETERS) in SI units; or one candidate, (PARAMETERS,).

        Returns:
            (candidates, recordings) rad, always finite: a candidate that diverges gets a large error.

        Raises:
            BamError: wrong shape, or a value that is not finite.
        """
        candidates = _checked(parameters)
        mae = np.zeros((len(candidates), self.packed.count))
        no_trace = np.empty((2, 0, 0))

        def work(task: _Task) -> None:
            errors = self._simulate(candidates, task, no_trace)
            mae[task.rows, task.logs] = errors[: task.used]

        self._share(work, self._tasks(candidates))
        return np.nan_to_num(
            mae[:, self.packed.lanes], nan=WORST_ERROR, posinf=WORST_ERROR, neginf=WORST_ERROR
        ).clip(max=WORST_ERROR)

    def positions(self, parameters: ArrayLike) -> list[Array]:
        """Return the simulated positions of one candidate, at the recordings' own times.

        Args:
            parameters: (PARAMETERS,) in SI units.

        Returns:
            One array (samples,) in rad per recording.

        Raises:
            BamError: wrong shape, or a value that is not finite.
        """
        candidate = _checked(parameters)
        if len(candidate) != 1:
            raise WrongShape(
                "parameters",
                candidate.shape,
                f"one candidate, ({len(PARAMETERS)},)",
                advice="ask for one trajectory at a time",
            )
        everything = self.samples(1)
        return everything.split(everything.positions(candidate)[0])

    def samples(self, every: int | Sequence[int]) -> Samples:
        """Return every n-th sample of the recordings, to be simulated with many candidates.

        Args:
            every: n, of all recordings or of each.
        """
        key = every if isinstance(every, int) else tuple(every)
        if key not in self._choices:
            self._choices[key] = choose(self.recordings, self.packed, every)
        return Samples(self._choices[key], self.traced)

    def traced(self, parameters: ArrayLike, read: Callable[[int, int, Array], None]) -> None:
        """Simulate candidates and show their traces, in the threads that made them.

        Args:
            parameters: (candidates, PARAMETERS) in SI units; or one candidate, (PARAMETERS,).
            read: called with a candidate's row, a lane of the first copy, and the trace (2, steps): positions
                in rad and velocities in rad/s on the grid of `packed`, good until it returns.

        Raises:
            BamError: wrong shape, or a value that is not finite.
        """
        candidates = _checked(parameters)
        steps = self.packed.signals.shape[0]
        local = threading.local()

        def work(task: _Task) -> None:
            if not hasattr(local, "trace"):
                local.trace = np.empty((2, steps, BLOCK))
            self._simulate(candidates, task, local.trace)
            for lane, (row, log) in enumerate(zip(task.rows, task.logs, strict=True)):
                read(int(row), int(log), local.trace[:, :, lane])

        self._share(work, self._tasks(candidates))

    def _tasks(self, candidates: Array) -> list[_Task]:
        """Cut candidates x logs into blocks of lanes, those that need short steps apart from the others."""
        if self._slews_first and candidates[:, PARAMETERS.index("goal_slew_time")].any():
            raise Unsupported(
                "goal_slew_time",
                "goals are slewed already, by the firmware's speed",
                advice="simulate without slew_first",
            )
        needs = _needs_short_steps(candidates)
        if self._short_stepping == self._stepping or not needs.any():
            return self._blocks(len(candidates), self._stepping)
        tasks = []
        for rows, stepping in ((~needs, self._stepping), (needs, self._short_stepping)):
            chosen = np.flatnonzero(rows)
            tasks += [replace(task, rows=chosen[task.rows]) for task in self._blocks(len(chosen), stepping)]
        return tasks

    def _blocks(self, candidates: int, stepping: SteppingValues) -> list[_Task]:
        """Cut so many candidates x logs into blocks of lanes."""
        if not candidates:
            return []
        packed = self.packed
        if packed.copies == 1:
            # Block by block, so that a block's signals stay in the cache while all candidates use them.
            return [
                _Task(
                    first,
                    np.full(used, row),
                    np.arange(first, first + used),
                    -(-used // LANES) * LANES,
                    stepping,
                )
                for first, lanes in packed.blocks
                for row in range(candidates)
                if (used := min(lanes, packed.count - first))
            ]
        # Alike in size, so that no thread waits long for another.
        calls = max(-(-candidates // packed.copies), min(self._threads(), candidates))
        edges = [candidates * i // calls for i in range(calls + 1)]
        return [
            _Task(
                0,
                np.repeat(np.arange(low, high), packed.count),
                np.tile(np.arange(packed.count), high - low),
                -(-(high - low) * packed.count // LANES) * LANES,
                stepping,
            )
            for low, high in itertools.pairwise(edges)
        ]

    def _threads(self) -> int:
        """Return how many threads simulate: no more than where this was made or is called."""
        return min(self._workers, allowed_threads())

    def _share(self, work: Callable[[_Task], None], tasks: Sequence[_Task]) -> None:
        """Do tasks in several threads, this one among them."""
        waiting = deque(tasks)

        def run() -> None:
            while waiting:
                try:
                    task = waiting.popleft()
                except IndexError:
                    return
                work(task)

        helpers = [self._pool.submit(run) for _ in range(min(self._threads(), len(tasks)) - 1)]
        run()
        for helper in helpers:
            helper.result()

    def _simulate(self, candidates: Array, task: _Task, trace: Array) -> Array:
        """Return the mean absolute errors of a task's lanes."""
        errors = np.zeros(task.lanes)
        padded = np.concatenate([task.rows, np.repeat(task.rows[-1:], task.lanes - task.used)])
        simulate_block(
            candidates[padded],
            task.first,
            task.lanes,
            self._lane_arrays,
            task.stepping,
            errors,
            trace,
        )
        return errors


@dataclass(frozen=True)
class _Task:
    """One call of the kernel: lanes from `first` on, the first `used` of them for these rows and logs."""

    first: int
    rows: NDArray[np.intp]
    logs: NDArray[np.intp]
    lanes: int
    stepping: SteppingValues

    @property
    def used(self) -> int:
        return len(self.rows)


def _renewal(dt: float, substeps: int, period: float) -> dict[str, Any]:
    """Return how a firmware with this period renews its demand in steps of dt s: fields of `Stepping`."""
    renewal = max(round(period * substeps / dt), 1)
    return {"renewal": renewal, "lead": max(0.5 * (dt * renewal / substeps - period), 0.0)}


def _needs_short_steps(candidates: Array) -> NDArray[np.bool_]:
    """Return which candidates (candidates, PARAMETERS) have an effect for which long steps are too long.

    A link rings, a firmware sees counts, and friction that takes the load's inertia takes that of the step
    before.
    """
    names = ("arm_compliance", "arm_backlash", "encoder_quantisation", "load_inertia")
    columns = [PARAMETERS.index(name) for name in names]
    return np.asarray((candidates[:, columns] > LEAST_COMPLIANCE).any(axis=1))


def parameter_vector(servo: ServoLike, bench_effects: BenchEffects = IDEAL_BENCH) -> Array:
    """Return the parameters of a servo and of its bench, (PARAMETERS,) in SI units.

    Raises:
        Unsupported: the servo has a gear.
    """
    servo = load_servo(servo)
    servo.require_no_gear("this rollout")
    motor, friction = servo.motor, servo.friction.coefficients()
    constants = (motor.torque_constant, motor.resistance, motor.armature)
    return np.array(
        [*constants, *friction.values(), *servo.effect_values.values(), *vars(bench_effects).values()]
    )


def _checked(parameters: ArrayLike) -> Array:
    candidates = np.atleast_2d(np.ascontiguousarray(parameters, dtype=np.float64))
    if candidates.ndim != 2 or candidates.shape[1] != len(PARAMETERS):
        raise WrongShape(
            "parameters",
            candidates.shape,
            f"(candidates, {len(PARAMETERS)})",
            advice=f"columns are {', '.join(PARAMETERS)}",
        )
    bad = np.argwhere(~np.isfinite(candidates))
    if len(bad):
        row, column = bad[0]
        name = f"parameters, candidate {row}, {PARAMETERS[column]}"
        raise OutOfRange(name, float(candidates[row, column]), "a finite number")
    return candidates
