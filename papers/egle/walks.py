# SPDX-License-Identifier: Apache-2.0
"""The walks that Egle's results are redone with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.whole_body import (
    FrictionEstimate,
    FrictionFit,
    JointFriction,
    SavitzkyGolay,
    WholeBody,
    fit_friction,
    single_support,
)
from papers.egle.gait import PELVIS_YAW, STEP, Step, plan_gait, sideways, straight
from papers.egle.humanoid import LEGS, RIGHT_LEG, SOLES, humanoid
from papers.egle.tables import PRINTED_ROLLS, TARGETS
from papers.egle.walking import Walk, simulate_walk

KNEE = "right_knee"
KNEE_FRICTION = JointFriction(viscous=0.2, coulomb=1.0, stribeck=0.2, stribeck_velocity=0.2, slope=40.0)
"""Without an offset, which is no friction and would hide what a wrong model does."""
CLEAN = SavitzkyGolay(7, order=6)
"""The filter for signals without noise."""
AHEAD = 6
"""Steps straight ahead."""
_SIDEWAYS = 4  # steps
SHORT_STEP = 0.19
"""m, by which feet pass each other in the steps of table 6.1: shorter than in table 6.2, as the thesis says,
and such that hip rolls are as fast as its own parameters of table 6.1 tell (`their_speed`)."""
CORNERS = 3.0
"""Largest factor of a link's moments of inertia, its mass and size being known: those of a box with all its
mass in the corners over those of a uniform one, m(b² + c²) over m(b² + c²)/3 with half sides b, c.

The thesis tells no inertia of TORO's links, and the humanoid's here are uniform. Joints with motors at both
ends of a link lie between the two.
"""
_UNSEEN = 7606
"""Seed of the steps of that humanoid, which nobody saw before limits were set."""
_VISIBLE = 0.05  # of F_c, by which a fit leaves the true curve where it has seen no data


@dataclass(frozen=True, kw_only=True)
class Walks:
    """What was simulated.

    Attributes:
        robot: the humanoid.
        knee: five steps straight ahead with friction in the right knee.
        legs: steps straight ahead and then sideways with friction in all leg joints.
        short: shorter steps straight ahead with friction in all leg joints.
        cornered: a humanoid with CORNERS times the moments of inertia.
        unseen: five of its steps straight ahead, of lengths drawn at random, friction in the right knee.
        turn: when it begins to go sideways, s.
        swings: samples of `legs` by leg joint, in which that leg swings.
    """

    robot: WholeBody
    knee: Walk
    legs: Walk
    short: Walk
    cornered: WholeBody
    unseen: Walk
    turn: float
    swings: Mapping[str, NDArray[np.bool_]]


def walk_all(say: Callable[[str], None]) -> Walks:
    """Simulate the walks."""
    say("four walks, friction in a knee, and in all legs, each twice")
    ahead = straight(AHEAD)
    in_knee = {KNEE: KNEE_FRICTION}
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("fork")) as pool:
        legs, knee, short, unseen = pool.map(
            _walk,
            (ahead + sideways(_SIDEWAYS), straight(5), straight(AHEAD, SHORT_STEP), _unseen_steps()),
            (TARGETS, in_knee, TARGETS, in_knee),
            (PELVIS_YAW, PELVIS_YAW, PELVIS_YAW * SHORT_STEP / STEP, PELVIS_YAW),
            (1.0, 1.0, 1.0, CORNERS),
        )
    return Walks(
        robot=humanoid(),
        knee=knee,
        legs=legs,
        short=short,
        cornered=humanoid().with_inertia(rotation=CORNERS),
        unseen=unseen,
        turn=legs.supports[2 * AHEAD].end,
        swings=leg_swings(legs),
    )


def _unseen_steps() -> tuple[Step, ...]:
    """Return five steps straight ahead, in which feet pass each other by STEP less up to 30 %."""
    passed = STEP * np.random.default_rng(_UNSEEN).uniform(0.7, 1.0, 4)
    lengths = np.append(passed, 0.0) + np.append(0.0, passed)  # the last one stops beside the other foot
    return tuple(
        replace(step, forward=float(length)) for step, length in zip(straight(5), lengths, strict=True)
    )


def _walk(
    steps: tuple[Step, ...], friction: Mapping[str, JointFriction], yaw: float, rotation: float
) -> Walk:
    robot = humanoid().with_inertia(rotation=rotation)
    return simulate_walk(robot, plan_gait(robot, steps, pelvis_yaw=yaw), friction)


def leg_swings(walk: Walk) -> dict[str, NDArray[np.bool_]]:
    """Return the samples of a walk, by leg joint, in which that leg swings."""
    return {joint: single_support(walk.log, SOLES[1 if joint in RIGHT_LEG else 0]) for joint in LEGS}


def their_speed(joint: str) -> float:
    """Return the highest speed of a hip roll in table 6.1, as its own parameters tell it, rad/s.

    They are a fit to the speeds that occurred: up to there their curve is the true one.
    """
    true = TARGETS[joint]
    speed = np.arange(0.5 * true.stribeck_velocity, 2.0, 1e-3)
    apart = np.abs(JointFriction.from_values(PRINTED_ROLLS[joint]).curve(speed) - true.curve(speed))
    return float(speed[np.argmax(apart > _VISIBLE * true.coulomb)])


def legs_fits(estimate: FrictionEstimate, swings: Mapping[str, NDArray[np.bool_]]) -> dict[str, FrictionFit]:
    """Fit leg joints, by joint."""
    return {
        joint: fit_friction(
            joint,
            estimate.velocity[:, estimate.column(joint)],
            estimate.torque[:, estimate.column(joint)],
            mask,
        )
        for joint, mask in swings.items()
    }


def legs_table(fits: Mapping[str, FrictionFit]) -> dict[str, Array]:
    """Return how far parameters are from their targets, by joint, (6,) %."""
    return {joint: 100.0 * fit.errors(TARGETS[joint]) for joint, fit in fits.items()}
