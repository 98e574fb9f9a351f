# SPDX-License-Identifier: Apache-2.0
"""A robot in MuJoCo that performs a motion: by the stock position loop, or by feed-forward over a bus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError, Unsupported
from bam_core.feedforward.buffer import HandOver, Limits, PieceBuffer
from bam_core.feedforward.controller import FeedForwardController
from bam_core.feedforward.inverse_dynamics import InverseDynamics, pieces_from_dynamics
from bam_core.feedforward.law import FeedForwardLaw
from bam_core.feedforward.motions import Motion
from bam_core.feedforward.pid import Pid, PidGains
from bam_core.mujoco.actuation import ServoActuation
from bam_core.mujoco.robot import compile_robot, equip
from bam_core.servo.firmware import VoltageFirmware
from bam_core.servo.model import ServoModel

MARGIN = 0.6
"""s; at rest before and after the motion, recorded too."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What performs, and what differs from one run to the next.

    Attributes:
        spec: of the robot, without servos; a new one for every run.
        joints: names, in the order of every array.
        servos: as they really are, at the joints.
        site: whose path is recorded.
        supply_voltage: as it really is, V.
        settling: s, at rest before the recording.
    """

    spec: Callable[[], mujoco.MjSpec]
    joints: tuple[str, ...]
    servos: tuple[ServoModel, ...]
    site: str
    supply_voltage: float = 12.0
    settling: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Of bus and loops.

    Attributes:
        goal_period: in which positions are sent to the stock loop, s; 100 Hz in the paper.
        loop_period: of the PWM loop on the host, s.
        bus_delay: until what is sent acts, s.
        phase: of both against the motion, 0..1 of their period.
    """

    goal_period: float = 0.01
    loop_period: float = 0.002
    bus_delay: float = 0.001
    phase: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Performance:
    """A run; rows are a time step apart, and time is zero where the motion begins.

    Attributes:
        time: (n,) s, from -MARGIN on.
        goal: (n, joints) rad.
        position: (n, joints) rad.
        duty: (n, joints) -1..1.
        goal_place: (n, 3) of the site, m.
        place: (n, 3) of the site, m.
        model_share: of the time in which the model's contribution was on, 0..1; 0 without one.
    """

    time: Array
    goal: Array
    position: Array
    duty: Array
    goal_place: Array
    place: Array
    model_share: float


def perform_by_position(
    stage: Stage,
    motion: Motion,
    duration: float,
    *,
    gains: PidGains | None = None,
    timing: Timing | None = None,
) -> Performance:
    """Let the servos' own PID follow goal positions that arrive now and then, as stock servos do.

    Args:
        stage: who performs.
        motion: at rest at both ends.
        duration: of the motion, s.
        gains: of the PID.
        timing: of the bus.
    """
    timing = Timing() if timing is None else timing
    robot = _Robot(stage)
    pid = Pid(PidGains() if gains is None else gains, robot.firmware, len(stage.joints))
    period = timing.goal_period

    def goals(time: Array) -> Array:
        sent = np.floor((time - timing.bus_delay) / period + timing.phase) - timing.phase
        return motion(period * sent)[0]

    def duty(time: float, goal: Array, position: Array) -> tuple[Array, float]:
        return pid.duty(goal - position, robot.timestep), 0.0

    return robot.run(motion, duration, goals, duty)


def perform_by_feed_forward(
    stage: Stage,
    motion: Motion,
    duration: float,
    laws: Sequence[FeedForwardLaw],
    *,
    gains: PidGains | None = None,
    timing: Timing | None = None,
    nominal_supply: float = 12.0,
    cut: float = np.inf,
) -> Performance:
    """Let a host in a PWM loop follow pieces from inverse dynamics, sent one ahead of the one that plays.

    Args:
        stage: who performs.
        motion: as of `perform_by_position`.
        duration: of the motion, s.
        laws: of the joints, as the host believes them to be.
        gains: of the PID.
        timing: of the bus.
        nominal_supply: V, as the host believes it to be.
        cut: when the stream of pieces ends, s.
    """
    timing = Timing() if timing is None else timing
    robot = _Robot(stage)
    dynamics = InverseDynamics(compile_robot(stage.spec()), stage.joints)
    pieces = pieces_from_dynamics(dynamics, motion, duration)
    begin = motion(np.zeros(1))[0]
    load = dynamics.torque(begin, 0.0 * begin, 0.0 * begin)[0]
    wide = np.full(len(stage.joints), np.pi)
    limits = Limits(low=-wide, high=wide, speed=3.0 * wide, torque=2.0 * wide)
    controller = FeedForwardController(
        PieceBuffer(begin[0], limits, HandOver(), load),
        laws,
        robot.firmware,
        gains,
        lead=timing.bus_delay + 0.5 * timing.loop_period,
    )
    loop = max(round(timing.loop_period / robot.timestep), 1)
    late = round(timing.bus_delay / robot.timestep)
    waiting = [piece for piece in pieces if piece.start < cut]
    queue = [np.zeros(len(stage.joints))] * (late + 1)
    ticks = [round(timing.phase * loop)]

    def duty(time: float, goal: Array, position: Array) -> tuple[Array, float]:
        while waiting and waiting[0].start < time + 2.0 * waiting[0].duration:
            try:
                controller.buffer.offer(waiting[0], time)
            except BamError:
                break
            del waiting[0]
        if ticks[0] % loop == 0:
            now = controller.duty(time, position, nominal_supply, timing.loop_period)
        else:
            now = queue[-1]
        ticks[0] += 1
        queue.append(now)
        return queue.pop(0), float(np.mean(controller.model_on))

    return robot.run(motion, duration, lambda time: motion(time)[0], duty)


