# SPDX-License-Identifier: Apache-2.0
"""Commands and trajectories that the feed-forward node does not follow."""

from __future__ import annotations

from dataclasses import dataclass

from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class PositionNotTaken(Notice):
    """A command with a position."""

    def __str__(self) -> str:
        return "positions come as ~/joint_trajectory (expected NaN here); send them there"


@dataclass(frozen=True, kw_only=True)
class TorqueOnForAll(Notice):
    """A command of torque for some of `joints`, which get it together."""

    joints: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join(self.joints)
        return f"torque is on for all joints or for none (expected {names} alike); name them all"


@dataclass(frozen=True, kw_only=True)
class TorqueOffForAll(Notice):
    """A command of torque off for some joints, after which it is off for all."""

    def __str__(self) -> str:
        return (
            "servo_commands: torque goes off for all joints, also for those that were not named: it is on for"
            " all or for none"
        )


@dataclass(frozen=True, kw_only=True)
class TrajectoryRefused(Notice):
    """The last trajectory was refused; `reason` in words."""

    reason: str

    def __str__(self) -> str:
        return f"refused: {self.reason}"
