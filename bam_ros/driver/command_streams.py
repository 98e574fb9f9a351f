# SPDX-License-Identifier: Apache-2.0
"""The newest command of every joint, and whether the client that sent it still lives."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from bam_ros.driver.goal_shaper import JointCommand

_IDLE = JointCommand()
_STILL_AFTER = 0.5
"""Share of the timeout after which a set-point is 0; in the rest the servo stops, then torque goes off."""


@dataclass(frozen=True)
class _Received:
    command: JointCommand = _IDLE
    time: float = -math.inf  # s, on the clock of the bus
    number: int = 0  # of the message


class CommandStreams:
    """What clients command, joint by joint.

    Several clients may share a bus, each with joints of its own, so every joint has a stream of commands.
    A stream ends where no command named its joint for `timeout`; that joint is released, the others go on.
    `take` may be called from another thread than the rest.

    A velocity, current or duty moves a joint on while nothing comes: after half of that time it is 0.

    Args:
        joints: how many there are.
        timeout: s, on the clock of the bus.
        by_setpoint: joints that are commanded by a velocity, a current or a duty.
    """

    def __init__(self, joints: int, timeout: float, by_setpoint: Collection[int] = ()) -> None:
        self._timeout = timeout
        self._by_setpoint = frozenset(by_setpoint)
        self._lock = threading.Lock()
        self._received = [_Received()] * joints
        self._ended: set[int] = set()
        self._number = 0
        # Of each joint the number of the newest message when `await_release` was called.
        self._awaited_after = [0] * joints
        # What `advance` returned last holds until a message comes, or the first stream may have ended.
        self._current: tuple[JointCommand, ...] | None = None
        self._current_until = -math.inf  # s

    def set_timeout(self, timeout: float) -> None:
        """End streams after another time from now on, s."""
        with self._lock:
            self._timeout = timeout
            self._current = None

    @property
    def number(self) -> int:
        """Number of messages taken so far."""
        return self._number

    @property
    def ended(self) -> frozenset[int]:
        """Joints whose stream ended while their torque was on, and has not begun again."""
        with self._lock:
            return frozenset(self._ended)

    def take(self, commands: Mapping[int, JointCommand], now: float) -> None:
        """Replace the commands of some joints.

        Args:
            commands: of each joint that a message names.
            now: when it arrived, s on the clock of the bus.
        """
        with self._lock:
            self._number += 1
            for index, command in commands.items():
                self._received[index] = _Received(
                    self._merged(self._received[index].command, command), now, self._number
                )
                self._ended.discard(index)
            self._current = None

    def advance(self, now: float) -> tuple[JointCommand, ...]:
        """Let time pass, which ends streams, and return the command in force of every joint.

        A joint whose stream has ended is released. The same object while nothing has changed.

        Args:
            now: s, on the clock of the bus.
        """
        current = self._current
        if current is not None and now <= self._current_until:
            return current
        with self._lock:
            for index, received in enumerate(self._received):
                age = now - received.time
                if received.command.torque_enable and age > self._timeout:
                    self._received[index] = _Received()
                    self._ended.add(index)
                elif self._moves_on(index) and age > _STILL_AFTER * self._timeout:
                    stopped = replace(received.command, setpoint=0.0)
                    self._received[index] = replace(received, command=stopped)
            self._current_until = min(
                (
                    received.time + self._timeout * (_STILL_AFTER if self._moves_on(index) else 1.0)
                    for index, received in enumerate(self._received)
                    if received.command.torque_enable
                ),
                default=math.inf,
            )
            self._current = tuple(received.command for received in self._received)
            return self._current

    def await_release(self, joints: Iterable[int] | None = None) -> None:
        """Let only commands from now on count as release of these joints; None: of all."""
        with self._lock:
            for index in range(len(self._awaited_after)) if joints is None else joints:
                self._awaited_after[index] = self._number

    def release_came(self, joints: Iterable[int] | None = None) -> bool:
        """Return whether a command to release one of these joints (None: of all) has come since then."""
        with self._lock:
            return any(
                self._received[index].number > self._awaited_after[index]
                and not self._received[index].command.torque_enable
                for index in (range(len(self._received)) if joints is None else joints)
            )

    def forget(self) -> None:
        """Release every joint until new commands come."""
        with self._lock:
            self._received = [_Received()] * len(self._received)
            self._ended.clear()
            self._current = None

    def _moves_on(self, index: int) -> bool:
        """Return whether the command in force moves a joint on without an end."""
        command = self._received[index].command
        return index in self._by_setpoint and command.torque_enable and command.setpoint != 0.0

    @staticmethod
    def _merged(before: JointCommand, command: JointCommand) -> JointCommand:
        """Return a command whose position is the goal in force where it names none.

        A released joint has no goal in force: torque that goes on without a position holds it where it is.
        """
        if math.isnan(command.position) and command.torque_enable and before.torque_enable:
            return replace(command, position=before.position)
        return command
