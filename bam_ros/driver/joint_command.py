# SPDX-License-Identifier: Apache-2.0
"""`joint_command`: goals as `sensor_msgs/JointState`, as ros2_control over topics and Isaac Sim send them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from bam_core.errors import printable_line
from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import Range

_MOST_WARNINGS = 100  # of one run; names that change in every message shall not fill memory and log


class JointCommandTopic:
    """Applies the valid entries of a message, and warns once of each kind of other ones.

    A position asks for the torque that holds it, NaN for nothing. An entry is ignored where its joint is on
    no bus of this node (messages may be for several drivers), is named twice, has an infinite position, lies
    outside of the joint's limits, or where an input of higher priority commands the joint; other entries
    count. A joint whose entries are all ignored, or NaN, is as one that no message names.

    Args:
        names: of the joints on the bus.
        inputs: of the driver.
        warn: called with one line.
    """

    def __init__(self, names: Sequence[str], inputs: CommandInputs, warn: Callable[[str], None]) -> None:
        self._places = {name: index for index, name in enumerate(names)}
        self._inputs = inputs
        self._warn = warn
        self._warned: set[tuple[str, str]] = set()  # kind, joint

    def take(self, names: Sequence[str], positions: Sequence[float], limits: Sequence[Range]) -> None:
        """Take one message.

        Args:
            names: of its joints.
            positions: parallel to `names`, rad.
            limits: lowest and highest goal of each joint on the bus, rad.
        """
        if len(positions) != len(names):
            self._ignore(
                "length",
                "",
                f"{len(positions)} positions for {len(names)} names (expected as many); give one per name",
            )
            return
        commands: dict[int, JointCommand] = {}
        times = Counter(names)
        for name, position in zip(names, positions, strict=True):
            if self._obeyable(name, float(position), times[name], limits):
                commands[self._places[name]] = JointCommand(torque_enable=True, position=float(position))
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

    def _obeyable(self, name: str, position: float, times: int, limits: Sequence[Range]) -> bool:
        index = self._places.get(name)
        if index is None:
            valid = ", ".join(self._places)
            return self._ignore("unknown", name, f"joint {name!r} is on no bus of this node (valid: {valid})")
        low, high = limits[index]
        if times > 1:
            return self._ignore("twice", name, f"joint {name!r} is there twice; name each once")
        if math.isnan(position):  # ros2_control, of a joint that no controller commands
            return False
        if not low <= position <= high:
            return self._ignore(
                "limits",
                name,
                f"goal of joint {name!r}: is {position:.5g} rad (expected {low:.5g} to {high:.5g} rad, its"
                f" limits); give radians within these",
            )
        return True

    def _ignore(self, kind: str, name: str, line: str) -> bool:
        """Warn, unless that was done; always False."""
        if (kind, name) not in self._warned and len(self._warned) < _MOST_WARNINGS:
            self._warned.add((kind, name))
            self._warn(printable_line(f"joint_command: ignored, {line}"))
        return False
