# SPDX-License-Identifier: Apache-2.0
"""Why torque is off though it may be wanted: values for states, one line for log and diagnostics."""

from __future__ import annotations

from dataclasses import dataclass

from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class TorqueReason(Notice):
    """Base of all reasons."""


@dataclass(frozen=True, kw_only=True)
class JointNotFollowing(TorqueReason):
    """A joint is too far from its goal for too long.

    Attributes:
        joint: name.
        distance: from its goal, rad.
        limit: of that distance, rad.
        duration: for which it was too large, s.
        second: unit of durations, see `ServoBus.second`.
        cure_after: what to do after the cause is removed; may be empty.
    """

    joint: str
    distance: float
    limit: float
    duration: float
    second: str = "s"
    cure_after: str = ""

    def __str__(self) -> str:
        after = f", {self.cure_after}" if self.cure_after else ""
        return (
            f"{self.joint}: {self.distance:.3g} rad from its goal for {self.duration:g} {self.second}"
            f" (expected at most {self.limit:g}, parameter following_error); free the joint, lower its load"
            f" or raise its gain{after}"
        )


@dataclass(frozen=True, kw_only=True)
class VelocityNotFollowing(JointNotFollowing):
    """The same of a joint that is commanded by velocity: its `distance` and `limit` are in rad/s."""

    def __str__(self) -> str:
        after = f", {self.cure_after}" if self.cure_after else ""
        return (
            f"{self.joint}: {self.distance:.3g} rad/s from its goal for {self.duration:g} {self.second}"
            f" (expected at most {self.limit:g}, parameter velocity_error); free the joint, or command"
            f" velocities that it reaches{after}"
        )


@dataclass(frozen=True, kw_only=True)
class CommandsEnded(TorqueReason):
    """A joint's commands ended while its torque was on.

    Attributes:
        timeout: without a command, s.
        second: unit of durations, see `ServoBus.second`.
    """

    timeout: float
    second: str = "s"

    def __str__(self) -> str:
        return (
            f"no servo_commands for {self.timeout:g} {self.second}, nor other commands, while its torque was"
            " on (parameter command_timeout), its torque is off; send them again to go on"
        )


@dataclass(frozen=True, kw_only=True)
class OutsideLimits(TorqueReason):
    """A joint is outside its limits when torque is asked for.

    Attributes:
        position: rad.
        low: lowest goal, rad.
        high: highest goal, rad.
    """

    position: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"at {self.position:.3f} rad, its torque stays off (expected {self.low:.3f} to {self.high:.3f}"
            " rad, its limits); turn it back by hand, or correct its zero or the parameter limits; then"
            " command torque off and on"
        )


@dataclass(frozen=True, kw_only=True)
class AskedInFault(TorqueReason):
    """Torque is asked for while a fault keeps it off on all joints."""

    def __str__(self) -> str:
        return "torque is asked for and stays off, see the status of the bus"


@dataclass(frozen=True, kw_only=True)
class GroupStopped(TorqueReason):
    """A fault in a group of joints keeps torque off on these joints alone.

    Attributes:
        group: name.
        reason: what is wrong, and with which of its joints.
    """

    group: str
    reason: TorqueReason | str

    def __str__(self) -> str:
        return f"group {self.group} alone, {self.reason}"


@dataclass(frozen=True, kw_only=True)
class InterruptedWhileAsked(TorqueReason):
    """Work on the bus interrupted commands that ask for torque; `what` is the work, such as "rebooted"."""

    what: str

    def __str__(self) -> str:
        return (
            f"{self.what} while torque was asked for; stop these commands or command torque off, then begin"
            " again"
        )


Reason = TorqueReason | str
"""A reason, or the line of an error of the bus."""
