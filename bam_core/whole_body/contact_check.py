# SPDX-License-Identifier: Apache-2.0
"""Do the contacts that a log names agree with how its feet move and what its joints carry?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics
from bam_core.whole_body.contact_phases import Phase, phases
from bam_core.whole_body.derivatives import Motion
from bam_core.whole_body.robot import WholeBody

Array = NDArray[np.float64]

LIKELIER = 3.0
"""Times less torque left unexplained, if another foot stood, from which that is believed."""
_STILL = 0.02  # m/s between feet that both stand
_MOVING = 0.10  # m/s at which one of them does not
_CLEARANCE = 0.004  # m above the ground at which a foot does not stand
_LOOKS = 9  # samples of a phase that are looked at


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """A phase whose contacts cannot be.

    Attributes:
        phase: of the log.
        message: one line: when, which contact, what speaks against it.
    """

    phase: Phase
    message: str

    def __str__(self) -> str:
        return self.message


def check_contacts(robot: WholeBody, motion: Motion) -> tuple[Contradiction, ...]:
    """Look at each phase in a few samples.

    Feet that both stand must not move against each other; a foot that swings must not lie still on the ground
    of the one that stands; and the torques must be those of a robot on the foot that is said to stand.

    Args:
        robot: with contacts; with a fixed base there is nothing to contradict.
        motion: of its log.
    """
    if not robot.floating or not motion.log.contacts:
        return ()
    dynamics = ConstrainedDynamics(robot)
    found = []
    for phase in phases(motion.log):
        inner = np.arange(phase.start, phase.stop)[motion.valid[phase.start : phase.stop]]
        if len(inner) < _LOOKS:
            continue
        looks = inner[np.linspace(0.15 * len(inner), 0.85 * len(inner), _LOOKS).astype(int)]
        complaint = _complaint(dynamics, motion, phase, looks)
        if complaint:
            start, end = motion.log.time[phase.start], motion.log.time[phase.stop - 1]
            found.append(
                Contradiction(phase=phase, message=f"contacts, {start:.3f} to {end:.3f} s: {complaint}")
            )
    return tuple(found)


def _complaint(
    dynamics: ConstrainedDynamics, motion: Motion, phase: Phase, looks: NDArray[np.int_]
) -> str | None:
    robot, standing = dynamics.robot, phase.contacts
    if not standing:
        return "nothing stands (expected a foot at least); the robot's base is not known then"
    others = [name for name in robot.contacts if name != standing[0]]
    if not others:
        return None
    speeds: dict[str, list[float]] = {name: [] for name in others}
    heights: dict[str, list[float]] = {name: [] for name in others}
    for index in looks:
        dynamics.at(*dynamics.place(motion.position[index], motion.velocity[index], standing[0]), ())
        for name in others:
            speeds[name].append(float(np.linalg.norm(dynamics.contact_velocity(name)[:3])))
            heights[name].append(float(dynamics.contact_pose(name)[0][2]))
    for name in others:
        if name in standing and np.median(speeds[name]) > _MOVING:
            return (
                f"'{name}' and '{standing[0]}' are both said to stand, but move against each other at"
                f" {np.median(speeds[name]):.2f} m/s; check the flags"
            )
        still = np.median(speeds[name]) < _STILL and np.max(np.abs(heights[name])) < _CLEARANCE
        if name not in standing and still:
            return f"'{name}' is said to swing, but lies still on the ground; check the flags"
    if len(standing) > 1:
        return None
    left_over = {name: _left_over(dynamics, motion, name, looks) for name in robot.contacts}
    best = min(left_over, key=lambda name: left_over[name])
    if left_over[standing[0]] > LIKELIER * left_over[best]:
        return (
            f"'{standing[0]}' is said to stand, but the torques are those of standing on '{best}' "
            f"(unexplained: {left_over[standing[0]]:.1f} N·m against {left_over[best]:.1f}); check the flags"
        )
    return None


def _left_over(dynamics: ConstrainedDynamics, motion: Motion, foot: str, looks: NDArray[np.int_]) -> float:
    robot, columns = dynamics.robot, dynamics.robot.torque_columns
    sizes = []
    for index in looks:
        place = dynamics.place(motion.position[index], motion.velocity[index], foot)
        state = dynamics.at(*place, (foot,))
        expected = state.acceleration(motion.effort[index, columns])[robot.torque_dofs]
        lacking = motion.acceleration[index, columns] - expected
        sizes.append(float(np.linalg.norm(np.linalg.lstsq(state.mobility, lacking, rcond=None)[0])))
    return float(np.median(sizes))