class _Robot:
    """Steps a robot whose servos are commanded by duty."""

    def __init__(self, stage: Stage) -> None:
        by_joint: Mapping[str, ServoModel] = dict(zip(stage.joints, stage.servos, strict=True))
        spec = stage.spec()
        equip(spec, by_joint)
        self.model = compile_robot(spec)
        self.data = mujoco.MjData(self.model)
        self.actuation = ServoActuation(self.model, self.data, by_joint)
        self.stage, self.timestep = stage, float(self.model.opt.timestep)
        firmware = stage.servos[0].firmware
        if not isinstance(firmware, VoltageFirmware):
            raise Unsupported(
                f"servo '{stage.servos[0].name}'",
                "regulates current",
                expected="PWM",
                advice="choose another",
            )
        self.firmware = firmware

    def run(
        self,
        motion: Motion,
        duration: float,
        goals: Callable[[Array], Array],
        duty: Callable[[float, Array, Array], tuple[Array, float]],
    ) -> Performance:
        stage, dt, actuation, data = self.stage, self.timestep, self.actuation, self.data
        before = round((stage.settling + MARGIN) / dt)
        count = before + round((duration + MARGIN) / dt)
        time: Array = np.arange(-before, count - before, dtype=np.float64) * np.float64(dt)
        goal, sent = motion(time)[0], goals(time)
        order = [int(self.model.joint(name).qposadr[0]) for name in stage.joints]
        data.qpos[order] = goal[0]
        actuation.supply_voltage[:] = stage.supply_voltage
        actuation.torque_enabled[:] = 1.0
        actuation.kp[:] = 1.0
        # A goal that makes the firmware's own law ask for just this duty puts the servo into PWM mode.
        per_duty = 1.0 / np.array([float(servo.firmware.gains(1.0)[0]) for servo in stage.servos])
        count_size = self.firmware.resolution
        position, duties, shares = np.empty_like(goal), np.empty_like(goal), np.empty(count)
        place = np.empty((count, 3))
        site = data.site(stage.site)
        for k in range(count):
            position[k] = data.qpos[order]
            duties[k], shares[k] = duty(time[k], sent[k], count_size * np.rint(position[k] / count_size))
            actuation.goal_position[:] = position[k] + per_duty * duties[k]
            actuation.step()
            place[k] = site.xpos  # of where the step began
        kept = slice(round(stage.settling / dt), None)
        return Performance(
            time=time[kept],
            goal=goal[kept],
            position=position[kept],
            duty=duties[kept],
            goal_place=self._places(goal[kept], order),
            place=place[kept],
            model_share=float(np.mean(shares[kept])),
        )

    def _places(self, positions: Array, order: list[int]) -> Array:
        data = mujoco.MjData(self.model)
        found = np.empty((len(positions), 3))
        for k, position in enumerate(positions):
            data.qpos[order] = position
            mujoco.mj_kinematics(self.model, data)
            found[k] = data.site(self.stage.site).xpos
        return found


def detuned(servo: ServoModel, by: float, rng: np.random.Generator) -> ServoModel:
    """Return a servo whose motor constants and friction are each off by up to a share, as real ones are.

    Args:
        servo: as it should be.
        by: largest share, 0..1; 0.1 in the paper.
        rng: draws the shares, uniformly.
    """
    shares = 1.0 + rng.uniform(-by, by, 4)
    motor = replace(
        servo.motor,
        torque_constant=shares[0] * servo.motor.torque_constant,
        resistance=shares[1] * servo.motor.resistance,
        armature=shares[2] * servo.motor.armature,
    )
    return replace(servo, motor=motor, friction=servo.friction.temperature_scaled(float(shares[3])))
