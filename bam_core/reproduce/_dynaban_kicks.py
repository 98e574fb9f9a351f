# SPDX-License-Identifier: Apache-2.0
"""Dynaban's experiment on virtual robots: repeated kicks, with and without feed-forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from bam_core.arms import arm_spec, find_arm
from bam_core.arrays import Array
from bam_core.feedforward.following import following, following_in_space
from bam_core.feedforward.law import FeedForwardLaw
from bam_core.feedforward.leg import FOOT, LEG_JOINTS, leg_spec
from bam_core.feedforward.motions import KICK_DURATION, THROW_DURATION, Motion, kick, throw
from bam_core.feedforward.performance import (
    Performance,
    Stage,
    Timing,
    detuned,
    perform_by_feed_forward,
    perform_by_position,
)
from bam_core.servo.model import ServoModel, load_servo

TOLERANCE = 0.1
"""By which motor constants are off, as the paper quotes a manufacturer."""

SUPPLY = 12.0
"""V, as the host believes it to be."""

_SUPPLY_SPREAD, _FRICTION_SPREAD = 0.03, 0.05  # share, from one repetition to the next


@dataclass(frozen=True, kw_only=True)
class Robot:
    """A kind of robot and what it performs."""

    spec: Callable[[], mujoco.MjSpec]
    joints: tuple[str, ...]
    servos: tuple[ServoModel, ...]
    site: str
    motion: Motion
    duration: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Figures:
    """What repeated runs came to; rows are runs, of one robot after the other.

    Attributes:
        delay: (runs, joints) s.
        deformation: (runs, joints) rad.
        error: (runs, joints) rad, without a shift.
        place_delay: (runs,) of the site, s.
        place_deformation: (runs,) m.
        repeats: runs of each robot.
    """

    delay: Array
    deformation: Array
    error: Array
    place_delay: Array
    place_deformation: Array
    repeats: int

    def spread(self, values: Array) -> float:
        """Return the standard deviation over one robot's repetitions, mean over robots and joints."""
        return float(np.mean(np.std(values.reshape(-1, self.repeats, *values.shape[1:]), axis=1)))


def leg() -> Robot:
    """Return the leg with six MX-64 that kicks."""
    servo = load_servo("mx64")
    return Robot(
        spec=leg_spec,
        joints=LEG_JOINTS,
        servos=(servo,) * len(LEG_JOINTS),
        site=FOOT,
        motion=kick(),
        duration=KICK_DURATION,
    )


def arm() -> Robot:
    """Return the 2R arm of MX-106 and MX-64 that throws."""
    found = find_arm("dynamixel_2r")
    return Robot(
        spec=lambda: arm_spec(found),
        joints=("shoulder", "elbow"),
        servos=tuple(load_servo(name) for name in found.servos),
        site="tip",
        motion=throw(),
        duration=THROW_DURATION,
    )


def stages(robot: Robot, robots: int, repeats: int, off: float = TOLERANCE) -> list[tuple[Stage, Timing]]:
    """Return robots, whose servos are off, as they are in each repetition, one robot after the other.

    From one repetition to the next, supply, friction and the phase of the loops differ.
    """
    rng = np.random.default_rng(2016)
    found = []
    for _ in range(robots):
        servos = [detuned(servo, off, rng) for servo in robot.servos]
        for _ in range(repeats):
            temperature_scale = 1.0 + rng.uniform(-_FRICTION_SPREAD, _FRICTION_SPREAD)
            today = tuple(
                replace(each, friction=each.friction.temperature_scaled(temperature_scale)) for each in servos
            )
            stage = Stage(
                spec=robot.spec,
                joints=robot.joints,
                servos=today,
                site=robot.site,
                supply_voltage=SUPPLY * (1.0 + rng.uniform(-_SUPPLY_SPREAD, _SUPPLY_SPREAD)),
            )
            found.append((stage, Timing(phase=float(rng.uniform()))))
    return found


def by_position(robot: Robot, sets: Sequence[tuple[Stage, Timing]]) -> list[Performance]:
    """Return runs with the stock position loop."""
    return [perform_by_position(stage, robot.motion, robot.duration, timing=timing) for stage, timing in sets]


def by_feed_forward(
    robot: Robot, sets: Sequence[tuple[Stage, Timing]], laws: Sequence[FeedForwardLaw]
) -> list[Performance]:
    """Return runs with feed-forward by a host that believes in these laws."""
    return [
        perform_by_feed_forward(
            stage, robot.motion, robot.duration, laws, timing=timing, nominal_supply=SUPPLY
        )
        for stage, timing in sets
    ]


def figures(runs: Sequence[Performance], repeats: int) -> Figures:
    """Return delays and deformations of runs, `repeats` of each robot."""
    dt = float(runs[0].time[1] - runs[0].time[0])
    joints = range(runs[0].goal.shape[1])
    followed = [[following(run.goal[:, j], run.position[:, j], dt) for j in joints] for run in runs]
    places = [following_in_space(run.goal_place, run.place, dt) for run in runs]
    return Figures(
        delay=np.array([[each.delay for each in row] for row in followed]),
        deformation=np.array([[each.deformation for each in row] for row in followed]),
        error=np.array([[each.error for each in row] for row in followed]),
        place_delay=np.array([each.delay for each in places]),
        place_deformation=np.array([each.deformation for each in places]),
        repeats=repeats,
    )
