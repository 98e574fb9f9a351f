# SPDX-License-Identifier: Apache-2.0
"""Which samples to believe: one foot on the ground, away from lift-off and touch-down."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import UnknownName
from bam_core.whole_body.joint_log import JointLog

AFTER_LIFT_OFF = 0.10
"""s left out after a foot has left the ground (Egle 6.2.1)."""
BEFORE_TOUCH_DOWN = 0.05
"""s left out before a foot lands."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Samples with the same contacts.

    Attributes:
        contacts: that stand.
        start, stop: samples, from and up to.
    """

    contacts: tuple[str, ...]
    start: int
    stop: int


def phases(log: JointLog) -> tuple[Phase, ...]:
    """Return a log's phases in order; a lost sample ends none."""
    names = tuple(log.contacts)
    if not names:
        return (Phase(contacts=(), start=0, stop=len(log)),)
    flags = np.column_stack([log.contacts[name] for name in names])
    breaks = np.flatnonzero(np.any(flags[1:] != flags[:-1], axis=1)) + 1
    edges = [0, *breaks.tolist(), len(log)]
    return tuple(
        Phase(
            contacts=tuple(name for name, stands in zip(names, flags[start], strict=True) if stands),
            start=start,
            stop=stop,
        )
        for start, stop in pairwise(edges)
    )


def single_support(
    log: JointLog,
    standing: str | None = None,
    after: float = AFTER_LIFT_OFF,
    before: float = BEFORE_TOUCH_DOWN,
) -> NDArray[np.bool_]:
    """Return the samples (n,) in which one contact stands, without the ends of each such phase.

    Args:
        log: with contacts.
        standing: the one that has to stand; any when left out.
        after, before: s left out at the start and at the end of each phase. The log's own start and end are
            no lift-off and no touch-down.

    Raises:
        BamError: the log has no such contact.
    """
    if standing is not None and standing not in log.contacts:
        raise UnknownName("contact", standing, log.contacts)
    chosen = np.zeros(len(log), dtype=bool)
    for phase in phases(log):
        if len(phase.contacts) == 1 and standing in (None, phase.contacts[0]):
            chosen |= without_ends(log, phase, after, before)
    return chosen


def without_ends(log: JointLog, phase: Phase, after: float, before: float) -> NDArray[np.bool_]:
    """Return a phase's samples (n,) without the first `after` s and the last `before` s.

    The log's own start and end are no lift-off and no touch-down.
    """
    slack = 1e-3 * log.dt
    start = log.time[phase.start] + after - slack if phase.start else -np.inf
    end = log.time[phase.stop] - before + slack if phase.stop < len(log) else np.inf
    inside = np.zeros(len(log), dtype=bool)
    part = slice(phase.start, phase.stop)
    inside[part] = (log.time[part] >= start) & (log.time[part] <= end)
    return inside
