# SPDX-License-Identifier: Apache-2.0
"""Whether one sample of a motion contradicts its contacts: what feet and torques say against them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics

_STILL = 0.02  # m/s between feet that both stand
_MOVING = 0.05  # m/s at which one of them does not
_CLEARANCE = 0.004  # m above the ground at which a foot does not stand
_NOTABLE = 0.3  # friction over measured torque, from which it is looked at more closely
_LIKELIER = 3.0  # times less torque left unexplained, if another foot stood, from which that is believed
_FLAGS = "check the flags"


@dataclass(frozen=True, kw_only=True)
class Inconsistency:
    """Why a sample contradicts its contacts.

    Attributes:
        what: which contact, and what speaks against it; the same words for every sample alike.
        evidence: figures of this sample.
        cure: what to do.
    """

    what: str
    evidence: str
    cure: str = _FLAGS

    def __str__(self) -> str:
        return f"{self.what} ({self.evidence}); {self.cure}"


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
) -> Inconsistency | None:
    """Return what speaks against the contacts that are said to stand; None: nothing seen.

    Feet that both stand must not move against each other; a foot that swings must not lie still on the ground
    of the one that stands; and the torques must be those of a robot on the foot that is said to stand.

    Args:
        dynamics: evaluated in the sample, with the base where the first standing contact puts it.
        sample: to look at.
        standing: contacts that are said to stand; with a fixed base nothing is tested.
        friction: found with them, (j,) N·m.
    """
    if not dynamics.robot.floating:
        return None
    if not standing:
        return nothing_stands()
    return _feet(dynamics, standing) or _torques(dynamics, sample, standing, friction)


def nothing_stands() -> Inconsistency:
    """Return the inconsistency of a robot in the air."""
    return Inconsistency(what="nothing stands", evidence="expected a foot at least, for where the base is")


def _feet(dynamics: ConstrainedDynamics, standing: tuple[str, ...]) -> Inconsistency | None:
    for name in dynamics.robot.contacts:
        if name == standing[0]:
            continue
        speed = float(np.linalg.norm(dynamics.contact_velocity(name)[:3]))
        if name in standing and speed > _MOVING:
            return Inconsistency(
                what=f"'{name}' and '{standing[0]}' are both said to stand, but move against each other",
                evidence=f"at {speed:.2f} m/s",
            )
        height = float(dynamics.contact_pose(name)[0][2])
        if name not in standing and speed < _STILL and abs(height) < _CLEARANCE:
            return Inconsistency(
                what=f"'{name}' is said to swing, but lies still on the ground",
                evidence=f"{1e3 * height:.1f} mm above it, at {speed:.3f} m/s",
            )
    return None


def _torques(
    dynamics: ConstrainedDynamics, sample: Sample, standing: tuple[str, ...], friction: Array
) -> Inconsistency | None:
    implied, measured = float(np.linalg.norm(friction)), float(np.linalg.norm(sample.effort))
    if implied <= _NOTABLE * measured:
        return None
    others = [name for name in dynamics.robot.contacts if name not in standing] if len(standing) == 1 else []
    instead = {name: _left_over(dynamics, sample, name) for name in others}
    best = min(others, key=lambda name: instead[name], default=None)
    if best is not None and implied > _LIKELIER * instead[best]:
        return Inconsistency(
            what=f"'{standing[0]}' is said to stand, but the torques are those of standing on '{best}'",
            evidence=f"unexplained: {implied:.1f} N·m against {instead[best]:.1f}",
        )
    if implied > measured:
        return Inconsistency(
            what=f"the efforts are not those of this motion on {' and '.join(standing)}",
            evidence=f"{implied:.1f} N·m of friction would explain it, {measured:.1f} are measured",
            cure="check unit and sign of efforts and positions, the flags and the model",
        )
    return None


def _left_over(dynamics: ConstrainedDynamics, sample: Sample, foot: str) -> float:
    state = dynamics.at(*dynamics.place(sample.position, sample.velocity, foot), (foot,))
    lacking = sample.acceleration - state.acceleration(sample.effort)[dynamics.robot.torque_dofs]
    return float(np.linalg.norm(np.linalg.lstsq(state.mobility, lacking, rcond=None)[0]))
