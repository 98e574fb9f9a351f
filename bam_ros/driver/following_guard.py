# SPDX-License-Identifier: Apache-2.0
"""The trip that every driver has for a joint that does not follow its goal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bam_ros.driver.servo_bus import ServoSample
from bam_ros.text.torque_reasons import JointNotFollowing

_TIME = 0.5
"""How long the error may be too large, s: servos that move follow a step within their limits in less."""


class FollowingGuard:
    """Finds joints whose position stays too far from the goal in force, as drives with CiA 402 do (0x6065).

    Args:
        names: of the joints.
        largest: distance of position from goal that is still well, rad; 0: any.
        second: see `ServoBus.second`.

    Attributes:
        largest: see above; it may change.
    """

    def __init__(self, names: Sequence[str], largest: float, second: str = "s") -> None:
        self._names = names
        self._second = second
        self.largest = largest
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
        if not self.largest:
            return None
        for index, name in enumerate(self._names):
            distance = abs(sample.goal_position[index] - sample.position[index])
            if not sample.torque_enabled[index] or math.isnan(distance) or distance <= self.largest:
                self._since[index] = None
                continue
            since = self._since[index]
            if since is None:
                self._since[index] = now
            elif now - since >= _TIME:
                return JointNotFollowing(
                    joint=name,
                    distance=distance,
                    limit=self.largest,
                    duration=_TIME,
                    second=self._second,
                    cure_after="then call ~/reset_fault, or command torque off on every joint, and on",
                )
        return None
