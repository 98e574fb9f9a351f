# SPDX-License-Identifier: Apache-2.0
"""States and commands of a driver over shared memory, for controllers in another process of this machine.

Commands take the way of `joint_command`: the same checks, limits, speeds and timeouts hold for them.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bam_core.errors import BamError
from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.fault_errors import StillAsked
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import Range
from bam_ros.driver.servo_bus import ServoBus, ServoSample
from bam_ros.driver.servo_commands import require_finite, require_within
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.shared_layout import LONGEST_FAULT, TYPES, Torque
from bam_ros.driver.shared_segment import SharedSegment
from bam_ros.driver.trajectory_follower import TrajectoryFollower
from bam_ros.text.driver_notices import CommandIgnored

_MEASURED = ("position", "velocity", "effort", "current", "duty", "voltage", "temperature")
"""Fields of State that are fields of a sample."""
_RESET_SHARE = 2.0  # of the timeout of commands; for so long a fault whose requests run out is ended again


class SharedMemory:
    """The segment of a node, from its configuration to its clean-up.

    Args:
        name: of the segment.
        bus: open.
        limits: returns lowest and highest goal of each joint, rad.
        warn: called with one line.

    Raises:
        BamError: see `SharedSegment`.
    """

    def __init__(
        self, name: str, bus: ServoBus, limits: Callable[[], Sequence[Range]], warn: Callable[[str], None]
    ) -> None:
        self._bus, self._limits, self._warn = bus, limits, warn
        self._segment = SharedSegment(name, bus.names, bus.command_kinds)
        self._fence = threading.Lock()
        self._by_setpoint = [
            index for index, kind in enumerate(bus.command_kinds) if kind is not CommandKind.POSITION
        ]
        self._loop: ServoLoop | None = None
        self._inputs: CommandInputs | None = None
        self._follower: TrajectoryFollower | None = None
        self._seen = 0  # number of the newest command that was taken
        self._off: frozenset[int] = frozenset()  # joints whose torque the newest command switched off
        self._reset = self._answered = 0  # newest request to end a fault; newest one that is done
        self._reset_until = -math.inf  # s
        self._warned: set[str] = set()

    def activate(self, loop: ServoLoop, inputs: CommandInputs, follower: TrajectoryFollower | None) -> None:
        """Take commands from now on; those that were written before are not applied.

        Args:
            loop: not started yet.
            inputs: of the loop.
            follower: of trajectories; None: there is none.
        """
        self._loop, self._inputs, self._follower = loop, inputs, follower
        self._seen = int(self._segment.command["number"])
        self._reset = self._answered = int(self._segment.command["reset_fault"])
        self._off = frozenset()
        self._warned.clear()
        self._write({"active": 1, "number": 0, "published": 0, **self._fault(loop)})

    def deactivate(self) -> None:
        """Take commands no longer, which clients see; the loop has stopped. Idempotent."""
        if self._loop is not None:
            self._loop = self._inputs = self._follower = None
            self._write({"active": 0, "torque_enabled": 0})

    def close(self) -> None:
        """Remove the segment. Idempotent."""
        self.deactivate()
        self._segment.close()

    def publish(self, sample: ServoSample, number: int) -> None:
        """Write a sample; called in the loop's thread.

        Args:
            sample: the newest.
            number: counted from 1.
        """
        goal = np.array(sample.goal_position)
        if sample.setpoint:
            goal[self._by_setpoint] = np.array(sample.setpoint)[self._by_setpoint]
        self._write(
            {
                "number": number,
                "stamp": sample.stamp,
                "published": time.monotonic_ns(),
                "taken": self._seen,
                "goal": goal,
                "torque_enabled": sample.torque_enabled,
                "hardware_error": sample.hardware_error,
                **{field: getattr(sample, field) for field in _MEASURED},
            }
        )

    def report(self) -> None:
        """Write which joints a fault keeps off; called in the loop's thread where something happened."""
        if self._loop is not None:
            self._write(self._fault(self._loop))

    def poll(self) -> None:
        """Take the newest command where there is one; called in the loop's thread before each exchange."""
        if self._loop is None or self._inputs is None:
            return
        if self._reset != self._answered:
            self._end_fault(self._loop)
        if int(self._segment.command["number"]) == self._seen or (command := self._newest()) is None:
            return
        age = 1e-9 * (time.monotonic_ns() - int(command["time"]))
        self._seen = int(command["number"])
        if age <= self._inputs.timeout:  # else its client stood still while it wrote it
            self._take(command, self._inputs)

    def _newest(self) -> np.void | None:
        """Return the command; None while it is being written, or where its client died while it did."""
        lock = int(self._segment.command["lock"])
        if lock % 2:
            return None
        self._order()
        copy = self._segment.copy_of_command()
        self._order()
        if int(self._segment.command["lock"]) != lock:
            return None
        return np.frombuffer(copy, TYPES["Command"])[0]

    def _take(self, command: np.void, inputs: CommandInputs) -> None:
        joints = range(len(self._bus.names))
        wanted, goals = command["torque"].tolist(), command["goal"].tolist()
        off = frozenset(joint for joint in joints if wanted[joint] == Torque.OFF)
        if switched := off - self._off:
            if self._follower is not None:
                self._follower.release(switched, "torque was switched off over shared memory")
            inputs.take(CommandInput.SET_TORQUE, dict.fromkeys(switched, JointCommand()))
        on = [joint for joint in joints if wanted[joint] == Torque.ON]
        if back := self._off.intersection(on):
            inputs.let_go(CommandInput.SET_TORQUE, back)
        self._off = off
        if (reset := int(command["reset_fault"])) != self._reset:
            self._reset = reset
            self._reset_until = self._bus.now() + _RESET_SHARE * inputs.timeout
        limits = self._limits() if on else ()
        commands = {}
        for joint in on:
            try:
                if (valid := self._command(joint, goals[joint], limits[joint])) is not None:
                    commands[joint] = valid
            except BamError as error:
                self._warn_once(self._bus.names[joint], error)
        if commands:
            inputs.take(CommandInput.SHARED_MEMORY, commands)

    def _command(self, joint: int, goal: float, limits: Range) -> JointCommand | None:
        """Return the command of a joint; None: it asks for nothing. Raises BamError."""
        if math.isnan(goal):
            return None
        name, kind = self._bus.names[joint], self._bus.command_kinds[joint]
        if kind is CommandKind.POSITION:
            require_within(name, goal, limits)
            return JointCommand(torque_enable=True, position=goal)
        require_finite(name, kind, goal)
        return JointCommand(torque_enable=True, setpoint=goal)

    def _end_fault(self, loop: ServoLoop) -> None:
        """End a fault; where commands of this client still ask for torque, try again until they run out."""
        try:
            if not loop.bus_lost:
                loop.end_fault()
        except StillAsked as error:
            if self._bus.now() <= self._reset_until:
                return
            self._warn(f"shared_memory: {error}")
        except BamError as error:
            self._warn(f"shared_memory: {error}")
        self._answered = self._reset
        self.report()

    def _warn_once(self, joint: str, error: BamError) -> None:
        if joint not in self._warned:
            self._warned.add(joint)
            self._warn(str(CommandIgnored(topic="shared_memory", reason=error)))

    def _fault(self, loop: ServoLoop) -> Mapping[str, Any]:
        """Return the fields about faults and their end."""
        stopped = [int(loop.latched or joint in loop.stopped) for joint in range(len(self._bus.names))]
        reasons = (loop.fault_reason,) if loop.latched else loop.stopped.values()
        text = "; ".join(dict.fromkeys(map(str, reasons)))
        line = text.encode()[: LONGEST_FAULT - 1].decode(errors="ignore").encode()
        answered = self._answered
        return {"latched": int(loop.latched), "stopped": stopped, "fault": line, "answered": answered}

    def _write(self, values: Mapping[str, Any]) -> None:
        """Write fields of State as one; joints beyond those of the bus stay as they are."""
        state, joints = self._segment.state, len(self._bus.names)
        lock = int(state["lock"]) | 1
        state["lock"][...] = lock
        self._order()
        for field, value in values.items():
            view = state[field]
            if view.ndim:
                view[:joints] = value
            else:
                view[...] = value
        self._order()
        state["lock"][...] = lock + 1

    def _order(self) -> None:
        """Let no processor move what is before this behind what is after it.

        Python has no fence. What is before a release of a lock stays before the next acquisition, and what
        is after that stays after it.
        """
        for _ in range(2):
            with self._fence:
                pass
