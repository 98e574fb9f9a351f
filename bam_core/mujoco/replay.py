# SPDX-License-Identifier: Apache-2.0
"""The bench in MuJoCo, following a script or the commands of a recording."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import OutOfRange
from bam_core.mujoco.actuate import actuate
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec
from bam_core.mujoco.equip import equip
from bam_core.mujoco.library_warnings import divergence_reported
from bam_core.mujoco.robot import compile_robot
from bam_core.recordings.recording import Recording
from bam_core.servo.arm_link import ArmLink
from bam_core.servo.bench_effects_file import BenchEffectsLike, load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.packing import pack
from bam_core.simulation.rows import ENABLED, GOAL, SUPPLY

DEFAULT_DT = 1e-3
"""Time step by default, s."""

_STEP_SLACK = 1e-9  # s; commands that fall on a step count for it in spite of rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """A simulated run. Arrays have one entry per step, (n,).

    Attributes:
        time: s.
        position: of the servo, rad.
        velocity: of the servo, rad/s.
        goal_position: rad, in force from this time on.
        torque_enabled: False where the H-bridge is released.
        duty: -1..1, in force from this time on.
        motor_torque: τ_m, N·m.
        friction_torque: τ_f, N·m.
    """

    time: Array
    position: Array
    velocity: Array
    goal_position: Array
    torque_enabled: NDArray[np.bool_]
    duty: Array
    motor_torque: Array
    friction_torque: Array

    def position_at(self, time: Array) -> Array:
        """Return the position in rad at any times in s, interpolated smoothly."""
        from scipy.interpolate import CubicSpline  # a third of a second to load

        return np.asarray(CubicSpline(self.time, self.position)(time))


@dataclass(frozen=True, kw_only=True, eq=False)
class BenchCommands:
    """How a run on the bench starts, and its commands; angles count from where the arm hangs straight down.

    Attributes:
        goal_position: (n,) rad, in force from each time step on.
        torque_enabled: (n,) likewise; or for which share of each step, 0..1.
        supply_voltage: (n,) V, or one for all.
        position: at the start, rad.
        velocity: at the start, rad/s.
        case_temperature_rise: temperature of the motor's case above `motor.REFERENCE_TEMPERATURE`, K.
        kd: derivative gain, firmware units.
        ki: integral gain, firmware units.
        integral: of it at the start, rad; see `simulation.run_start.initial_integral`.
    """

    goal_position: Array
    torque_enabled: Array | NDArray[np.bool_]
    supply_voltage: Array | float
    position: float = 0.0
    velocity: float = 0.0
    case_temperature_rise: float = 0.0
    kd: float = 0.0
    ki: float = 0.0
    integral: float = 0.0


def replay(
    servo: ServoLike,
    bench: PendulumBench,
    commands: BenchCommands,
    *,
    dt: float,
    kp: float,
    bench_effects: BenchEffects = IDEAL_BENCH,
) -> Replay:
    """Simulate the bench through one command per time step.

    Args:
        servo: on the bench's axis.
        bench: load, arm and length.
        commands: start, goals, torque and supply.
        dt: time step, s.
        kp: position gain, firmware units.
        bench_effects: the link between servo and arm (at first at rest) and the arm's mass beyond `bench`.
            Angles are from straight down: the zero offset only moves the encoder's counts. Command delay and
            supply ripple are ignored: commands are given when they take effect, the supply as it is.

    Raises:
        BamError: the time step is not positive or too long for this servo.
        SimulationError: the simulation diverges.
    """
    _require_step(dt)
    servo = load_servo(servo)
    servo.firmware.rate_time(kp, commands.kd)  # refuses one whose effect is not known
    servo.firmware.integral_rate(kp, commands.ki)  # likewise
    run = _BenchRun(servo, bench_effects.corrected(bench), bench_effects, dt)
    data, actuation = run.data, run.actuation
    actuation.kp[:] = kp
    actuation.kd[:] = commands.kd
    actuation.ki[:] = commands.ki
    actuation.case_temperature_rise[:] = commands.case_temperature_rise
    actuation.encoder_zero[:] = bench_effects.zero_offset
    goal, enabled = commands.goal_position, commands.torque_enabled
    steps = len(goal)
    voltage = np.broadcast_to(np.asarray(commands.supply_voltage, dtype=np.float64), (steps,))
    actuation.goal_position[0] = goal[0]
    actuation.torque_enabled[0] = enabled[0]
    actuation.supply_voltage[0] = voltage[0]
    trace = np.empty((5, steps))
    with divergence_reported():
        run.start(commands)
        for k in range(steps):
            trace[0, k] = data.qpos[0]
            trace[1, k] = data.qvel[0]
            actuation.goal_position[0] = goal[k]
            actuation.torque_enabled[0] = enabled[k]
            actuation.supply_voltage[0] = voltage[k]
            run.step()
            trace[2, k] = actuation.duty[0]
            trace[3, k] = actuation.motor_torque[0]
            trace[4, k] = actuation.friction_torque[0]
    return Replay(
        time=np.arange(steps, dtype=np.float64) * np.float64(dt),
        position=trace[0],
        velocity=trace[1],
        goal_position=np.array(goal, dtype=np.float64),
        torque_enabled=np.asarray(enabled, dtype=np.float64) > 0.0,
        duty=trace[2],
        motor_torque=trace[3],
        friction_torque=trace[4],
    )


class _BenchRun:
    """The bench with its servo and, unless the arm is rigid, with an arm on a hinge of its own."""

    def __init__(
        self, servo: ServoModel, bench: PendulumBench, bench_effects: BenchEffects, dt: float
    ) -> None:
        self._link = ArmLink(
            compliance=bench_effects.arm_compliance,
            backlash=bench_effects.arm_backlash,
            inner=servo.motor.armature,
            outer=bench.inertia,
            dt=dt,
        )
        self._gravity_torque = bench.gravity_torque
        self._is_rigid = self._link.is_rigid
        spec = bench_spec(bench, timestep=dt, has_link=not self._is_rigid)
        equip(spec, {BENCH_JOINT: servo})
        model = compile_robot(spec)
        self.data = mujoco.MjData(model)
        self.actuation = actuate(model, self.data, {BENCH_JOINT: servo})
        self._motion = self.data.qpos, self.data.qvel, self.data.qfrc_applied

    def start(self, commands: BenchCommands) -> None:
        """Write the initial state: MuJoCo's velocity belongs half a step before the position."""
        velocity = commands.velocity
        self._put(commands, velocity)
        self.step()
        gained = self.data.qacc * self.actuation.model.opt.timestep
        if abs(self.actuation.friction_torque[0]) < self.actuation.friction_budget[0]:
            gained[0] = 0.0  # friction holds the servo
        self._put(commands, velocity - 0.5 * gained)

    def step(self) -> None:
        """Advance by one time step, with the link's torque on both sides."""
        if not self._is_rigid:
            position, velocity, applied = self._motion
            # The torque acts from half a step before the position to half a step after it, so that position
            # is the midpoint already.
            pull = self._link.torque(position[0] - position[1], velocity[0] - velocity[1], half_step=0.0)
            applied[0], applied[1] = -pull, pull
        self.actuation.step()

    def _put(self, commands: BenchCommands, velocity: float | Array) -> None:
        mujoco.mj_resetData(self.actuation.model, self.data)
        self.data.qpos[:] = commands.position
        if not self._is_rigid:
            self.data.qpos[1] = self._link.rest(commands.position, self._gravity_torque)
        self.data.qvel[:] = velocity
        actuation = self.actuation
        actuation.reset()
        (servo,) = actuation.servos
        kp = float(actuation.kp[0]) * (1.0 + servo.servo_effects.firmware_gain)
        actuation.integral_demand[:] = float(servo.firmware.gains(kp)[0]) * commands.integral


