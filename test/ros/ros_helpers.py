# SPDX-License-Identifier: Apache-2.0
"""What several tests share: waiting with a deadline, virtual servos, a bus without hardware."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar

import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from bam_core.errors import BamError
from bam_ros.driver.servo_bus import (
    BusTimeout,
    Gains,
    ServoBus,
    ServoGoal,
    ServoIdentity,
    ServoSample,
)
from bam_ros.emulators.bench_physics import POSITION
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.dynamixel.pty_server import BusClock, PtyServer
from bam_ros.emulators.dynamixel.served_clock import ServedClock
from bam_ros.emulators.dynamixel.servo import VirtualServo
from bam_ros.erob.settings import LONGEST_NODE_TIMEOUT
from studies.emulated_drives import EMULATED_TIMEOUT, EMULATED_WATCHDOG

LONGEST_SILENCE = 0.1
"""Silence of a client that a `PatientClock` counts, s; less than any watchdog of a test."""

LONGEST_COMMAND_TIMEOUT = 60.0
"""The largest command_timeout that drivers take, s."""

PATIENCE = 240.0
"""Time until a test gives up waiting, s.

No test depends on how fast something happens, only on that it does: a machine that others use, too, may
stand still for seconds. Where all is well nobody waits that long.
"""


LATE = {"watchdog": 2.5, "answer_timeout": 1.0}
"""Parameters, s, of a driver whose emulated servos share their machine: they answer late now and then."""

CALM = {**LATE, "guardian_silence": PATIENCE}
"""The same of a bus whose test may stand still as well."""

EROB_LATE = {
    "watchdog": EMULATED_WATCHDOG,
    "answer_timeout": EMULATED_TIMEOUT,
    "node_timeout": LONGEST_NODE_TIMEOUT,
}
"""The same for eRobs, whose test may stand still as well."""


def wait_for(predicate: Callable[[], object], timeout: float = PATIENCE, what: str = "") -> None:
    """Return as soon as the predicate is true; fail the test where it is not within `timeout` s."""
    deadline = time.monotonic() + timeout
    while not predicate():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {timeout:g} s: {what or predicate}")
        time.sleep(0.002)


def bus_is_well(diagnostics: Iterable[DiagnosticStatus]) -> bool:
    """Whether one of these says that its bus has no fault.

    It may warn of samples that were late or lost: on a busy machine some are, every second.
    """
    return any(
        status.name.endswith(": bus") and status.level in (DiagnosticStatus.OK, DiagnosticStatus.WARN)
        for status in diagnostics
    )


class Closable(Protocol):
    """What has an end."""

    def close(self) -> None:
        """End it."""


C = TypeVar("C", bound=Closable)


@contextlib.contextmanager
def client_maker(client: Callable[[int], C], domain: int) -> Iterator[Callable[[], C]]:
    """Give a function that makes clients on a ROS domain; all of them are closed at the end."""
    with contextlib.ExitStack() as stack:

        def make() -> C:
            made = client(domain)
            stack.callback(made.close)
            return made

        yield make


_kept: list[int] = []


def keep_number(terminal: str | Path) -> None:
    """Keep the number of a pseudo-terminal until the test has ended.

    Else a driver that looks for servos that have gone finds, and locks, the terminal of another test that got
    their number.
    """
    _kept.append(os.open(terminal, os.O_RDWR | os.O_NOCTTY))


def give_numbers_back() -> None:
    """Let numbers that were kept be used again."""
    while _kept:
        os.close(_kept.pop())


class PatientClock(ServedClock):
    """A clock of servos that counts only the first part of a client's silence, `LONGEST_SILENCE`.

    The kernel carries bytes to a pseudo-terminal in workers that a busy machine holds back for seconds.
    Servos would take that for a client that has died.
    """

    def __init__(self, time: float) -> None:
        super().__init__(time)
        self._heard = time

    def at(self, time: float, *, intended: float = 0.0, idle: bool = False) -> float:
        now = super().at(time, intended=intended)
        too_long = max(0.0, now - self._heard - intended - LONGEST_SILENCE)
        self._stood_still += too_long
        now -= too_long
        if not idle:
            self._heard = now
        return now


class VirtualServos:
    """Virtual servos on a pseudo-terminal, and what happens to their registers.

    Args:
        clock: of the servos; None: a `PatientClock`, or a `ServedClock` where these are not `patient`.
        patient: whether no watchdog acts.
        build: of the bus, from its setup and a clock.
        setup: of the bus.

    Attributes:
        path: of the pseudo-terminal.
        writes: to the first servo, in their order: what each changed, and where the servo was (counts).
    """

    def __init__(
        self,
        *,
        clock: BusClock | None = None,
        patient: bool = True,
        build: Callable[[BusSetup, float], VirtualBus] = build_bus,
        **setup: Any,
    ) -> None:
        now = time.monotonic()
        clock = clock or (PatientClock(now) if patient else ServedClock(now))
        self.bus = build(BusSetup(**setup), clock.at(now))
        self._server = PtyServer(self.bus, clock=clock)
        self.writes: list[tuple[Mapping[str, int], int]] = []
        servo: Any = self.servo
        written = servo._written

        def note(changes: Mapping[str, int], now: float) -> None:
            self.writes.append((dict(changes), servo.law.to_register(servo.bench.count)))
            written(changes, now)

        servo._written = note

    @property
    def servo(self) -> VirtualServo:
        return self.bus.servos[0]

    @property
    def path(self) -> str:
        return str(self._server.path)

    def get(self, register: str) -> int:
        with self._server.lock:
            return self.servo.registers.get(register)

    def set(self, register: str, count: int) -> None:
        with self._server.lock:
            self.servo.registers.set(register, count)

    def place(self, position: float) -> None:
        """Put the arm of the first servo somewhere, rad, as a hand would."""
        with self._server.lock:
            self.servo.bench.place(position)

    def position(self) -> float:
        """Where the arm of the first servo is, rad."""
        with self._server.lock:
            return float(self.servo.bench.state[POSITION])

    def inject(self, fault: str) -> None:
        with self._server.lock:
            self.servo.inject(fault)

    def repair(self) -> None:
        with self._server.lock:
            self.servo.repair()

    def written(self, register: str) -> list[int]:
        return [changes[register] for changes, _ in self.writes if register in changes]

    def __enter__(self) -> VirtualServos:
        self._server.start()
        keep_number(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()


class FakeBus(ServoBus):
    """Servos that reach their goals at once; keeps what it was told and fails when asked to.

    Attributes:
        farthest: that a servo moves from one read to the next, rad.
    """

    def __init__(
        self, names: tuple[str, ...] = ("joint",), position: float = 0.0, period: float = 1e-3
    ) -> None:
        self._names = names
        self.farthest = math.inf
        self.position = [position] * len(names)
        self.torque = [False] * len(names)
        self.deaf: tuple[str, ...] = ()  # joints that do not confirm a release
        self.errors = [0] * len(names)
        self.gains: dict[str, Gains] = {}
        self.goals: list[ServoGoal] = []
        self.failure: Exception | None = None
        self.lossy = 0  # one in so many reads is lost; 0: none
        self.reads = 0  # so far
        self.open_failure: BamError | None = None
        self.opened = 0
        self.period = period
        self.servos = [ServoIdentity()] * len(names)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def identities(self) -> tuple[ServoIdentity, ...]:
        return tuple(self.servos)

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        return ((-math.pi, math.pi),) * len(self._names)

    @property
    def unreleased(self) -> tuple[str, ...]:
        return self.deaf

    def open(self) -> str:
        if self.open_failure is not None:
            raise self.open_failure
        self.opened += 1
        self.release()
        return "fake bus: ready"

    def exchange(self, goal: ServoGoal) -> ServoSample:
        stamp = self._pass_time()
        if self.failure is not None:
            raise self.failure
        self.reads += 1
        if self.lossy and self.reads % self.lossy == 0:
            raise BusTimeout("id 1", "no answer", advice="check it")
        self.goals.append(goal)
        self.torque = list(goal.torque_enable)
        for index, (on, position) in enumerate(zip(goal.torque_enable, goal.position, strict=True)):
            if on and math.isfinite(position):
                ahead = position - self.position[index]
                self.position[index] += min(max(ahead, -self.farthest), self.farthest)
        unknown = (math.nan,) * len(self._names)
        return ServoSample(
            stamp=stamp,
            position=tuple(self.position),
            velocity=unknown,
            current=unknown,
            duty=unknown,
            effort=unknown,
            voltage=unknown,
            temperature=unknown,
            goal_position=goal.position,
            torque_enabled=tuple(self.torque),
            hardware_error=tuple(self.errors),
        )

    def _pass_time(self) -> int:
        """Let a period pass; return the time of the next sample, ns."""
        time.sleep(self.period)
        return time.time_ns()

    def release(self) -> None:
        self.torque = [False] * len(self._names)

    def set_gains(self, name: str, gains: Gains) -> Gains:
        self.gains[name] = gains
        return gains

    def read_gains(self, name: str) -> Gains:
        return self.gains[name]

    def reboot(self, name: str) -> None:
        self.errors[self._names.index(name)] = 0

    def close(self) -> None:
        self.release()
