# SPDX-License-Identifier: Apache-2.0
"""Several inputs of one driver: joint by joint, the one with the highest priority is applied."""

from __future__ import annotations

import enum
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from bam_ros.driver.goal_shaper import JointCommand


class CommandInput(enum.Enum):
    """Where a command comes from."""

    SET_TORQUE = "set_torque"
    """Services that switch torque off; other inputs then have to pause, or to command it off."""
    SERVO_COMMANDS = "servo_commands"
    TRAJECTORY = "follow_joint_trajectory"
    SHARED_MEMORY = "shared_memory"
    JOINT_COMMAND = "joint_command"
    HOLD = "hold"
    """Keeps joints where a trajectory left them, until somebody else commands them."""


_ABOVE = {
    CommandInput.SET_TORQUE: (),
    CommandInput.SERVO_COMMANDS: (CommandInput.SET_TORQUE,),
    CommandInput.TRAJECTORY: (CommandInput.SERVO_COMMANDS,),
    CommandInput.SHARED_MEMORY: (
        CommandInput.SET_TORQUE,
        CommandInput.SERVO_COMMANDS,
        CommandInput.TRAJECTORY,
    ),
    CommandInput.JOINT_COMMAND: (
        CommandInput.SET_TORQUE,
        CommandInput.SERVO_COMMANDS,
        CommandInput.TRAJECTORY,
        CommandInput.SHARED_MEMORY,
    ),
    CommandInput.HOLD: (
        CommandInput.SERVO_COMMANDS,
        CommandInput.SHARED_MEMORY,
        CommandInput.JOINT_COMMAND,
    ),
}
"""Input -> those whose joints it must not command."""


class CommandSink(Protocol):
    """What takes the commands: a `ServoLoop`."""

    def take(self, commands: Mapping[int, JointCommand]) -> None:
        """Take commands by the joint's place on the bus."""


class CommandInputs:
    """Passes commands on, joint by joint, where no input of higher priority has named the joint.

    An input that names a joint, to switch its torque on or off, closes it to the inputs below. The joint is
    open to them again once for `timeout` neither have named it, or that input has released it: commands of a
    client that kept on meanwhile are ignored until it has paused, so that torque that was commanded off stays
    off, and a joint does not go back to where a stream wanted it before a trajectory.

    Args:
        sink: where commands go.
        now: the time on the clock of the bus, s.
        joints: how many there are.
        timeout: s, on the clock of the bus.

    Attributes:
        timeout: see above; it may change.
    """

    def __init__(self, sink: CommandSink, now: Callable[[], float], joints: int, timeout: float) -> None:
        self._sink = sink
        self._now = now
        self.timeout = timeout
        self._lock = threading.Lock()  # decision and command are one: none may come in between
        # s; when a joint was last named by an input that was applied, and by one that was not
        self._named = {source: [-math.inf] * joints for source in CommandInput}
        self._not_applied = {source: [-math.inf] * joints for source in CommandInput}

    def take(self, source: CommandInput, commands: Mapping[int, JointCommand]) -> frozenset[int]:
        """Pass commands on and return the joints that are closed to this input; from any thread.

        Args:
            source: where they come from.
            commands: by the joint's place on the bus.
        """
        with self._lock:
            now = self._now()
            if source is CommandInput.SERVO_COMMANDS:  # torque off is always applied, and opens the joint
                for index, command in commands.items():
                    if not command.torque_enable:
                        self._named[CommandInput.SET_TORQUE][index] = -math.inf
                        self._not_applied[source][index] = -math.inf
            refused = self._refused(source, commands, now)
            for index in refused:
                self._not_applied[source][index] = now
            admitted = {index: command for index, command in commands.items() if index not in refused}
            for index in admitted:
                self._named[source][index] = now
                if source is CommandInput.TRAJECTORY:  # what it leaves is held, whoever came before it
                    self._named[CommandInput.SHARED_MEMORY][index] = -math.inf
                    self._named[CommandInput.JOINT_COMMAND][index] = -math.inf
                    self._not_applied[CommandInput.HOLD][index] = -math.inf
            if admitted:
                self._sink.take(admitted)
            return refused

    def let_go(self, source: CommandInput, joints: Iterable[int]) -> None:
        """Close joints no longer because this input named them; from any thread."""
        with self._lock:
            for index in joints:
                self._named[source][index] = -math.inf

    def closed(self, source: CommandInput, joints: Iterable[int]) -> frozenset[int]:
        """Return which of these joints are closed to an input; from any thread."""
        with self._lock:
            return self._refused(source, joints, self._now())

    def _refused(self, source: CommandInput, joints: Iterable[int], now: float) -> frozenset[int]:
        times = (self._not_applied[source], *(self._named[above] for above in _ABOVE[source]))
        return frozenset(
            index for index in joints if any(now - time[index] <= self.timeout for time in times)
        )