def replay_recording(
    servo: ServoLike,
    recording: Recording,
    *,
    dt: float = DEFAULT_DT,
    bench_effects: BenchEffectsLike = IDEAL_BENCH,
) -> Replay:
    """Simulate a recorded run from its own start, with its load, gain, commands and measured supply voltage.

    Commands, supply, the case's temperature and the state at the start are those that `rollout.Rollout` uses.

    Args:
        servo: that was recorded.
        recording: the run.
        dt: time step, s.
        bench_effects: of the bench that it was recorded on; the same "m4.yaml" as for the servo names those
            that were identified with it. Command delay, link of the arm and zero offset of the encoder apply.

    Raises:
        BamError, SimulationError: as `replay`.
    """
    servo, bench_effects = load_servo(servo), load_bench_effects(bench_effects)
    zero = bench_effects.zero_offset
    servo = dataclasses.replace(
        servo,
        firmware=servo.firmware.limited(recording.demand_limit).accelerated(recording.goal_acceleration),
    )
    commands = recorded_commands(servo, recording, dt, bench_effects)
    run = replay(servo, recording.bench, commands, dt=dt, kp=recording.kp, bench_effects=bench_effects)
    return dataclasses.replace(run, position=run.position + zero, goal_position=run.goal_position + zero)


def recorded_commands(
    servo: ServoModel, recording: Recording, dt: float, bench_effects: BenchEffects = IDEAL_BENCH
) -> BenchCommands:
    """Return a recorded run's start and commands for time steps of dt s, as `replay_recording` gives them.

    Raises:
        BamError: the time step is not positive.
    """
    _require_step(dt)
    recording.require_closed_loop("MuJoCo's bench")
    period = servo.firmware.period
    packed = pack([recording], servo.firmware, period)
    lane = packed.lanes[0]
    zero = bench_effects.zero_offset
    signals = packed.signals[:, :, lane]
    late = bench_effects.command_delay / period
    goal, enabled = (_delayed(signals[:, row], late) for row in (GOAL, ENABLED))
    supply = signals[:, SUPPLY]
    if packed.ripple.size:
        supply = supply + bench_effects.supply_ripple * packed.ripple[:, lane]
    steps = int(np.ceil(recording.duration / dt - _STEP_SLACK)) + 1
    held = ((np.arange(steps) * dt + _STEP_SLACK) / period).astype(np.intp).clip(max=len(signals) - 1)
    return BenchCommands(
        kd=recording.kd,
        ki=recording.ki,
        integral=float(packed.logs.integral[lane]),
        goal_position=goal[held] - zero,
        torque_enabled=_means(enabled, period, dt, steps),
        supply_voltage=supply[held],
        position=float(packed.logs.position[lane]) - zero,
        velocity=float(packed.logs.velocity[lane]),
        case_temperature_rise=float(packed.logs.case_temperature_rise[lane]),
    )


