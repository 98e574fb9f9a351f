# SPDX-License-Identifier: Apache-2.0
"""One joint at a time follows its goals, the others as measured: many robots at once, without MuJoCo's steps.

What each joint carries is computed once per run (`joint_loads`); the kernel that simulates servos on a bench
then lets its servo drive this load in closed loop. `RobotBench` with others as measured does the same slowly.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.robot.as_measured import measured_path
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.joint_loads import JointLoads, joint_loads
from bam_core.robot.restarts import start_states
from bam_core.robot.run import RobotRun
from bam_core.robot.table_loads import Rest, with_table
from bam_core.servo.gains import gain_of
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import ServoModel
from bam_core.simulation.kernel.block import simulate_block
from bam_core.simulation.kernel.lanes import BLOCK, LANES
from bam_core.simulation.packing import held_mean
from bam_core.simulation.rollout import PARAMETERS, parameter_vector
from bam_core.simulation.rows import ENABLED, GOAL, SUPPLY, LogRows, Stepping, firmware_stepping

_KNOT = 0.012  # s; measured motions have nothing above 8 Hz
_SETTLING = 0.5  # s before a run with its first goals
_BLOCKS = 8  # of lanes in one part: what they have in common is laid out once for all
_DELAY = PARAMETERS.index("command_delay")


class JointRollout:
    """Joints of one type of servo in one run.

    Attributes:
        run: that is followed.
        joints: that are simulated, by name.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        run: RobotRun,
        servos: Mapping[str, ServoModel],
        names: Sequence[str],
        *,
        step: float,
        table: Mapping[str, float],
    ) -> None:
        """Prepare a run.

        Args:
            model: the robot with its servos, as described; its base is fixed.
            run: to follow, without gaps; gains must be known.
            servos: joint -> servo, all of one firmware; those that are simulated.
            names: of deviations that loads depend on; see `joint_loads`.
            step: of the simulation, s; no shorter than the period of a firmware is used.
            table: point -> m, height of a table that it rests on.
        """
        self.run, self.joints = run, tuple(servos)
        self._copies = max(BLOCK // len(self.joints), 1)
        step = max(step, *(servo.firmware.period for servo in servos.values()))
        begin, end = run.time[0] - _SETTLING, run.time[run.counts][-1]
        self._times = begin + step * np.arange(round((end - begin) / step) + 1)
        knot = max(round(_KNOT / step), 1)
        self._loads = _loads(model, run, servos, names, self._times[0::knot], step, table)
        self._stepping = (*_stepping(next(iter(servos.values())), step, knot),)
        self._servos = servos
        self._signals = _signals(run, servos, self._times)
        self._logs = _log_rows(run, servos, len(self._times))
        self._restarts = np.zeros((0, 2, len(self.joints)))
        last = np.clip(np.searchsorted(self._times, run.time, side="right") - 1, 0, len(self._times) - 2)
        self._before, self._share = last, np.clip((run.time - self._times[last]) / step, 0.0, 1.0)

    def restarted(self, horizon: float) -> JointRollout:
        """Return a rollout whose simulations start anew from measured states every `horizon`, s."""
        copied, step = copy.copy(self), float(self._times[1] - self._times[0])
        restart = max(round(horizon / step), 1)
        at = np.maximum(self._times[restart // 2 :: restart], self.run.time[0])
        columns = [self.run.column(joint) for joint in self.joints]
        states = np.stack(start_states(self.run, self._servos, at), axis=1)[:, :, columns]
        copied._stepping = (*Stepping(*self._stepping)._replace(restart=restart),)
        copied._restarts = states
        return copied

    @property
    def part(self) -> int:
        """Robots that one call should simulate; more take no less time each."""
        return _BLOCKS * self._copies

    def positions(
        self, servos: Sequence[Mapping[str, ServoModel]], deviations: Sequence[RobotDeviations]
    ) -> Array:
        """Return (robots, n, joints) rad, where joints are at the times of the run, as their encoders read.

        Args:
            servos: joint -> servo, of each robot.
            deviations: of each robot.
        """
        count, copies = len(self.joints), min(self._copies, len(servos))
        # Robot after robot, joint after joint; lanes without a robot do as the last one.
        lanes = np.minimum(np.arange(-(-copies * count // LANES) * LANES), copies * count - 1)
        joint, robot = lanes // copies, lanes % copies
        signals, restarts = (
            _by_lane(values, copies, len(lanes)) for values in (self._signals, self._restarts)
        )
        logs = tuple(self._logs[:, joint])
        rows, amounts = self._candidates(servos, deviations)
        loads = np.empty((self._loads.nominal.shape[1], 5, len(lanes)))
        trace = np.empty((2, len(self._times), len(lanes)))
        result = np.empty((len(servos), len(self.run.time), count))
        for begin in range(0, len(servos), copies):
            taken = np.minimum(np.arange(begin, begin + copies), len(servos) - 1)
            for place in range(count):
                self._loads.write(place, amounts[:, taken], place * copies, loads)
            loads[:, :, copies * count :] = loads[:, :, copies * count - 1, None]
            simulate_block(
                np.ascontiguousarray(rows[taken[robot], joint]),
                0,
                len(lanes),
                (signals, np.empty((0, len(lanes))), logs, restarts, loads),
                self._stepping,
                np.empty(len(lanes)),
                trace,
            )
            path = trace[0]
            before = path[self._before]
            at = before + self._share[:, None] * (path[self._before + 1] - before)
            real = min(copies, len(servos) - begin)
            by_joint = at[:, : copies * count].reshape(len(at), count, copies)[:, :, :real]
            result[begin : begin + real] = by_joint.transpose(2, 0, 1)
        return result

    def _candidates(
        self, servos: Sequence[Mapping[str, ServoModel]], deviations: Sequence[RobotDeviations]
    ) -> tuple[Array, Array]:
        """Return (robots, joints, PARAMETERS) candidates, and (names, robots) what their loads depend on."""
        rows = np.array(
            [
                [_row(robot.unit(units[joint], joint), robot.delay) for joint in self.joints]
                for units, robot in zip(servos, deviations, strict=True)
            ]
        )
        by_name = [robot.by_name() for robot in deviations]
        amounts = np.array([[values.get(name, 0.0) for values in by_name] for name in self._loads.names])
        return rows, amounts.reshape(-1, len(by_name))


def _by_lane(values: Array, copies: int, lanes: int) -> Array:
    """Return (..., lanes) values of (..., joints): so many copies of each, the last in lanes left over."""
    count = values.shape[-1]
    laid_out = np.empty((*values.shape[:-1], lanes))
    for place in range(count):  # an index for all lanes takes three times as long
        laid_out[..., place * copies : (place + 1) * copies] = values[..., place : place + 1]
    laid_out[..., count * copies :] = values[..., -1:]
    return laid_out


def _row(servo: ServoModel, delay: float) -> Array:
    row = parameter_vector(servo)
    row[_DELAY] = delay
    return row


def _loads(
    model: mujoco.MjModel,
    run: RobotRun,
    servos: Mapping[str, ServoModel],
    names: Sequence[str],
    knots: Array,
    step: float,
    table: Mapping[str, float],
) -> JointLoads:
    """Return the loads of joints at knots, one more than are given."""
    spacing = float(knots[1] - knots[0])
    times = np.append(knots, knots[-1] + spacing)
    inside = np.minimum(times, run.time[-1] - spacing)  # behind the end, joints do not stop all at once
    around = np.concatenate([times, inside - spacing, inside, inside + spacing])
    path = measured_path(around, run.time, run.position).reshape(4, len(times), -1)
    speed, acceleration = (path[3] - path[1]) / (2.0 * spacing), np.diff(path[1:], 2, axis=0)[0] / spacing**2
    motion = np.stack([path[0], speed, acceleration])
    moving = [int(model.joint(joint).id) for joint in run.joints]
    own = [int(model.joint(joint).id) for joint in servos]
    loads = joint_loads(model, moving, own, motion, names)
    goals = run.goal_position[np.maximum(np.searchsorted(run.time, times, side="right") - 1, 0)]
    armature = np.array([servo.motor.armature for servo in servos.values()])
    for point, height in table.items():
        rest = Rest(point=point, height=height, goals=goals, armature=armature, step=step)
        loads = with_table(loads, model, moving, own, motion[0], rest)
    return loads


def _stepping(servo: ServoModel, step: float, knot: int) -> Stepping:
    period = servo.firmware.period  # `step` at most
    return Stepping(
        dt=step,
        substeps=1,
        integrator=INTEGRATORS.index("midpoint"),
        opposing_only=servo.friction.quadratic_rule == "opposing",
        restart=0,
        **firmware_stepping(servo.firmware),
        renewal=1,
        lead=0.5 * (step - period),
        slew_share=0.5 * (1.0 + period / step),
        knot=knot,
    )


def _signals(run: RobotRun, servos: Mapping[str, ServoModel], times: Array) -> Array:
    """Return (steps, 4, joints) the commands of servos in each step."""
    edges = np.append(times, 2.0 * times[-1] - times[-2])
    signals = np.zeros((len(times), 4, len(servos)))
    for column, (joint, servo) in enumerate(servos.items()):
        recorded = run.column(joint)
        given, goals = run.goals_of(joint)
        # A firmware looks at its goal once per period.
        stamps = np.append(times[0], given + 0.5 * servo.firmware.period)
        signals[:, GOAL, column] = held_mean(stamps, np.append(run.goal_before[recorded], goals), edges)
        supply = run.supply_voltage
        signals[:, SUPPLY, column] = servo.nominal_voltage if supply is None else supply
    signals[:, ENABLED] = 1.0
    return signals


def _log_rows(run: RobotRun, servos: Mapping[str, ServoModel], steps: int) -> Array:
    """Return (rows, joints), the rows of `LogRows`."""
    values = np.zeros((len(LogRows._fields), len(servos)))
    rows = LogRows(*values)
    rows.length[:], rows.feedback[:] = steps, 1.0
    for column, (joint, servo) in enumerate(servos.items()):
        kp, kd = gain_of(run.kp, joint), gain_of(run.kd, joint) or 0.0
        assert kp is not None, "the model could not have been compiled"
        rows.stiffness[column], rows.damping[column] = servo.firmware.gains(kp)
        rows.rate_time[column] = servo.firmware.rate_time(kp, kd)
        rows.integral_rate[column] = servo.firmware.integral_rate(kp, gain_of(run.ki, joint) or 0.0)
        acceleration = gain_of(run.goal_acceleration, joint)
        rows.goal_acceleration[column] = servo.firmware.accelerated(acceleration).goal_acceleration
        rows.demand_limit[column] = servo.firmware.demand_limit
        rows.position[column] = run.position[0, run.column(joint)]
    return values
