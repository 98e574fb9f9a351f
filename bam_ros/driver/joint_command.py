# SPDX-License-Identifier: Apache-2.0
"""`joint_command`: goals as `sensor_msgs/JointState`, as ros2_control over topics and Isaac Sim send them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bam_core.errors import printable_line
from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import Range

_FIELDS = {
    CommandKind.POSITION: "positions",
    CommandKind.VELOCITY: "velocities",
    CommandKind.CURRENT: "efforts",
}
_MOST_WARNINGS = 100  # of one run; names that change in every message shall not fill memory and log


@dataclass(frozen=True)
class _Ignored:
    """An entry that is ignored.

    Attributes:
        kind: of the reason; each is reported once.
        line: the reason.
    """

    kind: str
    line: str


class JointCommandTopic:
    """Applies the valid entries of a message, and warns once of each kind of other ones.

    Of a joint that is commanded by position its position counts, of others velocity or effort; the torque of
    an effort becomes the current of the motor. It asks for torque, NaN for nothing. An entry is ignored where
    its joint is on no bus of this node (messages may be for several drivers), is named twice, has no finite
    goal, lies outside of the joint's limits, or where an input of higher priority commands the joint; other
    entries count. A joint whose entries are all ignored, or NaN, is as one that no message names.

    Args:
        names: of the joints on the bus.
        inputs: of the driver.
        warn: called with one line.
        kinds: what each joint is commanded by; empty: position.
        torque_constants: returns torque per current of each joint, N·m/A; NaN: not known.
    """

    def __init__(
        self,
        names: Sequence[str],
        inputs: CommandInputs,
        warn: Callable[[str], None],
        kinds: Sequence[CommandKind] = (),
        torque_constants: Callable[[], Sequence[float]] = tuple,
    ) -> None:
        self._kinds = tuple(kinds) or (CommandKind.POSITION,) * len(names)
        self._torque_constants = torque_constants
        self._places = {name: index for index, name in enumerate(names)}
        self._inputs = inputs
        self._warn = warn
        self._warned: set[tuple[str, str]] = set()  # kind, joint

    def take(
        self,
        names: Sequence[str],
        positions: Sequence[float],
        limits: Sequence[Range],
        velocities: Sequence[float] = (),
        efforts: Sequence[float] = (),
    ) -> None:
        """Take one message.

        Args:
            names: of its joints.
            positions: parallel to `names`, rad; may be empty where no joint is commanded by them, as the
                others may.
            limits: lowest and highest goal of each joint on the bus, rad.
            velocities: rad/s.
            efforts: N·m.
        """
        columns = {
            CommandKind.POSITION: positions,
            CommandKind.VELOCITY: velocities,
            CommandKind.CURRENT: efforts,
        }
        commands: dict[int, JointCommand] = {}
        times = Counter(names)
        for entry, name in enumerate(names):
            index = self._places.get(name)
            kind = CommandKind.POSITION if index is None else self._kinds[index]
            column = columns.get(kind, ())
            is_whole = len(column) == len(names)
            if index is not None and kind is not CommandKind.DUTY and not is_whole:
                field = _FIELDS[kind]
                line = f"{len(column)} {field} for {len(names)} names (expected as many); give one per name"
                self._ignore("length", field, line)
                continue
            goal = float(column[entry]) if is_whole else math.nan
            command = self._command(name, index, goal, times[name], limits)
            if isinstance(command, _Ignored):
                self._ignore(command.kind, name, command.line)
            elif index is not None and command is not None:
                commands[index] = command
        refused = self._inputs.take(CommandInput.JOINT_COMMAND, commands)
        for name in names:
            if (index := self._places.get(name)) in refused:
                self._ignore(
                    "closed",
                    name,
                    f"joint {name!r} is commanded by servo_commands, a service or a trajectory; to command it"
                    f" here, stop them, and pause for command_timeout",
                )
            elif index in commands:  # it may be told anew, should it come to that again
                self._warned.discard(("closed", name))

    def _command(
        self, name: str, index: int | None, goal: float, times: int, limits: Sequence[Range]
    ) -> JointCommand | _Ignored | None:
        """Return the command of an entry; what makes it ignored; None: it asks for nothing."""
        if index is None:
            valid = ", ".join(self._places)
            return _Ignored("unknown", f"joint {name!r} is on no bus of this node (valid: {valid})")
        if times > 1:
            return _Ignored("twice", f"joint {name!r} is there twice; name each once")
        kind = self._kinds[index]
        if kind is CommandKind.DUTY:
            line = f"joint {name!r} is commanded by duty, which JointState lacks; send servo_commands"
            return _Ignored("duty", line)
        if math.isnan(goal):  # ros2_control, of a joint that no controller commands
            return None
        if kind is CommandKind.POSITION:
            low, high = limits[index]
            if low <= goal <= high:
                return JointCommand(torque_enable=True, position=goal)
            return _Ignored(
                "limits",
                f"goal of joint {name!r}: is {goal:.5g} rad (expected {low:.5g} to {high:.5g} rad, its"
                f" limits); give radians within these",
            )
        if math.isinf(goal):
            line = f"{_FIELDS[kind]} of joint {name!r}: is {goal:g} (expected a finite number)"
            return _Ignored("infinite", line)
        if kind is CommandKind.VELOCITY:
            return JointCommand(torque_enable=True, setpoint=goal)
        torque_constant = self._torque_constants()[index]
        if not torque_constant > 0.0:
            return _Ignored(
                "torque constant",
                f"effort of joint {name!r}: its torque constant is not known; send goal_current in"
                " servo_commands",
            )
        return JointCommand(torque_enable=True, setpoint=goal / torque_constant)

    def _ignore(self, kind: str, name: str, line: str) -> None:
        """Warn, unless that was done."""
        if (kind, name) not in self._warned and len(self._warned) < _MOST_WARNINGS:
            self._warned.add((kind, name))
            self._warn(printable_line(f"joint_command: ignored, {line}"))
