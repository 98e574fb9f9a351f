# SPDX-License-Identifier: Apache-2.0
"""The two walks that Egle's results are redone with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.reproduce._egle_tables import TARGETS
from bam_core.whole_body import (
    FrictionEstimate,
    FrictionFit,
    JointFriction,
    SavitzkyGolay,
    Step,
    Walk,
    WholeBody,
    fit_friction,
    humanoid,
    plan_gait,
    sideways,
    simulate_walk,
    single_support,
    straight,
)
from bam_core.whole_body.humanoid import LEGS, RIGHT_LEG, SOLES

KNEE = "right_knee"
KNEE_FRICTION = JointFriction(viscous=0.2, coulomb=1.0, stribeck=0.2, stribeck_velocity=0.2, slope=40.0)
"""Without an offset, which is no friction and would hide what a wrong model does."""
CLEAN = SavitzkyGolay(7, order=6)
"""The filter for signals without noise."""
_AHEAD, _SIDEWAYS = 6, 4  # steps


@dataclass(frozen=True, kw_only=True)
class Walks:
    """What was simulated.

    Attributes:
        robot: the humanoid.
        knee: five steps straight ahead with friction in the right knee.
        legs: steps straight ahead and then sideways with friction in all leg joints.
        turn: when it begins to go sideways, s.
        swings: samples of `legs` by leg joint, in which that leg swings.
    """

    robot: WholeBody
    knee: Walk
    legs: Walk
    turn: float
    swings: Mapping[str, NDArray[np.bool_]]


def walk_both(say: Callable[[str], None]) -> Walks:
    """Simulate both walks."""
    say("two walks, friction in a knee and in all legs")
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("fork")) as pool:
        knee, legs = pool.map(
            _walk, (straight(5), straight(_AHEAD) + sideways(_SIDEWAYS)), ({KNEE: KNEE_FRICTION}, TARGETS)
        )
    robot = humanoid()
    swings = {joint: single_support(legs.log, SOLES[1 if joint in RIGHT_LEG else 0]) for joint in LEGS}
    return Walks(robot=robot, knee=knee, legs=legs, turn=legs.supports[2 * _AHEAD].end, swings=swings)


def _walk(steps: tuple[Step, ...], friction: Mapping[str, JointFriction]) -> Walk:
    robot = humanoid()
    return simulate_walk(robot, plan_gait(robot, steps), friction)


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