def _require_step(dt: float) -> None:
    if not dt > 0.0:
        raise OutOfRange("time step", dt, "> 0", printed=f"{dt:g} s")


def _delayed(values: Array, steps: float) -> Array:
    """Shift a signal by steps, whole or not; before its first value and after its last it keeps still."""
    index = np.arange(len(values), dtype=np.float64)
    return np.asarray(np.interp(index - np.float64(steps), index, values))


def _means(values: Array, period: float, dt: float, steps: int) -> Array:
    """Return (steps,): means over steps of dt of a signal that holds each value for a period, both in s."""
    ends = np.arange(steps + 1) * dt / period
    beyond = max(math.ceil(ends[-1]) - len(values), 0)
    integral = np.concatenate([[0.0], np.cumsum(np.append(values, np.full(beyond, values[-1])))])
    means = np.diff(np.interp(ends, np.arange(len(integral)), integral)) * period / dt
    return np.asarray(np.round(means, 6))


def simulate_recording(
    servo: ServoLike,
    recording: Recording,
    *,
    dt: float = DEFAULT_DT,
    bench_effects: BenchEffectsLike = IDEAL_BENCH,
) -> Array:
    """Return (n,) rad: where the simulated arm is at the recording's own times; see `replay_recording`."""
    simulated = replay_recording(servo, recording, dt=dt, bench_effects=bench_effects)
    return simulated.position_at(recording.time - recording.time[0])
