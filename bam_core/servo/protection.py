# SPDX-License-Identifier: Apache-2.0
"""Overload protection: a firmware limits its demand that has been near its maximum for too long."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.errors.checks import require_positive, require_share

CLOCK_SLACK = 1e-9
"""s; rounding of the periods that add up to a time."""


@dataclass(frozen=True, kw_only=True)
class Overload:
    """What a servo remembers for its protection.

    Attributes:
        time: for which its demands have been overload without a break, s; it grows until the servo is
            protected.
        goal: the last one before it was protected, rad.
    """

    time: float = 0.0
    goal: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OverloadProtection:
    """A firmware's protection of its motor: overload for some time, and demands are limited.

    Demands of at least `threshold` are overload. Once they have lasted for `time` without a break, the
    firmware limits its demands to `limit`, until it is given another goal or torque is off; either way the
    time starts anew. Both shares are of the largest demand that the firmware has, duty or current, and that
    settings allow.

    This is register 34 (limit), 35 (time) and 36 (threshold) of Feetech's STS and HLS servos; their load is
    the duty. According to Feetech's specification of the STS3215 (7-11) a new position command ends the
    protection. Assumed, without a document: a goal that does not differ by more than half an encoder
    count, the unit of the register, is no new one; torque off ends it too; a new goal before the time is over
    does not start the time anew; a demand that is commanded directly, in place of a goal, is not limited.

    Attributes:
        threshold: share of the largest demand, above 0 and at most 1.
        time: s, above 0.
        limit: share of the largest demand, 0 to 1.

    Raises:
        BamError: a value is out of range.
    """

    threshold: float
    time: float
    limit: float

    def __post_init__(self) -> None:
        require_positive("protection", threshold=self.threshold, time=self.time)
        require_share("protection", threshold=self.threshold, limit=self.limit)

    @property
    def trip_time(self) -> float:
        """Time at which a sum of periods counts as `time`, s."""
        return self.time - CLOCK_SLACK

    def share(self, overload: Overload) -> float:
        """Return the share of the largest demand that a firmware may ask for."""
        return self.limit if overload.time >= self.trip_time else 1.0

    def after_goal(self, overload: Overload, goal: float, count: float, is_enabled: bool) -> Overload:
        """Return what a servo remembers once it knows its goal.

        Args:
            overload: what it remembered.
            goal: rad, as commanded; not the set-point that follows it at a limited speed.
            count: of the encoder, rad.
            is_enabled: torque is on.
        """
        if not is_enabled:
            return Overload(goal=goal)
        if overload.time < self.trip_time:
            return Overload(time=overload.time, goal=goal)
        return Overload(goal=goal) if abs(goal - overload.goal) > 0.5 * count else overload

    def after_demand(self, overload: Overload, demand: float, largest: float, period: float) -> Overload:
        """Return what a servo remembers after a demand was applied for a period.

        Args:
            overload: what it remembered.
            demand: duty or A, before protection limits it.
            largest: demand that the firmware has and settings allow.
            period: for which the demand holds, s.
        """
        if overload.time >= self.trip_time:
            return overload
        is_over = abs(demand) >= self.threshold * largest
        return Overload(time=overload.time + period if is_over else 0.0, goal=overload.goal)
