# SPDX-License-Identifier: Apache-2.0
"""A 2R arm whose joints have physics outside of M1 to M6: what takes the place of BAM's real arms.

Its equations of motion are written out here, without MuJoCo.
"""

from __future__ import annotations

import math

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.servo.pendulum import GRAVITY
from papers.bam.arm_paths import PATHS, path_points
from papers.bam.arm_tracking import SETTLING, ArmTrack
from papers.bam.joint import PERIOD, STEP, Joint, demanded, dry_friction, friction_torque, motor_torque
from papers.bam.truth import SAMPLE_PERIOD, TrueServo
from papers.bam.two_link import TwoLinkArm


def true_track(
    arm: TwoLinkArm,
    servos: tuple[TrueServo, TrueServo],
    path: str,
    kp: float,
    *,
    friction: tuple[float, float] = (1.0, 1.0),
) -> ArmTrack:
    """Move an arm along a path, with goals that arrive late; arguments as of `arms.track`.

    Args:
        arm: its links.
        servos: at shoulder and elbow.
        path: name in PATHS.
        kp: position gain of both.
        friction: of both over that of `servos`.
    """
    grid = np.arange(-SETTLING, PATHS[path].duration, PERIOD)
    goal = arm.inverse(path_points(arm, path, grid))
    delays = [servo.reality.delay for servo in servos]
    told = np.empty_like(goal)
    for joint, delay in enumerate(delays):
        sent = SAMPLE_PERIOD * np.floor((grid - delay) / SAMPLE_PERIOD + 1e-6)
        told[:, joint] = np.interp(sent, grid, goal[:, joint])
    upper, lower = arm.upper, arm.lower
    masses = (
        (upper.mass / 3.0 + upper.tip_mass + lower.mass + lower.tip_mass) * upper.length**2,
        (lower.mass / 3.0 + lower.tip_mass) * lower.length**2,
        (0.5 * lower.mass + lower.tip_mass) * upper.length * lower.length,
        (0.5 * upper.mass + upper.tip_mass + lower.mass + lower.tip_mass) * upper.length * GRAVITY,
        (0.5 * lower.mass + lower.tip_mass) * lower.length * GRAVITY,
    )
    first, second = (servo.joint(kp, friction=factor) for servo, factor in zip(servos, friction, strict=True))
    position = _moved(first, second, told, masses, (float(goal[0, 0]), float(goal[0, 1])))
    begun = grid >= -0.5 * PERIOD
    return ArmTrack(time=grid[begun], goal_position=goal[begun], position=position[begun])


@compiled()
def _moved(
    first: Joint,
    second: Joint,
    goals: Array,
    masses: tuple[float, float, float, float, float],
    start: tuple[float, float],
) -> Array:
    """Return positions (n, 2) once per period, rad.

    Args:
        first: shoulder.
        second: elbow.
        goals: (n, 2) rad.
        masses: inertia of the upper link with all beyond it as a point at the elbow, of the lower link about
            the elbow, their coupling, kg·m²; weights of both, N·m.
        start: rad, at rest.
    """
    substeps = round(PERIOD / STEP)
    upper, lower, coupling, weight_upper, weight_lower = masses
    result = np.empty((len(goals), 2))
    q1, q2 = start
    v1, v2, strain1, strain2 = 0.0, 0.0, 0.0, 0.0
    for k in range(len(goals)):
        result[k, 0], result[k, 1] = q1, q2
        demand1 = demanded(first, goals[k, 0] - q1, v1)
        demand2 = demanded(second, goals[k, 1] - q2, v2)
        for _ in range(substeps):
            cosine, sine = math.cos(q2), math.sin(q2)
            m11 = upper + lower + 2.0 * coupling * cosine + first.armature
            m12 = lower + coupling * cosine
            m22 = lower + second.armature
            pull = weight_lower * math.sin(q1 + q2)
            # τ_e: gravity and Coriolis, as MuJoCo has them without contacts.
            external1 = -weight_upper * math.sin(q1) - pull + coupling * sine * (2.0 * v1 + v2) * v2
            external2 = -pull - coupling * sine * v1 * v1
            motor1 = motor_torque(first, demand1, q1, v1, 1.0)
            motor2 = motor_torque(second, demand2, q2, v2, 1.0)
            level1 = dry_friction(first, motor1, external1, v1)
            level2 = dry_friction(second, motor2, external2, v2)
            friction1, rate1 = friction_torque(first, level1, strain1, v1, m11)
            friction2, rate2 = friction_torque(second, level2, strain2, v2, m22)
            net1 = motor1 + external1 + friction1
            net2 = motor2 + external2 + friction2
            determinant = m11 * m22 - m12 * m12
            strain1 += rate1 * STEP
            strain2 += rate2 * STEP
            v1 += (m22 * net1 - m12 * net2) / determinant * STEP
            v2 += (m11 * net2 - m12 * net1) / determinant * STEP
            q1 += v1 * STEP
            q2 += v2 * STEP
    return result
