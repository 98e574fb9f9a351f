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
from bam_core.feedforward.pid import Pid, PidGains
from bam_core.mujoco.actuation import ServoActuation
from bam_core.mujoco.equip import equip
from bam_core.mujoco.robot import compile_robot
from bam_core.servo.firmware_laws import VoltageFirmware
from bam_core.servo.model import ServoModel
from papers.dynaban.motions import Motion

MARGIN = 0.6
"""s; at rest before and after the motion, recorded too."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What performs, and what differs from one run to the next.

    Attributes:
        spec: of the robot as it is, without servos; a new one for every run. A hinge "NAME play" beside the
            joint NAME is the play of its gear; encoders sit behind it, and tell the sum of both.
        joints: names, in the order of every array.
        servos: as they really are, at the joints.
        site: whose path is recorded.
        trunk: site whose orientation is recorded; empty: none.
        known: the robot as the host believes it to be, with the same joints and sites; None: as it is.
        supply_voltage: as it really is, V.
        settling: s, at rest before the recording.
        start_error: (joints,) by which joints stand off at first, before the settling, rad.
    """

    spec: Callable[[], mujoco.MjSpec]
    joints: tuple[str, ...]
    servos: tuple[ServoModel, ...]
    site: str
    trunk: str = ""
    known: Callable[[], mujoco.MjSpec] | None = None
    supply_voltage: float = 12.0
    settling: float = 1.0
    start_error: Array | float = 0.0

    def known_model(self) -> mujoco.MjModel:
        """Return the robot as the host believes it to be."""
        return compile_robot((self.spec if self.known is None else self.known)())


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Of bus and loops.

    Attributes:
        goal_period: in which positions are sent to the stock loop, s; 100 Hz in the paper.
        loop_period: of the PWM loop on the host, s.
        bus_delay: until what is sent acts, s.
        reading_age: how old the positions are that the host records, s; loops have fresh ones.
        phase: of both against the motion, 0..1 of their period.
    """

    goal_period: float = 0.01
    loop_period: float = 0.002
    bus_delay: float = 0.001
    reading_age: float = 0.0
    phase: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Performance:
    """A run; rows are a time step apart, and time is zero where the motion begins.

    Attributes:
        time: (n,) s, from -MARGIN on.
        goal: (n, joints) rad.
        position: (n, joints) rad, as the host records it.
        duty: (n, joints) -1..1.
        goal_place: (n, 3) of the site, m.
        place: (n, 3) of the site, m.
        goal_tilt: (n, 3) of the trunk: roll, pitch, yaw, rad; zero where none is recorded.
        tilt: (n, 3) of the trunk, likewise.
        model_share: of the time in which the model's contribution was on, 0..1; 0 without one.
    """

    time: Array
    goal: Array
    position: Array
    duty: Array
    goal_place: Array
    place: Array
    goal_tilt: Array
    tilt: Array
    model_share: float


def perform_by_position(
    stage: Stage,
    motion: Motion,
    duration: float,
    *,
    gains: PidGains | None = None,
    timing: Timing | None = None,
    integral: Array | float = 0.0,
) -> Performance:
    """Let the servos' own PID follow goal positions that arrive now and then, as stock servos do.

    Args:
        stage: who performs.
        motion: at rest at both ends.
        duration: of the motion, s.
        gains: of the PID.
        timing: of the bus.
        integral: where the integral part begins, duty, (joints,): after standing for long, what holds.
    """
    timing = Timing() if timing is None else timing
    robot = _Robot(stage, timing)
    pid = Pid(PidGains() if gains is None else gains, robot.firmware, len(stage.joints))
    pid.reset(integral)
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
    integral: Array | float = 0.0,
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
        integral: as of `perform_by_position`, beside what the laws feed forward.
    """
    timing = Timing() if timing is None else timing
    robot = _Robot(stage, timing)
    dynamics = InverseDynamics(stage.known_model(), stage.joints)
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
    controller.pid.reset(integral)
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

    def __init__(self, stage: Stage, timing: Timing) -> None:
        by_joint: Mapping[str, ServoModel] = dict(zip(stage.joints, stage.servos, strict=True))
        spec = stage.spec()
        equip(spec, by_joint)
        self.model = compile_robot(spec)
        self.data = mujoco.MjData(self.model)
        self.actuation = ServoActuation(self.model, self.data, by_joint)
        self.stage, self.timing, self.timestep = stage, timing, float(self.model.opt.timestep)
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
        order, play = self._addresses()
        data.qpos[order] = goal[0] + stage.start_error
        actuation.supply_voltage[:] = stage.supply_voltage
        actuation.torque_enabled[:] = 1.0
        count_size = self.firmware.resolution
        position, duties, shares = np.empty_like(goal), np.empty_like(goal), np.empty(count)
        place, tilt = np.empty((count, 3)), np.zeros((count, 3))
        for k in range(count):
            position[k] = data.qpos[order]
            if play:
                position[k] += data.qpos[play]
            duties[k], shares[k] = duty(time[k], sent[k], count_size * np.rint(position[k] / count_size))
            actuation.goal_duty[:] = duties[k]
            actuation.step()
            place[k], tilt[k] = self._seen(data)  # of where the step began
        kept = slice(round(stage.settling / dt), None)
        late = round(self.timing.reading_age / dt)
        recorded = np.maximum(np.arange(count) - late, 0)[kept]
        goal_place, goal_tilt = self._wanted(goal[kept])
        return Performance(
            time=time[kept],
            goal=goal[kept],
            position=position[recorded],
            duty=duties[kept],
            goal_place=goal_place,
            place=place[recorded],
            goal_tilt=goal_tilt,
            tilt=tilt[recorded],
            model_share=float(np.mean(shares[kept])),
        )

    def _addresses(self) -> tuple[list[int], list[int]]:
        """Return where in qpos joints and their play are; no play where not every joint has some."""
        names = {self.model.joint(index).name for index in range(self.model.njnt)}
        order = [int(self.model.joint(name).qposadr[0]) for name in self.stage.joints]
        plays = [f"{name} play" for name in self.stage.joints]
        if not names.issuperset(plays):
            return order, []
        return order, [int(self.model.joint(name).qposadr[0]) for name in plays]

    def _seen(self, data: mujoco.MjData) -> tuple[Array, Array]:
        """Return place of the site and orientation of the trunk."""
        place = np.array(data.site(self.stage.site).xpos)
        if not self.stage.trunk:
            return place, np.zeros(3)
        return place, _roll_pitch_yaw(data.site(self.stage.trunk).xmat)

    def _wanted(self, positions: Array) -> tuple[Array, Array]:
        """Return places and orientations, (n, 3) each, of (n, joints) in the robot that the host knows."""
        model = self.stage.known_model()
        order = [int(model.joint(name).qposadr[0]) for name in self.stage.joints]
        data = mujoco.MjData(model)
        places = np.empty((2, len(positions), 3))
        for k, position in enumerate(positions):
            data.qpos[order] = position
            mujoco.mj_kinematics(model, data)
            places[:, k] = self._seen(data)
        return places[0], places[1]


def _roll_pitch_yaw(matrix: Array) -> Array:
    """Return the angles of R = R_z(yaw)·R_y(pitch)·R_x(roll), rad, from its (9,) elements by rows."""
    return np.array(
        [
            np.arctan2(matrix[7], matrix[8]),
            -np.arcsin(np.clip(matrix[6], -1.0, 1.0)),
            np.arctan2(matrix[3], matrix[0]),
        ]
    )


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
    return replace(servo, motor=motor, friction=servo.friction.scaled(no_load=float(shares[3])))
