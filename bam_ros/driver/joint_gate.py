# SPDX-License-Identifier: Apache-2.0
"""Joint by joint, which commands are accepted, and in words why the others are not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import OFF_LIMITS, Range
from bam_ros.driver.joint_states import (
    APPLIED,
    JointEvent,
    JointMode,
    JointState,
    joint_transition,
)
from bam_ros.driver.safety_states import Report
from bam_ros.driver.servo_bus import ServoSample
from bam_ros.text.torque_reasons import AskedInFault, CommandsEnded, GroupStopped, OutsideLimits, Reason

_IDLE = JointCommand()
_ASKING = AskedInFault()
_COMMANDS_IGNORED = frozenset({JointMode.OFF_LIMITS, JointMode.STOPPED})


class JointGate:
    """Withholds torque from single joints while the others go on.

    Args:
        names: of the joints.
        limits: returns lowest and highest goal of each joint, rad.
        silent: why a joint has no torque whose commands ended.
    """

    def __init__(
        self, names: Sequence[str], limits: Callable[[], Sequence[Range]], silent: CommandsEnded
    ) -> None:
        self._names, self._limits, self.silent = names, limits, silent
        self._joints: tuple[JointState, ...] = (APPLIED,) * len(names)
        self._settled: Sequence[JointCommand] | None = None  # commands that change nothing any more

    @property
    def withheld(self) -> Mapping[str, Reason]:
        """Joints that get no torque though it may be wanted -> why."""
        return self._reasons(self._joints)

    def is_settled(self, commands: Sequence[JointCommand]) -> bool:
        """Return whether these commands are accepted as they are, and `admit` has nothing more to do."""
        return commands is self._settled

    def reset_goals(self) -> None:
        """Look at all joints anew: their torque went off."""
        self._settled = None

    def forget(self) -> None:
        """Withhold nothing any more."""
        self._settled = None
        self._joints = (APPLIED,) * len(self._names)

    def refuse(self, commands: Sequence[JointCommand]) -> Sequence[JointCommand]:
        """Take note of commands while a fault keeps torque off; return commands that release all joints."""
        self._settled = None
        self._joints = tuple(
            joint_transition(
                joint, JointEvent.FAULT_ON if command.torque_enable else JointEvent.FAULT_OFF, _ASKING
            )
            for joint, command in zip(self._joints, commands, strict=True)
        )
        return (_IDLE,) * len(commands)

    def admit(
        self,
        commands: Sequence[JointCommand],
        *,
        ended: Collection[int],
        released: Sequence[bool],
        stopped: Mapping[int, Reason],
        sample: ServoSample | None,
    ) -> tuple[Sequence[JointCommand], Sequence[Report]]:
        """Take note of commands; return those that are accepted, and what has changed in words.

        Args:
            commands: one per joint.
            ended: joints whose commands have stopped while torque was on.
            released: of each joint whether its torque is off.
            stopped: joints that a fault of their group keeps off -> the fault.
            sample: the newest; None while there is none.
        """
        before = self._joints
        self._joints = tuple(
            joint_transition(joint, JointEvent.GROUP_FAULT, stopped[index])
            if index in stopped
            else joint_transition(
                joint, *self._event(index, command, index in ended, off=released[index], sample=sample)
            )
            for index, (joint, command) in enumerate(zip(before, commands, strict=True))
        )
        if any(joint is not APPLIED for joint in self._joints):
            self._settled = None
            admitted: Sequence[JointCommand] = [
                _IDLE if joint.mode in _COMMANDS_IGNORED else command
                for joint, command in zip(self._joints, commands, strict=True)
            ]
        else:
            goes_on = any(
                off and command.torque_enable for off, command in zip(released, commands, strict=True)
            )
            self._settled = None if goes_on else commands
            admitted = commands
        return admitted, () if self._joints == before else self._changes(before)

    def _event(
        self, index: int, command: JointCommand, ended: bool, *, off: bool, sample: ServoSample | None
    ) -> tuple[JointEvent, Reason]:
        """Return what has happened to a joint, and the reason of a state that begins with it."""
        if not command.torque_enable:
            if not ended:
                return JointEvent.OFF, ""
            return (JointEvent.ENDED, "") if off else (JointEvent.ENDED_ON, self.silent)
        if off and sample is not None:
            low, high = self._limits()[index]
            position = sample.position[index]
            if position < low - OFF_LIMITS or position > high + OFF_LIMITS:  # NaN is neither
                return JointEvent.ON_OFF_LIMITS, OutsideLimits(position=position, low=low, high=high)
        return JointEvent.ON, ""

    def _reasons(self, joints: Sequence[JointState]) -> Mapping[str, Reason]:
        return {
            name: joint.reason
            for mode in JointMode
            for name, joint in zip(self._names, joints, strict=True)
            if joint.mode is mode and mode is not JointMode.APPLIED
        }

    def _changes(self, before: Sequence[JointState]) -> Sequence[Report]:
        withheld = self._reasons(before)
        new = {
            name: why
            for name, why in self.withheld.items()
            if withheld.get(name) != why and not isinstance(why, GroupStopped)  # its fault was reported
        }
        back = [
            name
            for name, was, joint in zip(self._names, before, self._joints, strict=True)
            if was.mode is JointMode.SILENT and joint.mode is not JointMode.SILENT
        ]
        reports = [Report(True, line) for line in by_reason(new)]
        if back:
            reports.append(Report(False, f"{', '.join(back)}: commands are back"))
        return reports


def by_reason(withheld: Mapping[str, Reason]) -> Iterator[str]:
    """Give one line per reason, with the joints that it holds for."""
    for reason in dict.fromkeys(withheld.values()):
        joints = ", ".join(name for name, other in withheld.items() if other == reason)
        yield f"{joints}: {reason}"
