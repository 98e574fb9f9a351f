# SPDX-License-Identifier: Apache-2.0
"""Do the contacts that a log names agree with how its feet move and what its joints carry?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bam_core.text.whole_body_findings import ContactMismatch
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics
from bam_core.whole_body.contact_consistency import Sample, contact_inconsistency, nothing_stands
from bam_core.whole_body.contact_phases import AFTER_LIFT_OFF, BEFORE_TOUCH_DOWN, Phase, phases, without_ends
from bam_core.whole_body.derivatives import Motion
from bam_core.whole_body.robot import WholeBody

_PERIOD = 0.02  # s from look to look: longer contradictions are not missed
_SINGULAR = 1e-9  # least over largest singular value of M_mod⁻¹ that counts


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """A part of a phase whose contacts cannot be.

    Attributes:
        phase: of the log, from the first sample that contradicts to the last.
        finding: which contact, and the figures of the first of these samples.
    """

    phase: Phase
    finding: ContactMismatch

    def __str__(self) -> str:
        return str(self.finding)


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
    """Check; equal results of successive checks are one contradiction."""
    inside = without_ends(motion.log, phase, AFTER_LIFT_OFF, BEFORE_TOUCH_DOWN) & motion.valid
    if not phase.contacts:
        yield _contradiction(motion, phase, phase.start, phase.stop, nothing_stands())
        return
    first: ContactMismatch | None = None
    start = last = 0
    for index in np.flatnonzero(inside)[step // 2 :: step].tolist():
        inconsistency = _inconsistency(dynamics, motion, phase, index)
        if first and (inconsistency is None or inconsistency.statement != first.statement):
            yield _contradiction(motion, phase, start - step, last + step + 1, first)
            first = None
        if inconsistency and first is None:
            first, start = inconsistency, index
        last = index
    if first:
        yield _contradiction(motion, phase, start - step, last + step + 1, first)


def _contradiction(
    motion: Motion, phase: Phase, start: int, stop: int, inconsistency: ContactMismatch
) -> Contradiction:
    start, stop = max(start, phase.start), min(stop, phase.stop)
    begin, end = motion.log.time[start], motion.log.time[stop - 1]
    return Contradiction(
        phase=Phase(contacts=phase.contacts, start=start, stop=stop),
        finding=replace(inconsistency, span=(float(begin), float(end))),
    )


def _inconsistency(
    dynamics: ConstrainedDynamics, motion: Motion, phase: Phase, index: int
) -> ContactMismatch | None:
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
