# SPDX-License-Identifier: Apache-2.0
"""What drivers answer and warn of."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.errors import BamError
from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class GainsAnswer(Notice):
    """Answer of `~/set_gains`.

    Attributes:
        joint: name.
        held: kp, ki and kd of the servo.
        wanted: those that were asked for.
        holder: who holds gains, so that they were only read; empty: nobody.
        hold_time: for which a hold lasts, s.
    """

    joint: str
    held: tuple[float, float, float]
    wanted: tuple[float, float, float]
    holder: str = ""
    hold_time: float = 0.0

    @property
    def is_as_wanted(self) -> bool:
        """The servo has these gains."""
        return self.held == self.wanted

    def __str__(self) -> str:
        kp, ki, kd = self.held
        line = f"{self.joint}: kp {kp:g}, ki {ki:g}, kd {kd:g}"
        if self.is_as_wanted:
            return line
        kp, ki, kd = self.wanted
        return f"{line} (wanted {kp:g}, {ki:g}, {kd:g}; {self._why_not})"

    @property
    def _why_not(self) -> str:
        if not self.holder:
            return "the servo did not take them"
        end = f"{self.hold_time:g} s after it renewed ~/hold_gains last"
        return f"{self.holder} holds them; wait for its end, {end}"


@dataclass(frozen=True, kw_only=True)
class RegisterAnswer(Notice):
    """Answer of `~/read_register` and `~/write_register`.

    Attributes:
        joint: name.
        register: its name.
        count: that it holds.
        value: the same in `unit`.
        unit: of the value; "-": none.
        wanted: count that was written; None: it was only read.
    """

    joint: str
    register: str
    count: int
    value: float
    unit: str = "-"
    wanted: int | None = None

    @property
    def is_as_wanted(self) -> bool:
        """The register holds what was written."""
        return self.wanted in (None, self.count)

    def __str__(self) -> str:
        si = f" ({self.value:.6g} {self.unit})" if self.unit != "-" else ""
        line = f"{self.joint}: {self.register} is {self.count}{si}"
        return line if self.is_as_wanted else f"{line} (wanted {self.wanted}); the servo did not take it"


@dataclass(frozen=True, kw_only=True)
class Rebooted(Notice):
    """Answer of `~/reboot`; `joints` have no torque now."""

    joints: tuple[str, ...]

    def __str__(self) -> str:
        return f"rebooted, torque off: {', '.join(self.joints)}"


@dataclass(frozen=True, kw_only=True)
class TorqueSwitched(Notice):
    """Answer of `~/set_torque`; `joints` have reported torque `on`, or off."""

    joints: tuple[str, ...]
    on: bool

    def __str__(self) -> str:
        state = "on, held where they are" if self.on else "off"
        return f"torque {state}: {', '.join(self.joints)}"


@dataclass(frozen=True, kw_only=True)
class FaultEnded(Notice):
    """Answer of `~/reset_fault`; `fault`: what it was, empty where there was none."""

    fault: str

    def __str__(self) -> str:
        return (
            f"torque may be asked for again, acknowledged: {self.fault}"
            if self.fault
            else "there is no fault"
        )


@dataclass(frozen=True, kw_only=True)
class SwitchedOff(Notice):
    """Commands for `joints`, whose torque a service has switched off, are ignored."""

    joints: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"torque of {', '.join(self.joints)} was switched off by ~/set_torque; command torque off, or"
            " pause for command_timeout, then go on"
        )


@dataclass(frozen=True, kw_only=True)
class CommandedInFault(Notice):
    """Commands that ask for torque while a fault keeps it off.

    Attributes:
        topic: such as "joint_command".
        fault: in one line.
    """

    topic: str
    fault: str

    def __str__(self) -> str:
        return (
            f"{self.topic}: torque stays off, {self.fault}; stop these commands, remove the cause, call"
            " ~/reset_fault"
        )


@dataclass(frozen=True, kw_only=True)
class BehindGears(Notice):
    """A joint is behind a gear, which no model of its servo has.

    Attributes:
        joint: name.
        ratio: turns of the servo for one of the joint.
    """

    joint: str
    ratio: float

    def __str__(self) -> str:
        return (
            f"{self.joint}: a gear of {self.ratio:g} behind its servo, which no model has; set the parameter"
            " gear_ratios to 1 to identify the servo"
        )


@dataclass(frozen=True, kw_only=True)
class NothingRead(Notice):
    """Why the state of joints is unknown.

    Attributes:
        kind: "not_active", "bus_lost" or "not_yet".
    """

    kind: str

    def __str__(self) -> str:
        reasons = {
            "not_active": "the node is not active",
            "bus_lost": "the bus is lost",
            "not_yet": "nothing was read yet",
        }
        return f"unknown, {reasons[self.kind]}"


@dataclass(frozen=True, kw_only=True)
class LostReads(Notice):
    """More reads were lost than a sound bus loses.

    Attributes:
        share: of the last second's reads that were lost, 0..1.
        most: that a sound bus loses.
    """

    share: float
    most: float

    def __str__(self) -> str:
        return (
            f"{self.share:.1%} of the last second's reads lost (expected at most {self.most:.0%});"
            " check cable, termination and latency timer"
        )


@dataclass(frozen=True, kw_only=True)
class BusBack(Notice):
    """A bus that was lost is open again; `summary`: what is on it."""

    summary: str

    def __str__(self) -> str:
        return f"bus is back: {self.summary}"


@dataclass(frozen=True, kw_only=True)
class CommandIgnored(Notice):
    """A message that changes nothing, or only turns torque off.

    Attributes:
        topic: such as "servo_commands".
        reason: what is wrong with it; None: the node is not active.
        is_torque_off_accepted: joints that it releases were released.
    """

    topic: str
    reason: BamError | Notice | None = None
    is_torque_off_accepted: bool = False

    def __str__(self) -> str:
        what = "ignored but for torque off" if self.is_torque_off_accepted else "ignored"
        reason = "the node is not active; activate it first" if self.reason is None else self.reason
        return f"{self.topic}: {what}, {reason}"


@dataclass(frozen=True, kw_only=True)
class ReleaseNotConfirmed(Notice):
    """`joints` may hold on, though they were released."""

    joints: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{', '.join(self.joints)}: torque off is not confirmed, though it was commanded; cut the power,"
            " then check cable and supply"
        )


@dataclass(frozen=True, kw_only=True)
class NotInGroup(Notice):
    """`joints` of a goal are not of the `group` whose action got it."""

    group: str
    joints: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{', '.join(self.joints)}: not in the group {self.group} (expected joints of the parameter"
            f" groups.{self.group}); send the goal to the action of the node"
        )


@dataclass(frozen=True, kw_only=True)
class TakenBySource(Notice):
    """`joints` of a trajectory are commanded by an input that comes before it."""

    joints: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{', '.join(self.joints)}: commanded by servo_commands (expected no such command for"
            " command_timeout); stop them"
        )


@dataclass(frozen=True, kw_only=True)
class NoTrajectoryAction(Notice):
    """A node has no action, for lack of its definition."""

    def __str__(self) -> str:
        return (
            "follow_joint_trajectory: off, the package control_msgs is not installed; install it (Debian:"
            " ros-$ROS_DISTRO-control-msgs), source ROS 2, start again"
        )
