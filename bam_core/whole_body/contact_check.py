# SPDX-License-Identifier: Apache-2.0
"""Do the contacts that a log names agree with how its feet move and what its joints carry?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics
from bam_core.whole_body.contact_consistency import (
    Inconsistency,
    Sample,
    contact_inconsistency,
    nothing_stands,
)
from bam_core.whole_body.contact_phases import AFTER_LIFT_OFF, BEFORE_TOUCH_DOWN, Phase, phases, without_ends
from bam_core.whole_body.derivatives import Motion
from bam_core.whole_body.robot import WholeBody

_PERIOD = 0.02  # s from look to look: longer contradictions are not missed
_SINGULAR = 1e-9  # least over largest singular value of M_mod⁻¹ that counts


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """A part of a phase whose contacts cannot be.

    Attributes:
        phase: of the log, from the first look that contradicts to the last.
        message: one line: when, which contact, what speaks against it.
    """

    phase: Phase
    message: str

    def __str__(self) -> str:
        return self.message


def check_contacts(robot: WholeBody, motion: Motion) -> tuple[Contradiction, ...]:
    """Look at the log every 0.02 s, away from lift-off and touch-down; see `contact_inconsistency`.

    Args:
        robot: with contacts; with a fixed base there is nothing to contradict.
        motion: of its log.
    """
    if not robot.floating or not motion.log.contacts:
        return ()
    dynamics = ConstrainedDynamics(robot)
    step = max(round(_PERIOD / motion.log.dt), 1)
    return tuple(
        contradiction
        for phase in phases(motion.log)
        for contradiction in _contradictions(dynamics, motion, phase, step)
    )


def _contradictions(
    dynamics: ConstrainedDynamics, motion: Motion, phase: Phase, step: int
) -> Iterator[Contradiction]:
    """Look; what several looks in a row say is one contradiction."""
    inside = without_ends(motion.log, phase, AFTER_LIFT_OFF, BEFORE_TOUCH_DOWN) & motion.valid
    if not phase.contacts:
        yield _contradiction(motion, phase, phase.start, phase.stop, nothing_stands())
        return
    first: Inconsistency | None = None
    start = last = 0
    for index in np.flatnonzero(inside)[step // 2 :: step].tolist():
        inconsistency = _inconsistency(dynamics, motion, phase, index)
        if first and (inconsistency is None or inconsistency.what != first.what):
            yield _contradiction(motion, phase, start - step, last + step + 1, first)
            first = None
        if inconsistency and first is None:
            first, start = inconsistency, index
        last = index
    if first:
        yield _contradiction(motion, phase, start - step, last + step + 1, first)


def _contradiction(
    motion: Motion, phase: Phase, start: int, stop: int, inconsistency: Inconsistency
) -> Contradiction:
    start, stop = max(start, phase.start), min(stop, phase.stop)
    begin, end = motion.log.time[start], motion.log.time[stop - 1]
    return Contradiction(
        phase=Phase(contacts=phase.contacts, start=start, stop=stop),
        message=f"contacts, {begin:.3f} to {end:.3f} s: {inconsistency}",
    )


def _inconsistency(
    dynamics: ConstrainedDynamics, motion: Motion, phase: Phase, index: int
) -> Inconsistency | None:
    robot = dynamics.robot
    sample = Sample(
        position=motion.position[index],
        velocity=motion.velocity[index],
        acceleration=motion.acceleration[index, robot.torque_columns],
        effort=motion.effort[index, robot.torque_columns],
    )
    place = dynamics.place(sample.position, sample.velocity, phase.contacts[0])
    state = dynamics.at(*place, phase.contacts)
    lacking = sample.acceleration - state.acceleration(sample.effort)[robot.torque_dofs]
    friction = np.asarray(np.linalg.lstsq(state.mobility, lacking, rcond=_SINGULAR)[0], dtype=np.float64)
    return contact_inconsistency(dynamics, sample, phase.contacts, friction)
