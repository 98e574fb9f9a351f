# SPDX-License-Identifier: Apache-2.0
"""Dynaban's experiment on virtual robots that differ from their models: repeated kicks, with and without
feed-forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.feedforward.inverse_dynamics import InverseDynamics
from bam_core.feedforward.law import FeedForwardLaw
from bam_core.mujoco.robot import compile_robot
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.model import ServoModel, load_servo
from papers.dynaban.following import Following, following, following_in_space
from papers.dynaban.performance import (
    Performance,
    Stage,
    Timing,
    detuned,
    perform_by_feed_forward,
    perform_by_position,
)
from papers.dynaban.stand import (
    BODIES,
    DURATION,
    FLAT,
    FOOT,
    JOINTS,
    KICKING,
    SUPPORTING,
    TRUNK,
    stand_kick,
    stand_spec,
)

SUPPLY = 12.0
"""V, as the host believes it to be."""

MOVING = tuple(j for j in range(len(JOINTS)) if j not in FLAT)
"""Joints whose figures the paper interprets."""

REACH = 0.25
"""s; the largest delay that is looked for. A wider search would leave less than 1.2 s of the kick."""


@dataclass(frozen=True, kw_only=True)
class Reality:
    """How robots differ from what the host knows; all was chosen before any kick was simulated.

    Attributes:
        friction: factor of the friction of all servos. The MX-64 of BAM's authors has twice the friction near
            rest of that of Dynaban's authors (docs/open_loop.md); 1.5 is about the middle, as a ratio.
        resistance: factor of the resistance of all servos: copper that is 25 K warmer than on the bench.
        spread: largest relative deviation of one servo's constants, the tolerance that the paper quotes.
        mass: largest relative error of the mass of a body.
        play: of the gears, from end to end, rad; 20' in the data sheet of the MX-64.
        supply: largest relative deviation of the supply in one kick: a battery.
        warmth: largest relative deviation of friction in one kick.
        start: largest distance from the starting posture in which stiction leaves a joint, rad.
        stiction: share of friction at rest within which the integral part has come to rest, at random.
        load_sign: of gravity; -1 is a deliberate error.
        transport: until a goal reaches a servo, and again until a position reaches the host, s: half a period
            of the paper's loop of 100 Hz each, in which all servos are written to and read. Polynomials are
            sent ahead and wait in the servo, so of feed-forward the positions alone are late.
    """

    friction: float = 1.5
    resistance: float = 1.1
    spread: float = 0.1
    mass: float = 0.05
    play: float = float(np.radians(20.0 / 60.0))
    supply: float = 0.03
    warmth: float = 0.05
    start: float = float(np.radians(0.5))
    stiction: float = 1.0
    load_sign: float = 1.0
    transport: float = 5e-3

    def position_timing(self, phase: float) -> Timing:
        """Return the timing of the stock loop, to which the host sends goals at 100 Hz."""
        return Timing(goal_period=0.01, bus_delay=self.transport, reading_age=self.transport, phase=phase)

    def feed_forward_timing(self, phase: float) -> Timing:
        """Return the timing of feed-forward in the firmware, at 1 kHz as in section 2."""
        return Timing(loop_period=1e-3, bus_delay=0.0, reading_age=self.transport, phase=phase)


@dataclass(frozen=True, kw_only=True, eq=False)
class Kick:
    """One repetition.

    Attributes:
        stage: the robot as it is this time.
        servos: as they are on a bench, at the temperature of the mean kick.
        phase: of the host's loop, 0..1.
        holding: duty with which the servos hold the starting posture, (joints,): where the integral part has
            come to rest within stiction.
        known_torque: that holds it by the host's model of the robot, (joints,) N·m.
    """

    stage: Stage
    servos: tuple[ServoModel, ...]
    phase: float
    holding: Array
    known_torque: Array

    def ideal_holding(self) -> Array:
        """Return the duty that holds a robot which is as the host knows it, (joints,), without stiction."""
        return _duty(self.stage.servos, self.known_torque, self.stage.supply_voltage)


@dataclass(frozen=True, kw_only=True, eq=False)
class Figures:
    """What repeated runs came to; rows are runs, of one robot after the other.

    Attributes:
        delay: (runs, joints) s.
        deformation: (runs, joints) rad.
        error: (runs, joints) rad, without a shift.
        reached: (runs, joints) range of the measured motion over that of the goal.
        foot_delay: (runs,) of its place, s.
        foot_deformation: (runs,) m.
        trunk_delay: (runs,) of its orientation, s.
        trunk_deformation: (runs,) rad.
        repeats: runs of each robot.
    """

    delay: Array
    deformation: Array
    error: Array
    reached: Array
    foot_delay: Array
    foot_deformation: Array
    trunk_delay: Array
    trunk_deformation: Array
    repeats: int

    def by_robot(self) -> list[Figures]:
        """Return the figures of each robot's runs."""
        robots = range(len(self.delay) // self.repeats)
        runs = [slice(robot * self.repeats, (robot + 1) * self.repeats) for robot in robots]
        return [
            Figures(
                delay=self.delay[rows],
                deformation=self.deformation[rows],
                error=self.error[rows],
                reached=self.reached[rows],
                foot_delay=self.foot_delay[rows],
                foot_deformation=self.foot_deformation[rows],
                trunk_delay=self.trunk_delay[rows],
                trunk_deformation=self.trunk_deformation[rows],
                repeats=self.repeats,
            )
            for rows in runs
        ]

    def spread(self, values: Array) -> Array:
        """Return standard deviations over one robot's repetitions, mean over robots."""
        return np.asarray(
            np.mean(np.std(values.reshape(-1, self.repeats, *values.shape[1:]), axis=1), axis=0)
        )


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Robots and their kicks.

    Attributes:
        reality: how they differ from what the host knows.
        robots: how many.
        repeats: kicks of each; 10 in the paper.
        servo: nominal, of all joints.
        seed: of robots and kicks. Results of 2016 and 2311 had been seen when rules about them were made,
            those of this one had not.
    """

    reality: Reality = field(default_factory=Reality)
    robots: int = 8
    repeats: int = 10
    servo: ServoModel = field(default_factory=lambda: load_servo("mx64"))
    seed: int = 1911

    def kicks(self) -> list[Kick]:
        """Return the kicks, one robot after the other."""
        rng = np.random.default_rng(self.seed)
        result = []
        for _ in range(self.robots):
            scales = 1.0 + rng.uniform(-self.reality.mass, self.reality.mass, len(BODIES))
            servos = [self._real_servo(rng) for _ in JOINTS]
            result += [self._kick(scales, servos, rng) for _ in range(self.repeats)]
        return result

    def _real_servo(self, rng: np.random.Generator) -> ServoModel:
        real, servo = self.reality, self.servo
        biased = replace(
            servo,
            motor=replace(servo.motor, resistance=real.resistance * servo.motor.resistance),
            friction=servo.friction.scaled(no_load=real.friction),
        )
        return detuned(biased, real.spread, rng)

    def _kick(self, scales: Array, servos: Sequence[ServoModel], rng: np.random.Generator) -> Kick:
        real = self.reality
        warmth, supply = 1.0 + rng.uniform(-real.warmth, real.warmth), rng.uniform(-real.supply, real.supply)
        today = tuple(replace(servo, friction=servo.friction.scaled(no_load=warmth)) for servo in servos)
        stage = Stage(
            spec=partial(stand_spec, scales, real.play, gravity_sign=real.load_sign),
            known=stand_spec,
            joints=JOINTS,
            servos=today,
            site=FOOT,
            trunk=TRUNK,
            supply_voltage=SUPPLY * (1.0 + supply),
            settling=0.5,
            start_error=rng.uniform(-real.start, real.start, len(JOINTS)),
        )
        torque = _holding_torque(stand_spec(scales, gravity_sign=real.load_sign))
        rest = np.array(
            [float(servo.friction.budget(t, -t, 0.0)) for servo, t in zip(today, torque, strict=True)]
        )
        pressed = torque + rng.uniform(-real.stiction, real.stiction, len(JOINTS)) * rest
        return Kick(
            stage=stage,
            servos=tuple(servos),
            phase=float(rng.uniform()),
            holding=_duty(today, pressed, stage.supply_voltage),
            known_torque=_holding_torque(stand_spec()),
        )


def by_position(kicks: Sequence[Kick], reality: Reality) -> list[Performance]:
    """Return runs with the stock position loop."""
    return [
        perform_by_position(
            kick.stage,
            stand_kick(),
            DURATION,
            timing=reality.position_timing(kick.phase),
            integral=kick.holding,
        )
        for kick in kicks
    ]


def by_feed_forward(
    kicks: Sequence[Kick], reality: Reality, laws: Sequence[Sequence[FeedForwardLaw]]
) -> list[Performance]:
    """Return runs with feed-forward.

    Args:
        kicks: of robots.
        reality: whose timing counts.
        laws: of the joints in each kick, as the firmware has them.
    """
    return [
        perform_by_feed_forward(
            kick.stage,
            stand_kick(),
            DURATION,
            of_kick,
            timing=reality.feed_forward_timing(kick.phase),
            nominal_supply=SUPPLY,
            integral=kick.holding - _fed_forward(of_kick, kick.known_torque),
        )
        for kick, of_kick in zip(kicks, laws, strict=True)
    ]


def figures(runs: Sequence[Performance], repeats: int) -> Figures:
    """Return delays and deformations of runs, `repeats` of each robot.

    A joint that stiction does not let move by a count of its encoder has no delay: zero.
    """
    dt = float(runs[0].time[1] - runs[0].time[0])
    joints = range(runs[0].goal.shape[1])
    followed = [[_joint_following(run, j, dt) for j in joints] for run in runs]
    feet = [following_in_space(run.goal_place, run.place, dt, reach=REACH) for run in runs]
    trunks = [following_in_space(run.goal_tilt, run.tilt, dt, reach=REACH) for run in runs]
    return Figures(
        delay=np.array([[joint.delay for joint in row] for row in followed]),
        deformation=np.array([[joint.deformation for joint in row] for row in followed]),
        error=np.array([[joint.error for joint in row] for row in followed]),
        reached=np.array([np.ptp(run.position, axis=0) / np.ptp(run.goal, axis=0) for run in runs]),
        foot_delay=np.array([foot.delay for foot in feet]),
        foot_deformation=np.array([foot.deformation for foot in feet]),
        trunk_delay=np.array([trunk.delay for trunk in trunks]),
        trunk_deformation=np.array([trunk.deformation for trunk in trunks]),
        repeats=repeats,
    )


def _joint_following(run: Performance, joint: int, dt: float) -> Following:
    goal, measured = run.goal[:, joint], run.position[:, joint]
    if np.ptp(measured) < FIRMWARES["mx-protocol1"].resolution:
        error = float(np.sqrt(np.mean((goal - measured) ** 2)))
        return Following(delay=0.0, deformation=error, error=error)
    return following(goal, measured, dt, reach=REACH)


def leg_spread(of_way: Figures, leg: str) -> float:
    """Return the spread of the deformation, mean over a leg's joints that move, rad.

    Args:
        found: of repeated runs.
        leg: "supporting" or "kicking".
    """
    chosen = range(len(JOINTS))[SUPPORTING if leg == "supporting" else KICKING]
    return float(np.mean(of_way.spread(of_way.deformation)[[j for j in chosen if j in MOVING]]))


def _holding_torque(spec: mujoco.MjSpec) -> Array:
    """Return the torques, (joints,) N·m, that hold the starting posture."""
    start = stand_kick()(np.zeros(1))[0]
    rest = np.zeros_like(start)
    return InverseDynamics(compile_robot(spec), JOINTS).torque(start, rest, rest)[0]


def _duty(servos: Sequence[ServoModel], torque: Array, supply: float) -> Array:
    """Return the duty that gives motor torques at rest."""
    per_volt = np.array([servo.motor.torque_constant / servo.motor.resistance for servo in servos])
    return np.asarray(torque / per_volt / supply)


def _fed_forward(laws: Sequence[FeedForwardLaw], torque: Array) -> Array:
    """Return the duty that laws feed forward at rest."""
    volts = [float(law.voltage(0.0, 0.0, 1e-3, t)) for law, t in zip(laws, torque, strict=True)]
    return np.array(volts) / SUPPLY
