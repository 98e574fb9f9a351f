# SPDX-License-Identifier: Apache-2.0
"""Why the master does not follow a goal."""

from __future__ import annotations

from dataclasses import dataclass

from bam_ros.text.torque_reasons import TorqueReason


@dataclass(frozen=True, kw_only=True)
class GoalOutsideLimits(TorqueReason):
    """A goal outside the limits of its joint.

    Attributes:
        joint: name.
        goal: rad.
        low: lowest goal, rad.
        high: highest goal, rad.
    """

    joint: str
    goal: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.joint}: goal {self.goal:.4g} rad (expected {self.low:.4g} to {self.high:.4g}, parameter"
            " limits); correct the goal (rad, not degrees) or the parameter"
        )


@dataclass(frozen=True, kw_only=True)
class GoalJumped(TorqueReason):
    """A goal that moves faster than its joint may.

    Attributes:
        joint: name.
        goal: rad.
        step: from the goal before, rad.
        speed: fastest that goals may move, rad/s.
    """

    joint: str
    goal: float
    step: float
    speed: float

    def __str__(self) -> str:
        return (
            f"{self.joint}: goal jumped by {self.step:.3g} rad to {self.goal:.4g} rad (expected at most"
            f" {self.speed:g} rad/s, parameter speed_limit); send goals that move slower"
        )


@dataclass(frozen=True, kw_only=True)
class DriveReleased(TorqueReason):
    """A drive whose torque is off though it is wanted, without a fault.

    Attributes:
        joint: name.
        state: of the drive, CiA 402.
        within: s in which torque should have come on; None where it was on and went off.
    """

    joint: str
    state: str
    within: float | None = None

    def __str__(self) -> str:
        expected, cure = "'operation enabled'", "check its supply and safety circuit"
        if self.within is None:
            return f"{self.joint}: torque went off, drive is in {self.state!r} (expected {expected}); {cure}"
        return (
            f"{self.joint}: torque does not go on, drive stays in {self.state!r} (expected {expected} within"
            f" {self.within:g} s); {cure}"
        )


@dataclass(frozen=True, kw_only=True)
class OtherMode(TorqueReason):
    """A drive that stays in another mode of operation.

    Attributes:
        joint: name.
        mode: of the drive.
        expected: mode.
    """

    joint: str
    mode: int
    expected: int

    def __str__(self) -> str:
        return (
            f"{self.joint}: drive stays in mode {self.mode} (expected {self.expected}, cyclic torque); see"
            " what its firmware supports"
        )
