# SPDX-License-Identifier: Apache-2.0
"""Whether one sample of a motion contradicts its contacts: by feet and torques."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.text.whole_body_findings import ContactMismatch
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics

_STILL = 0.02  # m/s between feet that both stand
_MOVING = 0.05  # m/s at which one of them does not
_CLEARANCE = 0.004  # m above the ground at which a foot does not stand
_NOTABLE = 0.3  # friction over measured torque, from which it is looked at more closely
_LIKELIER = 3.0  # times less torque left unexplained, if another foot stood, from which that is believed


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One sample of a robot's motion.

    Attributes:
        position, velocity: of all its joints, (k,) rad, rad/s.
        acceleration: of the driven ones, (j,) rad/s².
        effort: likewise, (j,) N·m.
    """

    position: Array
    velocity: Array
    acceleration: Array
    effort: Array


def contact_inconsistency(
    dynamics: ConstrainedDynamics, sample: Sample, standing: tuple[str, ...], friction: Array
) -> ContactMismatch | None:
    """Return what contradicts the contacts that are reported to stand; None: nothing.

    Feet that both stand must not move against each other; a foot that swings must not lie still on the ground
    of the one that stands; and the torques must be those of a robot on the foot that is reported to stand.

    Args:
        dynamics: evaluated in the sample, with the base where the first standing contact puts it.
        sample: to look at.
        standing: contacts that are reported to stand; with a fixed base nothing is tested.
        friction: found with them, (j,) N·m.
    """
    if not dynamics.robot.floating:
        return None
    if not standing:
        return nothing_stands()
    return _feet(dynamics, standing) or _torques(dynamics, sample, standing, friction)


def nothing_stands() -> ContactMismatch:
    """Return the inconsistency of a robot in the air."""
    return ContactMismatch(kind="nothing_stands")


def _feet(dynamics: ConstrainedDynamics, standing: tuple[str, ...]) -> ContactMismatch | None:
    for name in dynamics.robot.contacts:
        if name == standing[0]:
            continue
        speed = float(np.linalg.norm(dynamics.contact_velocity(name)[:3]))
        if name in standing and speed > _MOVING:
            return ContactMismatch(kind="standing_moves", contacts=(name, standing[0]), speed=speed)
        height = float(dynamics.contact_pose(name)[0][2])
        if name not in standing and speed < _STILL and abs(height) < _CLEARANCE:
            return ContactMismatch(kind="swinging_rests", contacts=(name,), speed=speed, height=height)
    return None


def _torques(
    dynamics: ConstrainedDynamics, sample: Sample, standing: tuple[str, ...], friction: Array
) -> ContactMismatch | None:
    implied, measured = float(np.linalg.norm(friction)), float(np.linalg.norm(sample.effort))
    if implied <= _NOTABLE * measured:
        return None
    others = [name for name in dynamics.robot.contacts if name not in standing] if len(standing) == 1 else []
    instead = {name: _left_over(dynamics, sample, name) for name in others}
    best = min(others, key=lambda name: instead[name], default=None)
    if best is not None and implied > _LIKELIER * instead[best]:
        return ContactMismatch(
            kind="other_stands",
            contacts=(standing[0], best),
            unexplained=implied,
            compared=instead[best],
        )
    if implied > measured:
        return ContactMismatch(kind="other_motion", contacts=standing, unexplained=implied, compared=measured)
    return None


def _left_over(dynamics: ConstrainedDynamics, sample: Sample, foot: str) -> float:
    state = dynamics.at(*dynamics.place(sample.position, sample.velocity, foot), (foot,))
    lacking = sample.acceleration - state.acceleration(sample.effort)[dynamics.robot.torque_dofs]
    return float(np.linalg.norm(np.linalg.lstsq(state.mobility, lacking, rcond=None)[0]))
