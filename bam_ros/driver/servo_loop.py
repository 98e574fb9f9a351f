# SPDX-License-Identifier: Apache-2.0
"""The thread that owns a bus: exchanges goals for samples, and acts on safety events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from bam_core.errors import BamError, Unavailable
from bam_ros.driver.bus_statistics import BusCounter, BusStatistics
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.command_streams import CommandStreams
from bam_ros.driver.fault_errors import FaultPersists, StillAsked
from bam_ros.driver.following_guard import FollowingGuard
from bam_ros.driver.goal_shaper import GoalShaper, GoalSpeeds, JointCommand, SetpointRules
from bam_ros.driver.group_faults import GroupFaults
from bam_ros.driver.hardware_errors import FATAL, describe_hardware_errors
from bam_ros.driver.joint_gate import JointGate, by_reason
from bam_ros.driver.joint_limits import Range, joint_limits
from bam_ros.driver.loop_requests import LoopRequests
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.safety_events import (
    BusFailed,
    BusFound,
    BusNotFound,
    Event,
    Interrupted,
    InterruptionBegun,
    InterruptionFailed,
    LoopCrashed,
    NotFollowing,
    OtherServosFound,
    PortVanished,
    SampleLost,
    SampleTaken,
    ServoErrors,
    TorqueAsked,
    TorqueNotAsked,
)
from bam_ros.driver.safety_states import BUS_AWAY, BUS_OPEN, Action, Mode, Report, Safety, transition
from bam_ros.driver.servo_bus import (
    BusCorrupt,
    BusGone,
    BusTimeout,
    OtherServos,
    ServoBus,
    ServoGoal,
    ServoSample,
)
from bam_ros.text.torque_reasons import CommandsEnded, Reason

T = TypeVar("T")

_SAMPLE_TAKEN = SampleTaken()
_TORQUE_ASKED = TorqueAsked()


class ServoLoop:
    """Runs `ServoBus.exchange` over and over in its own thread.

    A fault (hardware error, following error, lost bus, crash of the loop) switches torque off on every servo
    and is latched. To clear it: remove the cause, end every request for torque, and send one command with
    torque off; or start a new loop. `safety_states` has these states and the events between them.

    Where the settings have groups, a hardware error or following error of a joint stops its group alone,
    until the same has been done for the joints of that group. What concerns the bus stops all joints.

    Torque is withheld from a single joint, while the others go on, where no commands name it any more, until
    they do again; and where it is outside its limits when torque is asked for, until it is commanded off:
    `joint_states`.

    A bus that is lost is looked for every `retry_period`. Where its port had vanished, the fault also ends
    once the port is back and nobody asks for torque any more. A client that kept asking for torque must first
    command torque off, or send nothing for `command_timeout`.

    Args:
        bus: open; the loop is its only user until `stop` returns.
        settings: see there.
        on_sample: called in the loop's thread with each sample and its number, counted from 1.
        on_event: called in the loop's thread with (is an error, one line).
        before_exchange: called in the loop's thread before it looks at the commands.
    """

    def __init__(
        self,
        bus: ServoBus,
        settings: LoopSettings,
        on_sample: Callable[[ServoSample, int], None],
        on_event: Callable[[bool, str], None],
        before_exchange: Callable[[], None] = lambda: None,
    ) -> None:
        self._bus = bus
        self._settings = settings
        self._on_sample = on_sample
        self._on_event = on_event
        self._before_exchange = before_exchange
        joints = len(bus.names)
        limits = tuple(settings.limits) * (joints if len(settings.limits) == 1 else 1)
        kinds = bus.command_kinds
        by_setpoint = [index for index, kind in enumerate(kinds) if kind is not CommandKind.POSITION]
        self._streams = CommandStreams(joints, settings.command_timeout, by_setpoint)

        def ranges() -> Sequence[Range]:
            return joint_limits(bus, limits)

        self._gate = JointGate(
            bus.names,
            ranges,
            CommandsEnded(timeout=settings.command_timeout, second=bus.second),
        )
        self._shaper = GoalShaper(
            joints,
            GoalSpeeds(torque_on=settings.torque_on_speed, limit=settings.speed_limit),
            SetpointRules(kinds=kinds, limits=ranges, largest=lambda: bus.setpoint_limits),
        )
        self._guard = FollowingGuard(
            bus.names, settings.following_error, bus.second, kinds, settings.velocity_error
        )
        self._safety = Safety()
        self._groups = GroupFaults(settings.groups)
        self._at_once = False  # whether the next exchange, which releases a group, waits for no period
        self._counter = BusCounter()
        self._last = bus.now()
        self._sample: ServoSample | None = None
        self._requests = LoopRequests()
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
        fault, withheld = str(self._safety), self.withheld
        if not fault:
            return "; ".join(by_reason(withheld)) or None
        asking = ", ".join(withheld)
        return f"{fault} (torque is still asked for: {asking})" if asking else fault

    @property
    def fault_reason(self) -> Reason | None:
        """Why torque is off on every joint; None where it is not, or of single joints only: `withheld`."""
        return self._safety.fault.reason if self._safety.fault is not None else None

    @property
    def latched(self) -> bool:
        """Whether a fault keeps torque off on every joint."""
        return self._safety.fault is not None

    @property
    def stopped(self) -> Mapping[int, Reason]:
        """Joints that a fault of their group keeps off -> the fault; a new object where that changes."""
        return self._groups.stopped

    def latched_fault(self, joints: Iterable[int]) -> str:
        """Return what has to be acknowledged before one of these joints gets torque; empty: nothing.

        Args:
            joints: places on the bus.
        """
        if self.latched:
            return self.fault or ""
        stopped = self.stopped
        return "; ".join(dict.fromkeys(str(stopped[joint]) for joint in joints if joint in stopped))

    @property
    def withheld(self) -> Mapping[str, Reason]:
        """Joints that get no torque though it may be wanted -> why."""
        names, stopped = self._bus.names, self.stopped
        return {**self._gate.withheld, **{names[joint]: reason for joint, reason in stopped.items()}}

    @property
    def bus_lost(self) -> bool:
        """Whether the bus is being looked for."""
        return self._safety.mode in BUS_AWAY

    def report(self) -> BusStatistics:
        """Return figures since the last report."""
        return self._counter.report()

    def change(self, settings: LoopSettings) -> None:
        """Take other speeds, timeouts and following error, between two exchanges; from any thread.

        Args:
            settings: rate, limits and failures stay as they are.
        """

        def apply() -> None:
            self._shaper.speeds = GoalSpeeds(torque_on=settings.torque_on_speed, limit=settings.speed_limit)
            self._guard.largest = settings.following_error
            self._guard.velocity = settings.velocity_error
            self._streams.set_timeout(settings.command_timeout)
            self._gate.silent = CommandsEnded(timeout=settings.command_timeout, second=self._bus.second)

        self._requests.put(apply)

    def start(self) -> None:
        """Start exchanging, with torque off."""
        self._thread.start()

    def stop(self) -> None:
        """Stop exchanging and release the servos; returns when both are done. Idempotent, never raises."""
        self._stopping.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        self._bus.release()
        self._requests.refuse()

    def call(self, function: Callable[[], T], timeout: float = 2.0) -> T:
        """Run a function that uses the bus between two exchanges, and return what it returns.

        Raises:
            Unavailable: the loop does not run, or is too busy to answer within `timeout` s.
            Exception: what the function raised.
        """
        future = self._requests.put(function)
        if not self.running:
            self._requests.refuse()
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise Unavailable(
                "bus", f"no answer within {timeout:g} s", advice="see /diagnostics for its state"
            ) from None

    def acknowledge(self, joints: Collection[int] | None = None) -> str:
        """End faults whose cause has passed; return what they were, empty: there is none. Waits for the bus.

        Args:
            joints: places on the bus; faults of groups without any of them stay. None: of all.

        Raises:
            BamError: a fault stays, see `end_fault`.
        """
        if self.bus_lost:  # it may stay away for long
            raise FaultPersists(str(self._safety))
        return self.call(lambda: self.end_fault(joints))

    def end_fault(self, joints: Collection[int] | None = None) -> str:
        """Do what `acknowledge` does; called in the loop's thread.

        Raises:
            FaultPersists: its cause persists, or the servos have not answered since it began. Where that is
                a group's, the faults of other groups have ended all the same.
            StillAsked: commands ask for torque, which would be on again at once.
        """
        ended: list[str] = []
        if self._safety.fault is not None:
            fault = str(self._safety.fault)
            self._require_passed(str(self._safety), None)
            self._handle(TorqueNotAsked(acknowledged=True, healthy=True))
            ended.append(fault)
        failure: BamError | None = None
        for group, stopped in self._groups.faults.items():
            of_group = self._groups.joints(group)
            if joints is not None and of_group.isdisjoint(joints):
                continue
            try:
                self._require_passed(str(stopped), of_group)
            except BamError as error:
                failure = failure or error
                continue
            self._handle_group(group, TorqueNotAsked(acknowledged=True, healthy=True))
            ended.append(str(stopped))
        if failure is not None:
            raise failure
        return "; ".join(ended)

    def _require_passed(self, fault: str, joints: Collection[int] | None) -> None:
        """Raise what `end_fault` raises for a fault of these joints; None: of all."""
        commands = self._streams.advance(self._bus.now())
        asking = [
            name
            for joint, (name, command) in enumerate(zip(self._bus.names, commands, strict=True))
            if command.torque_enable and (joints is None or joint in joints)
        ]
        if asking:
            raise StillAsked(asking)
        if self._safety.mode not in BUS_OPEN or self._safety.lost_in_a_row or self._sample is None:
            raise FaultPersists(fault)
        if errors := self._describe_errors(self._sample, self._wrong(self._sample, joints)):
            raise FaultPersists("; ".join(errors))

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

    def _interruption(self, function: Callable[[], T], what: str) -> Callable[[], T]:
        def request() -> T:
            asked = _ask_for_torque(self._streams.advance(self._bus.now()))
            self._handle(InterruptionBegun())
            try:
                result = function()
            except BaseException:
                self._handle(InterruptionFailed(what, asked))
                raise
            self._groups.forget()
            self._handle(Interrupted(what, asked))
            return result

        return request

    def _run(self) -> None:
        try:
            deadline = time.monotonic()
            while not self._stopping.is_set():
                self.step()
                if self._settings.rate > 0.0 and not self._at_once:
                    deadline = self._pace(deadline)
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            self._handle(LoopCrashed(f"servo loop: stopped by {cause}; deactivate and activate the node"))
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
        self._requests.serve()
        if self._stopping.is_set():  # while a request was served: nothing is switched on any more
            return
        now = self._bus.now()
        dt, self._last = now - self._last, now
        self._at_once = False
        if self.bus_lost:
            self._handle(self._open_again())
            if self.bus_lost:
                self._stopping.wait(self._settings.retry_period)
                return
        self._before_exchange()
        commands = self._admitted(self._streams.advance(now))
        self._handle(self._exchange(self._shaper.shape(commands, self._sample, dt)))

    def _open_again(self) -> Event:
        """Try to get a lost bus back, with torque off."""
        self._bus.close()
        try:
            return BusFound(self._bus.open())
        except OtherServos as error:
            return OtherServosFound(str(error))
        except BamError as error:
            return BusNotFound(str(error))

    def _admitted(self, commands: Sequence[JointCommand]) -> Sequence[JointCommand]:
        """Take note of the commands in force; return what the servos shall do."""
        if self._gate.is_settled(commands):
            return commands
        self._handle(self._asks(commands, None))
        if self._safety.mode is not Mode.READY:
            return self._gate.refuse(commands)
        for group in self._groups.faults:
            self._handle_group(group, self._asks(commands, self._groups.joints(group)))
        admitted, changes = self._gate.admit(
            commands,
            ended=self._streams.ended,
            released=self._shaper.released,
            stopped=self._groups.stopped,
            sample=self._sample,
        )
        for change in changes:
            self._carry_out(change)
        return admitted

    def _asks(self, commands: Sequence[JointCommand], joints: Collection[int] | None) -> Event:
        """Return whether commands ask for torque of these joints; None: of all, and no group's fault."""
        if _ask_for_torque(commands if joints is None else [commands[joint] for joint in joints]):
            return _TORQUE_ASKED
        healthy = self._sample is not None and not self._wrong(self._sample, joints)
        return TorqueNotAsked(acknowledged=self._streams.release_came(joints), healthy=healthy)

    def _wrong(self, sample: ServoSample, joints: Collection[int] | None) -> Sequence[int]:
        """Return those of some joints whose servos report errors; None: of all but those of stopped groups.

        What stopped a group keeps no other joint off.
        """
        if joints is None:
            joints = [joint for joint in range(len(self._bus.names)) if joint not in self._groups.stopped]
        return [joint for joint in sorted(joints) if sample.hardware_error[joint] & FATAL]

    def _exchange(self, goal: ServoGoal) -> Event:
        """Exchange once, and return what came of it."""
        try:
            sample = self._bus.exchange(goal)
        except BusTimeout as error:
            self._counter.timeouts += 1
            return SampleLost(str(error), self._settings.failures)
        except BusCorrupt as error:
            self._counter.corrupt += 1
            return SampleLost(str(error), self._settings.failures)
        except BusGone as error:
            return PortVanished(str(error))
        except BamError as error:
            return BusFailed(str(error))
        self._sample = sample
        self._counter.sample(time.monotonic())
        self._on_sample(sample, self._counter.samples)
        if _has_fatal_errors(sample) and (errors := self._servo_errors(sample)) is not None:
            return errors
        distance = self._guard.take(sample, self._bus.now())
        if distance is None:
            return _SAMPLE_TAKEN
        group = self._groups.of(self._bus.names.index(distance.joint))
        if group is None:
            return NotFollowing(distance)
        self._handle_group(group, NotFollowing(self._groups.reason(group, distance)))
        return _SAMPLE_TAKEN

    def _servo_errors(self, sample: ServoSample) -> Event | None:
        """Stop the groups whose servos report errors; return the event that stops all joints, if any."""
        wrong = [joint for joint, bits in enumerate(sample.hardware_error) if bits & FATAL]
        event = None
        for group, joints in self._groups.by_group(wrong).items():
            reason = "; ".join(self._describe_errors(sample, joints))
            if group is None:
                event = ServoErrors(reason)
            else:
                self._handle_group(group, ServoErrors(self._groups.reason(group, reason)))
        return event

    def _describe_errors(self, sample: ServoSample, joints: Iterable[int]) -> list[str]:
        return [
            line
            for name, bits in ((self._bus.names[joint], sample.hardware_error[joint]) for joint in joints)
            for line in self._bus.describe_errors(name, bits & FATAL)
            or describe_hardware_errors(name, bits & FATAL)
        ]

    def _handle_group(self, group: str, event: Event) -> None:
        """Go to the state of a group that follows an event, and carry out its actions for its joints.

        Its release is the next exchange, at once; the exchange of a bus in use releases single servos.
        """
        joints = self._groups.joints(group)
        for action in self._groups.handle(group, event):
            match action:
                case Report():
                    self._at_once |= action.is_error
                    self._carry_out(action)
                case Action.RESET_GOALS:
                    self._guard.reset(joints)
                    self._gate.reset_goals()
                case Action.AWAIT_RELEASE:
                    self._streams.await_release(joints)
                case Action.RELEASE:
                    pass  # the gate withholds torque from now on

    def _handle(self, event: Event) -> None:
        """Go to the state that follows an event, and carry out its actions."""
        self._safety, actions = transition(self._safety, event)
        for action in actions:
            self._carry_out(action)

    def _carry_out(self, action: Action | Report) -> None:
        match action:
            case Report(is_error, line):
                self._on_event(is_error, line)
            case Action.RELEASE:
                self._bus.release()
            case Action.DROP_SAMPLE:
                self._sample = None
            case Action.RESET_GOALS:
                self._shaper.reset()
                self._guard.reset()
                self._gate.reset_goals()
            case Action.AWAIT_RELEASE:
                self._streams.await_release()
            case Action.FORGET_COMMANDS:
                self._streams.forget()
                self._gate.forget()


def _ask_for_torque(commands: Sequence[JointCommand]) -> bool:
    return any(command.torque_enable for command in commands)


def _has_fatal_errors(sample: ServoSample) -> bool:
    """Return whether a servo reports an error of itself."""
    return any(bits & FATAL for bits in sample.hardware_error)
