# SPDX-License-Identifier: Apache-2.0
"""The thread that owns a bus: exchanges goals for samples, lets go of the servos when anything is wrong."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from bam_core.errors import BamError
from bam_ros.bus_statistics import BusCounter, BusStatistics
from bam_ros.goal_shaper import GoalShaper, ServoCommand
from bam_ros.hardware_errors import FATAL, describe_hardware_errors
from bam_ros.servo_bus import BusCorrupt, BusError, BusGone, BusTimeout, ServoBus, ServoSample

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """How a loop runs.

    Attributes:
        rate: exchanges per second, 1/s; 0 is as fast as the bus allows.
        command_timeout: torque goes off when no command came for this long, s.
        torque_on_speed: speed of the goal from torque on until it has caught up, rad/s.
        failures: lost samples in a row after which the bus counts as lost.
        retry_period: time between attempts to reopen a lost bus, s.
    """

    rate: float = 0.0
    command_timeout: float = 0.5
    torque_on_speed: float = 2.0
    failures: int = 5
    retry_period: float = 1.0


class ServoLoop:
    """Runs `ServoBus.exchange` over and over in its own thread.

    A fault (hardware error, lost bus, crash of the loop) releases every servo and is latched: torque stays
    off until its cause is gone and a command asks for torque off on every servo, or until a loop is started
    anew. A lost command stream releases them too, and the next command ends that.

    A bus that is lost is looked for every `retry_period`. Where its port had vanished, the fault also ends
    once the port is back and nobody asks for torque any more: a stream of commands that went on all the while
    does not move the servos, a new one does.

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
        self._servos = len(bus.names)
        self._command = ServoCommand.idle(self._servos)
        self._shaper = GoalShaper(self._servos, settings.torque_on_speed)
        self._counter = BusCounter()
        self._sample: ServoSample | None = None
        self._fault: str | None = None
        self._fault_time = 0.0
        self._command_lost: str | None = None
        self._lost_in_a_row = 0
        self._bus_lost = False
        self._was_gone = False
        self._requests: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="servo loop", daemon=True)

    @property
    def running(self) -> bool:
        """Whether the loop's thread lives."""
        return self._thread.is_alive()

    @property
    def command(self) -> ServoCommand:
        """The command in force; setting it is atomic and never waits."""
        return self._command

    @command.setter
    def command(self, command: ServoCommand) -> None:
        self._command = command

    @property
    def sample(self) -> ServoSample | None:
        """The newest sample."""
        return self._sample

    @property
    def fault(self) -> str | None:
        """Why torque is off though it may be wanted on, in one line; None when all is well."""
        return self._fault or self._command_lost

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
        while self._requests:
            self._requests.popleft()[1].cancel()

    def call(self, function: Callable[[], T], timeout: float = 2.0) -> T:
        """Run a function that uses the bus between two exchanges, and return what it returns.

        Raises:
            BusError: the loop does not run, or is too busy to answer within `timeout` s.
            Exception: what the function raised.
        """
        future: Future[T] = Future()
        self._requests.append((function, future))
        if not self.running:
            raise BusError("bus: not active (the servo loop is stopped); activate the node and ask again")
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise BusError(f"bus: no answer within {timeout:g} s; see /diagnostics for its state") from None

    def reboot(self, name: str) -> None:
        """Release every servo and reboot one of them; clears a latched hardware error of it.

        Raises:
            BusError: see `ServoBus.reboot` and `call`.
        """
        self.interrupt(lambda: self._bus.reboot(name))

    def interrupt(self, function: Callable[[], object]) -> None:
        """Release every servo, forget command and fault, and run a function between two exchanges.

        Raises:
            BusError: see `call`.
            Exception: what the function raised.
        """
        self.call(lambda: self._interrupt(function), timeout=10.0)

    def _interrupt(self, function: Callable[[], object]) -> None:
        self._bus.release()
        self._shaper.reset()
        self._command = ServoCommand.idle(self._servos)
        function()
        self._fault = None

    def _run(self) -> None:
        try:
            deadline = last = time.monotonic()
            while not self._stopping.is_set():
                self._serve_requests()
                now = time.monotonic()
                self._cycle(now, now - last)
                last = now
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

    def _cycle(self, now: float, dt: float) -> None:
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
        except BusError as error:
            self._lose(str(error), gone=isinstance(error, BusGone))
            return
        self._lost_in_a_row = 0
        self._sample = sample
        self._counter.sample(time.monotonic())
        self._on_sample(sample, self._counter.samples)
        if not self._healthy:
            self._report_hardware(sample)

    @property
    def _healthy(self) -> bool:
        """Whether the newest sample exists and shows no error of a servo itself."""
        return self._sample is not None and not any(bits & FATAL for bits in self._sample.hardware_error)

    def _allowed(self, now: float) -> ServoCommand:
        """Return the command in force, or the one that releases where torque must not be on."""
        command = self._command
        wanted = any(command.torque_enable)
        if self._fault is not None and not wanted and command.received > self._fault_time and self._healthy:
            self._on_event(False, f"acknowledged by a command with torque off: {self._fault}")
            self._fault = None
        stale = now - command.received > self._settings.command_timeout
        if self._fault is not None and self._was_gone and (stale or not wanted):
            self._command = command = ServoCommand.idle(self._servos)
            self._fault, wanted = None, False
            self._on_event(False, "torque may be asked for again")
        if wanted and stale:
            if self._command_lost is None:
                self._command_lost = (
                    f"servo_commands: none for {self._settings.command_timeout:g} s while torque was on"
                    " (parameter command_timeout), torque is off; send commands again to go on"
                )
                self._on_event(True, self._command_lost)
        elif self._command_lost is not None:
            self._command_lost = None
            self._on_event(False, "servo_commands: the stream is back")
        if wanted and (self._fault or self._command_lost):
            return ServoCommand.idle(self._servos)
        return command

    def _missed(self, error: BusError) -> None:
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= self._settings.failures:
            self._lose(f"{error} ({self._lost_in_a_row} samples lost in a row)")

    def _lose(self, reason: str, *, gone: bool = False) -> None:
        """Give the bus up for now: whatever still hears us is released."""
        self._bus_lost = True
        self._sample = None
        self._bus.release()
        self._latch(reason, gone=gone)

    def _reopen(self) -> bool:
        """Try to get a lost bus back, with torque off; the fault stays latched."""
        self._bus.close()
        try:
            found = self._bus.open()
        except BamError:
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
        self._was_gone = gone
        self._fault_time = time.monotonic()
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
