# SPDX-License-Identifier: Apache-2.0
"""The thread that owns a bus: exchanges goals for samples, lets go of the servos when anything is wrong."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import Any, TypeVar

from bam_core.errors import BamError, Unavailable
from bam_ros.driver.bus_statistics import BusCounter, BusStatistics
from bam_ros.driver.command_streams import CommandStreams
from bam_ros.driver.following_guard import FollowingGuard
from bam_ros.driver.goal_shaper import GoalShaper, GoalSpeeds, JointCommand
from bam_ros.driver.hardware_errors import FATAL, describe_hardware_errors
from bam_ros.driver.joint_limits import HALF_TURN, OFF_LIMITS, Range, joint_limits
from bam_ros.driver.servo_bus import BusCorrupt, BusGone, BusTimeout, OtherServos, ServoBus, ServoSample

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """How a loop runs. Times that concern the servos are on the clock of the bus.

    Attributes:
        rate: exchanges per second of the wall clock, 1/s; 0 is as fast as the bus allows.
        command_timeout: torque of a joint goes off when no command named it for this long, s.
        torque_on_speed: speed of the goal from torque on until it has caught up, rad/s.
        speed_limit: of the goal at any time, rad/s.
        following_error: largest distance between position and goal, rad; where it is exceeded for 0.5 s,
            torque goes off on all joints. 0: not checked.
        limits: lowest and highest goal of each joint, rad; a single pair is for all.
        failures: lost samples in a row after which the bus counts as lost.
        retry_period: time between attempts to reopen a lost bus, s of the wall clock.
    """

    rate: float = 0.0
    command_timeout: float = 0.5
    torque_on_speed: float = 2.0
    speed_limit: float = 20.0
    following_error: float = 2.0
    limits: Sequence[Range] = (HALF_TURN,)
    failures: int = 5
    retry_period: float = 1.0


class ServoLoop:
    """Runs `ServoBus.exchange` over and over in its own thread.

    A fault (hardware error, following error, lost bus, crash of the loop) switches torque off on every servo
    and is latched. To clear it: remove the cause, end every request for torque, and send one command with
    torque off; or start a new loop.

    Torque is withheld from a single joint, while the others go on, where no commands name it any more, until
    they do again; and where it is outside its limits when torque is asked for, until it is commanded off.

    A bus that is lost is looked for every `retry_period`. Where its port had vanished, the fault also ends
    once the port is back and nobody asks for torque any more. A client that kept asking for torque must first
    command torque off, or send nothing for `command_timeout`.

    Args:
        bus: open; the loop is its only user until `stop` returns.
        settings: see there.
        on_sample: called in the loop's thread with each sample and its number, counted from 1.
        on_event: called in the loop's thread with (is an error, one line).
    """

    def __init__(
        self,
        bus: ServoBus,
        settings: LoopSettings,
        on_sample: Callable[[ServoSample, int], None],
        on_event: Callable[[bool, str], None],
    ) -> None:
        self._bus = bus
        self._settings = settings
        self._on_sample = on_sample
        self._on_event = on_event
        joints = len(bus.names)
        self._limits = tuple(settings.limits) * (joints if len(settings.limits) == 1 else 1)
        self._streams = CommandStreams(joints, settings.command_timeout)
        self._shaper = GoalShaper(
            joints, GoalSpeeds(torque_on=settings.torque_on_speed, limit=settings.speed_limit)
        )
        self._guard = FollowingGuard(bus.names, settings.following_error, bus.second)
        self._counter = BusCounter()
        self._last = bus.now()
        self._sample: ServoSample | None = None
        self._fault: str | None = None
        self._fault_number = 0  # of the newest message at that time
        self._withheld: Mapping[str, str] = {}
        self._obeyed: Sequence[JointCommand] | None = None  # commands that need no second look
        self._outside: dict[int, str] = {}  # joints that were outside their limits -> what was said
        self._silent: dict[int, str] = {}  # joints whose commands stopped while torque was on -> the same
        self._lost_in_a_row = 0
        self._bus_lost = False
        self._away = ""  # why a lost bus cannot be opened
        self._was_gone = False
        self._requests: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="servo loop", daemon=True)

    @property
    def running(self) -> bool:
        """Whether the loop's thread lives."""
        return self._thread.is_alive()

    def take(self, commands: Mapping[int, JointCommand]) -> None:
        """Take new commands for some joints; from any thread, never waits for the bus.

        Args:
            commands: by the joint's place on the bus.
        """
        self._streams.take(commands, self._bus.now())

    @property
    def sample(self) -> ServoSample | None:
        """The newest sample."""
        return self._sample

    @property
    def fault(self) -> str | None:
        """Why torque is off though it may be wanted on, in one line; None when all is well."""
        if self._fault is None:
            return "; ".join(_by_reason(self._withheld)) or None
        away = f" (still looked for: {self._away})" if self._bus_lost and self._away else ""
        asking = ", ".join(self._withheld)
        return (
            f"{self._fault}{away} (torque is still asked for: {asking})" if asking else f"{self._fault}{away}"
        )

    @property
    def latched(self) -> bool:
        """Whether torque is off on every joint until that is acknowledged."""
        return self._fault is not None

    @property
    def withheld(self) -> Mapping[str, str]:
        """Joints that get no torque while the others do -> why."""
        return self._withheld

    @property
    def bus_lost(self) -> bool:
        """Whether the bus is being looked for."""
        return self._bus_lost

    def report(self) -> BusStatistics:
        """Return figures since the last report."""
        return self._counter.report()

    def start(self) -> None:
        """Start exchanging, with torque off."""
        self._thread.start()

    def stop(self) -> None:
        """Stop exchanging and release the servos; returns when both are done. Idempotent, never raises."""
        self._stopping.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        self._bus.release()
        self._refuse_requests()

    def call(self, function: Callable[[], T], timeout: float = 2.0) -> T:
        """Run a function that uses the bus between two exchanges, and return what it returns.

        Raises:
            Unavailable: the loop does not run, or is too busy to answer within `timeout` s.
            Exception: what the function raised.
        """
        future: Future[T] = Future()
        self._requests.append((function, future))
        if not self.running:
            self._refuse_requests()
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise Unavailable(
                "bus", f"no answer within {timeout:g} s", advice="see /diagnostics for its state"
            ) from None

    def interrupt(self, function: Callable[[], T], why: str, timeout: float = 10.0) -> T:
        """Release every servo, forget commands and fault, and run a function between two exchanges.

        Where a client asks for torque when this is called, torque stays off until no command asks for it any
        more, so that the client notices the interruption.

        Args:
            function: that uses the bus.
            why: what it does, in words such as "rebooted".
            timeout: s.

        Raises:
            Unavailable: see `call`.
            Exception: what the function raised; a fault then stays.
        """
        return self.call(self._interruption(function, why), timeout)

    def _interruption(self, function: Callable[[], T], why: str) -> Callable[[], T]:
        def request() -> T:
            commands = self._streams.in_force(self._bus.now())
            wanted = any(command.torque_enable for command in commands)
            self._bus.release()
            self._shaper.reset()
            self._guard.reset()
            self._obeyed = None
            try:
                result = function()
                self._fault = None
                self._sample = None  # of before: an error in it may be gone
            finally:  # torque must not come back either where that has failed
                if not wanted:
                    self._forget()
                elif self._fault is None:
                    self._latch(f"{why} while torque was asked for; command torque off, then on", gone=True)
            return result

        return request

    def _forget(self) -> None:
        self._shaper.reset()
        self._guard.reset()
        self._streams.forget()
        self._outside.clear()
        self._silent.clear()

    def _run(self) -> None:
        try:
            deadline = time.monotonic()
            while not self._stopping.is_set():
                self.step()
                if self._settings.rate > 0.0:
                    deadline = self._pace(deadline)
        except Exception as error:
            self._latch(
                f"servo loop: stopped by {type(error).__name__}: {error}; deactivate and activate the node"
            )
        finally:
            self._bus.release()

    def _pace(self, deadline: float) -> float:
        """Sleep until the next period; a loop that is late starts its periods anew instead of catching up."""
        now = time.monotonic()
        deadline += 1.0 / self._settings.rate
        if deadline <= now:
            return now
        time.sleep(deadline - now)
        return deadline

    def step(self) -> None:
        """Serve requests and exchange once; the thread does this over and over."""
        self._serve_requests()
        now = self._bus.now()
        dt, self._last = now - self._last, now
        if self._bus_lost and not self._reopen():
            self._stopping.wait(self._settings.retry_period)
            return
        goal = self._shaper.shape(self._allowed(now), self._sample, dt)
        try:
            sample = self._bus.exchange(goal)
        except BusTimeout as error:
            self._counter.timeouts += 1
            self._missed(error)
            return
        except BusCorrupt as error:
            self._counter.corrupt += 1
            self._missed(error)
            return
        except BamError as error:
            self._lose(str(error), gone=isinstance(error, BusGone))
            return
        self._lost_in_a_row = 0
        self._sample = sample
        self._counter.sample(time.monotonic())
        self._on_sample(sample, self._counter.samples)
        if not self._healthy:
            self._report_hardware(sample)
        elif (distance := self._guard.error(sample, self._bus.now())) is not None:
            self._bus.release()
            self._latch(distance)

    @property
    def _healthy(self) -> bool:
        """Whether the newest sample exists and shows no error of a servo itself."""
        return self._sample is not None and not any(bits & FATAL for bits in self._sample.hardware_error)

    def _allowed(self, now: float) -> Sequence[JointCommand]:
        """Return the commands in force, without those that must not be obeyed."""
        commands = self._streams.in_force(now)
        wanted = any(command.torque_enable for command in commands)
        if self._fault is not None and not wanted:
            if self._was_gone:
                self._forget()
                self._end_fault("torque may be asked for again")
            elif self._healthy and self._streams.released_since(self._fault_number):
                self._end_fault(f"acknowledged by a command with torque off: {self._fault}")
        if self._fault is not None:
            self._hold_back(commands)
            return (JointCommand(),) * len(commands)
        if commands is not self._obeyed:
            self._withhold(commands)
            if self._withheld:
                return [
                    JointCommand() if index in self._outside else command
                    for index, command in enumerate(commands)
                ]
            switched_on = not any(
                released and command.torque_enable
                for released, command in zip(self._shaper.released, commands, strict=True)
            )
            self._obeyed = commands if switched_on else None
        return commands

    def _end_fault(self, line: str) -> None:
        self._fault = None
        self._on_event(False, line)

    def _hold_back(self, commands: Sequence[JointCommand]) -> None:
        """List the joints that ask for torque while a fault keeps it off; clear reasons of single joints."""
        self._obeyed = None
        self._silent.clear()
        self._outside.clear()
        self._withheld = {
            name: "torque is asked for and stays off, see the status of the bus"
            for name, command in zip(self._bus.names, commands, strict=True)
            if command.torque_enable
        }

    def _withhold(self, commands: Sequence[JointCommand]) -> None:
        """Find the joints that get no torque though it may be wanted, and say what has changed."""
        names, released = self._bus.names, self._shaper.released
        ended = self._streams.ended
        for index in ended - self._silent.keys():
            if not released[index]:  # else its torque was off anyway
                self._silent[index] = (
                    f"no servo_commands for {self._settings.command_timeout:g} {self._bus.second}, nor other"
                    f" commands, while its torque was on"
                    f" (parameter command_timeout), its torque is off; send them again to go on"
                )
        back = [index for index in self._silent if index not in ended]
        for index in back:
            del self._silent[index]
        for index, command in enumerate(commands):
            if not command.torque_enable:
                self._outside.pop(index, None)
            elif index not in self._outside and (reason := self._off_limits(index)) is not None:
                self._outside[index] = reason
        before = self._withheld
        self._withheld = {names[index]: why for index, why in {**self._outside, **self._silent}.items()}
        new = {name: why for name, why in self._withheld.items() if before.get(name) != why}
        for line in _by_reason(new):
            self._on_event(True, line)
        if back:
            self._on_event(False, f"{', '.join(names[index] for index in back)}: commands are back")

    def _off_limits(self, index: int) -> str | None:
        """Return why a joint cannot be switched on where it is; None where it can, or is on."""
        if not self._shaper.released[index] or self._sample is None:
            return None
        low, high = joint_limits(self._bus, self._limits)[index]
        position = self._sample.position[index]
        if not position < low - OFF_LIMITS and not position > high + OFF_LIMITS:  # NaN is neither
            return None
        return (
            f"at {position:.3f} rad, its torque stays off (expected {low:.3f} to {high:.3f} rad, its limits);"
            f" turn it back by hand, or correct its zero or the parameter limits; then command torque off and"
            f" on"
        )

    def _missed(self, error: BamError) -> None:
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= self._settings.failures:
            self._lose(f"{error} ({self._lost_in_a_row} samples lost in a row)")

    def _lose(self, reason: str, *, gone: bool = False) -> None:
        """Give the bus up for now: whatever still hears us is released."""
        self._bus_lost = True
        self._away = ""
        self._sample = None
        self._bus.release()
        self._latch(reason, gone=gone)

    def _reopen(self) -> bool:
        """Try to get a lost bus back, with torque off; the fault stays latched."""
        self._bus.close()
        try:
            found = self._bus.open()
        except OtherServos as error:
            self._latch(str(error), gone=self._was_gone)
            return False
        except BamError as error:
            self._away = str(error)
            return False
        self._bus_lost = False
        self._lost_in_a_row = 0
        if self._fault is not None:
            self._fault = f"{self._fault} (it is back; command torque off, then on, to go on)"
        self._on_event(False, f"bus is back: {found}")
        return True

    def _report_hardware(self, sample: ServoSample) -> None:
        lines = [
            line
            for name, bits in zip(self._bus.names, sample.hardware_error, strict=True)
            for line in self._bus.describe_errors(name, bits & FATAL)
            or describe_hardware_errors(name, bits & FATAL)
        ]
        self._bus.release()
        self._latch("; ".join(lines))

    def _latch(self, fault: str, *, gone: bool = False) -> None:
        """Keep torque off from now on, and say why once."""
        self._shaper.reset()
        self._guard.reset()
        self._was_gone = gone
        self._fault_number = self._streams.number
        if self._fault != fault:
            self._fault = fault
            # A servo that cannot be reached any more may not have heard that it shall let go.
            self._on_event(True, fault if gone else f"torque off: {fault}")

    def _serve_requests(self) -> None:
        while self._requests:
            function, future = self._requests.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except Exception as error:
                future.set_exception(error)

    def _refuse_requests(self) -> None:
        """Answer requests that no loop will serve; both this and `stop` may find the same ones."""
        while self._requests:
            try:
                _, future = self._requests.popleft()
                future.set_exception(
                    Unavailable(
                        "bus",
                        "not active (the servo loop is stopped)",
                        advice="activate the node and ask again",
                    )
                )
            except (IndexError, InvalidStateError):
                continue


def _by_reason(withheld: Mapping[str, str]) -> list[str]:
    """Return one line per reason, with the joints it holds for."""
    return [
        f"{', '.join(name for name, other in withheld.items() if other == reason)}: {reason}"
        for reason in dict.fromkeys(withheld.values())
    ]
