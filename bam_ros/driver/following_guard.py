# SPDX-License-Identifier: Apache-2.0
"""The trip that every driver has for a joint that does not follow its goal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.servo_bus import ServoSample
from bam_ros.text.torque_reasons import JointNotFollowing, VelocityNotFollowing

_TIME = 0.5
"""How long the error may be too large, s: servos that move follow a step within their limits in less."""


class FollowingGuard:
    """Finds joints whose position stays too far from the goal in force, as drives with CiA 402 do (0x6065).

    A joint that is commanded by velocity follows where its velocity is near its goal. Currents and duties
    have no goal that could be missed.

    Args:
        names: of the joints.
        largest: distance of position from goal that is still well, rad; 0: any.
        second: see `ServoBus.second`.
        kinds: what each joint is commanded by; empty: position.
        velocity: difference between goal and velocity that is still well, rad/s; 0: any.

    Attributes:
        largest: see above; it may change.
        velocity: likewise.
    """

    def __init__(
        self,
        names: Sequence[str],
        largest: float,
        second: str = "s",
        kinds: Sequence[CommandKind] = (),
        velocity: float = 0.0,
    ) -> None:
        self._names = names
        self._second = second
        self.largest = largest
        self.velocity = velocity
        self._by_velocity = frozenset(
            index for index, kind in enumerate(kinds) if kind is CommandKind.VELOCITY
        )
        self._since: list[float | None] = [None] * len(names)  # s; None: it follows

    def reset(self, joints: Iterable[int] | None = None) -> None:
        """Forget what was seen of these joints; None: of all."""
        for index in range(len(self._names)) if joints is None else joints:
            self._since[index] = None

    def take(self, sample: ServoSample, now: float) -> JointNotFollowing | None:
        """Take a sample, and return which joint does not follow; None while all do.

        Args:
            sample: newest state.
            now: s, on the clock of the bus.
        """
        if not self.largest and not (self.velocity and self._by_velocity):
            return None
        for index, name in enumerate(self._names):
            by_velocity = index in self._by_velocity
            if by_velocity:
                goal = sample.setpoint[index] if sample.setpoint else math.nan
                distance, largest = abs(goal - sample.velocity[index]), self.velocity
            else:
                distance = abs(sample.goal_position[index] - sample.position[index])
                largest = self.largest
            if not sample.torque_enabled[index] or not distance > largest or not largest:  # NaN is neither
                self._since[index] = None
                continue
            since = self._since[index]
            if since is None:
                self._since[index] = now
            elif now - since >= _TIME:
                kind = VelocityNotFollowing if by_velocity else JointNotFollowing
                return kind(
                    joint=name,
                    distance=distance,
                    limit=largest,
                    duration=_TIME,
                    second=self._second,
                    cure_after="then call ~/reset_fault, or command torque off on every joint, and on",
                )
        return None
