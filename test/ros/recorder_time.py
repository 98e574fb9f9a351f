# SPDX-License-Identifier: Apache-2.0
"""Simulated time of a recorder and its drivers, by which no machine is too slow.

A bus on this time has its next sample one period later, once the recorder has answered all states and the
drivers have taken the answers. So a script has the same number of states however busy the machine is.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from bam_ros.recorder.robot_recorder import RobotRecorder
from bam_ros.recorder.run import RunRecorder
from bam_ros.recorder.servo_link import ServoLink
from test.ros.ros_helpers import PATIENCE, FakeBus

_TICK = 0.1  # s; who waits for the end of a script looks at it ten times a second: TICK_PERIOD
_YIELD = 1e-3  # s of the wall clock; time goes at most ten times too fast where no script runs


class RecorderTime:
    """A clock that buses advance in step with the links of recorders, which show it.

    Args:
        patch: undone when the time is over.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._changed = threading.Condition()
        self._now = time.time_ns()
        self._published: dict[str, int] = {}  # topic -> sequence of the newest states
        self._taken: dict[str, int] = {}  # topic -> stamp of the newest command that a driver took, ns
        self._answered: dict[ServoLink[Any], int] = {}  # open link -> sequence of the newest states
        self._sent: dict[ServoLink[Any], int] = {}  # open link -> stamp of its newest command, ns
        self._next_tick = math.inf  # s; time stands then until whoever waits for a script has looked at it
        self._govern(patch)

    @property
    def now(self) -> int:
        """Time, ns."""
        return self._now

    @property
    def seconds(self) -> float:
        """The same in s."""
        return self._now * 1e-9

    def advance(self, since: int, period: float) -> int:
        """Wait for all answers and advance; return the time of a bus' next sample, ns.

        Args:
            since: time of its last sample, ns.
            period: of the bus, s. Where another bus is ahead, this one catches up.
        """
        time.sleep(_YIELD)
        with self._changed:
            if not self._changed.wait_for(self._may_go_on, PATIENCE):
                self._answered.clear()  # nobody is there any more
                self._sent.clear()
                self._next_tick = math.inf
            self._now = max(self._now, since + round(period * 1e9))
            return self._now

    def published(self, topic: str, sequence: int) -> None:
        """Note that a driver has published states."""
        with self._changed:
            self._published[topic] = sequence

    def taken(self, topic: str, stamp: int) -> None:
        """Note that a driver has taken a command of this stamp, ns."""
        with self._changed:
            self._taken[topic] = max(stamp, self._taken.get(topic, 0))
            self._changed.notify_all()

    def _govern(self, patch: pytest.MonkeyPatch) -> None:
        """Let links and scripts of recorders keep this time in step."""
        handle, send, close = ServoLink._on_states, ServoLink.send, ServoLink.close
        closed = set()

        def answer_states(link: ServoLink[Any], cdr: bytes) -> None:
            handle(link, cdr)
            with self._changed:
                if link not in closed and link.newest is not None:
                    self._answered[link] = link.newest.sequence
                    self._changed.notify_all()

        def send_command(link: ServoLink[Any], now_ns: int, goal: Any) -> None:
            with self._changed:
                if link in self._answered:
                    self._sent[link] = now_ns
            send(link, now_ns, goal)

        def close_link(link: ServoLink[Any]) -> None:
            with self._changed:
                closed.add(link)
                self._answered.pop(link, None)
                self._sent.pop(link, None)
                self._changed.notify_all()
            close(link)

        patch.setattr(ServoLink, "now", lambda link: self._now)
        patch.setattr(ServoLink, "_on_states", answer_states)
        patch.setattr(ServoLink, "send", send_command)
        patch.setattr(ServoLink, "close", close_link)
        for recorder in (RunRecorder, RobotRecorder):
            patch.setattr(recorder, "_wait", self._watching(recorder._wait))

    def _watching(self, wait: Callable[..., None]) -> Callable[..., None]:
        """Return what waits for the end of a script; time does not go on meanwhile without its ticks."""

        def watched(recorder: Any, event: threading.Event, tick: Callable[[], None]) -> None:
            def unwatched_tick() -> None:  # it may call services, which the driver serves between samples
                self._tick_at(math.inf)
                try:
                    tick()
                finally:
                    self._tick_at(self.seconds + _TICK)

            self._tick_at(self.seconds + _TICK)
            try:
                wait(recorder, event, unwatched_tick)
            finally:
                self._tick_at(math.inf)

        return watched

    def _tick_at(self, seconds: float) -> None:
        with self._changed:
            self._next_tick = seconds
            self._changed.notify_all()

    def _may_go_on(self) -> bool:
        return (
            self.seconds < self._next_tick
            and all(
                number >= self._published.get(link.topics.states, number)
                for link, number in self._answered.items()
            )
            and all(self._taken.get(link.topics.commands, 0) >= stamp for link, stamp in self._sent.items())
        )


class TimedBus(FakeBus):
    """A bus without hardware on a recorder's time; arguments besides as for `FakeBus`."""

    def __init__(self, clock: RecorderTime, *, period: float = 10e-3, **arguments: Any) -> None:
        super().__init__(period=period, **arguments)
        self.clock = clock
        self._sampled = clock.now

    def now(self) -> float:
        return self.clock.seconds

    def _pass_time(self) -> int:
        self._sampled = self.clock.advance(self._sampled, self.period)
        return self._sampled
