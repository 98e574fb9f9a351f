# SPDX-License-Identifier: Apache-2.0
"""Safety states of a driver's loop: a pure transition from state and event to state and actions.

`ServoLoop` makes the events and carries out the actions. States and events are values; nothing here waits,
reads or writes. docs/safety.md shows the table; a test compares it with this file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

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


class Mode(Enum):
    """What a loop does about torque. All modes but `READY` have a fault: torque is off on all joints."""

    READY = "ready"
    """Commands are obeyed."""
    LATCHED = "latched"
    """Until a command with torque off comes, the servos report no error, and no command asks for torque."""
    INTERRUPTED = "interrupted"
    """Until no command asks for torque."""
    BUS_LOST = "bus lost"
    """The bus is opened again and again; `LATCHED` follows."""
    PORT_GONE = "port gone"
    """The same; `INTERRUPTED` follows."""
    STOPPED = "stopped"
    """For good: the loop has crashed."""


BUS_OPEN = frozenset({Mode.READY, Mode.LATCHED, Mode.INTERRUPTED})
"""Modes in which commands are looked at and the bus exchanges."""
BUS_AWAY = frozenset({Mode.BUS_LOST, Mode.PORT_GONE})
"""Modes in which the bus is opened again."""
_ENDS_BY_ITSELF = frozenset({Mode.INTERRUPTED, Mode.PORT_GONE})
_ONCE_OPEN = {Mode.BUS_LOST: Mode.LATCHED, Mode.PORT_GONE: Mode.INTERRUPTED}


class Action(Enum):
    """What the loop does after an event, in the order of the actions; `Report` is one as well."""

    RELEASE = "release"
    """Torque off on all servos, written at once."""
    DROP_SAMPLE = "drop sample"
    """The newest sample is of before."""
    RESET_GOALS = "reset goals"
    """Goals begin anew where the servos are; so does the time of a following error."""
    AWAIT_RELEASE = "await release"
    """Only commands from now on acknowledge the fault."""
    FORGET_COMMANDS = "forget commands"
    """Only commands from now on are obeyed."""


@dataclass(frozen=True)
class Report:
    """A line for log and diagnostics.

    Attributes:
        is_error: whether something went wrong.
        line: in words.
    """

    is_error: bool
    line: str


@dataclass(frozen=True)
class Fault:
    """Why torque is off on all joints.

    Attributes:
        reason: one line.
        bus_is_back: whether the bus was lost and is open again.
    """

    reason: str
    bus_is_back: bool = False

    def __str__(self) -> str:
        """Return it in one line."""
        back = " (it is back; command torque off, then on, to go on)" if self.bus_is_back else ""
        return f"{self.reason}{back}"


@dataclass(frozen=True, kw_only=True)
class Safety:
    """The state of a loop.

    Attributes:
        mode: see there.
        fault: the newest one; None in the mode `READY` alone.
        lost_in_a_row: samples lost since the last good one.
        not_found: why a lost bus cannot be opened; empty before the first attempt, and while it is open.
    """

    mode: Mode = Mode.READY
    fault: Fault | None = None
    lost_in_a_row: int = 0
    not_found: str = ""

    def __str__(self) -> str:
        """Return the fault in one line; empty: there is none."""
        away = f" (still looked for: {self.not_found})" if self.not_found else ""
        return f"{self.fault}{away}" if self.fault else ""


Step = tuple[Safety, tuple[Action | Report, ...]]
"""The next state, and the actions on the way to it."""


class ImpossibleEvent(RuntimeError):  # noqa: N818 - names what it is
    """An event that its mode excludes: a defect of the loop, which ends it with torque off."""


def transition(safety: Safety, event: Event) -> Step:
    """Return the next state and what the loop has to do; a pure function.

    Args:
        safety: the present state.
        event: what has happened.

    Raises:
        ImpossibleEvent: it cannot happen in this mode.
    """
    mode = safety.mode
    match event:
        case SampleTaken() if mode in BUS_OPEN:
            return (replace(safety, lost_in_a_row=0) if safety.lost_in_a_row else safety), ()
        case TorqueAsked() if mode in BUS_OPEN:
            return safety, ()
        case TorqueNotAsked() if mode in BUS_OPEN:
            return _nobody_asks(safety, event)
        case ServoErrors(reason) | NotFollowing(reason) if mode in BUS_OPEN:
            return _latch(replace(safety, lost_in_a_row=0), Mode.LATCHED, reason, Action.RELEASE)
        case SampleLost(reason) if mode in BUS_OPEN:
            lost = safety.lost_in_a_row + 1
            safety = replace(safety, lost_in_a_row=lost)
            if lost < event.limit:
                return safety, ()
            return _lose(safety, Mode.BUS_LOST, f"{reason} ({lost} samples lost in a row)")
        case BusFailed(reason) if mode in BUS_OPEN:
            return _lose(safety, Mode.BUS_LOST, reason)
        case PortVanished(reason) if mode in BUS_OPEN:
            return _lose(safety, Mode.PORT_GONE, reason)
        case BusFound(found) if mode in BUS_AWAY:
            assert safety.fault is not None
            back = Fault(safety.fault.reason, bus_is_back=True)
            return Safety(mode=_ONCE_OPEN[mode], fault=back), (Report(False, f"bus is back: {found}"),)
        case BusNotFound(reason) if mode in BUS_AWAY:
            return replace(safety, not_found=reason), ()
        case OtherServosFound(reason) if mode in BUS_AWAY:
            return _latch(replace(safety, not_found=""), mode, reason)
        case InterruptionBegun() if mode is not Mode.STOPPED:
            return safety, (Action.RELEASE, Action.RESET_GOALS)
        case Interrupted() if mode is not Mode.STOPPED:
            return _interrupted(safety, event)
        case InterruptionFailed() if mode is not Mode.STOPPED:
            if not event.asked:
                return safety, (Action.RESET_GOALS, Action.FORGET_COMMANDS)
            return (safety, ()) if safety.fault else _latch(safety, Mode.INTERRUPTED, _asked_meanwhile(event))
        case LoopCrashed(reason) if mode is not Mode.STOPPED:
            return _latch(safety, Mode.STOPPED, reason, Action.RELEASE)
    raise ImpossibleEvent(f"{event} in the mode {mode.value!r}")


def _nobody_asks(safety: Safety, event: TorqueNotAsked) -> Step:
    """End a fault where no command asks for torque."""
    if safety.mode is Mode.INTERRUPTED:
        return replace(safety, mode=Mode.READY, fault=None), (
            Action.RESET_GOALS,
            Action.FORGET_COMMANDS,
            Report(False, "torque may be asked for again"),
        )
    if safety.mode is Mode.LATCHED and event.acknowledged and event.healthy:
        return replace(safety, mode=Mode.READY, fault=None), (
            Report(False, f"acknowledged by a command with torque off: {safety.fault}"),
        )
    return safety, ()


def _interrupted(safety: Safety, event: Interrupted) -> Step:
    """End the faults of before; a client that asked for torque meanwhile has to notice."""
    lost = safety.mode in BUS_AWAY
    if event.asked:
        forgiven = replace(safety, fault=None)
        mode = Mode.PORT_GONE if lost else Mode.INTERRUPTED
        return _latch(forgiven, mode, _asked_meanwhile(event), Action.DROP_SAMPLE)
    # A bus that is still away keeps its fault until it is found.
    after = replace(safety, mode=Mode.PORT_GONE) if lost else replace(safety, mode=Mode.READY, fault=None)
    return after, (Action.DROP_SAMPLE, Action.RESET_GOALS, Action.FORGET_COMMANDS)


def _asked_meanwhile(event: Interrupted | InterruptionFailed) -> str:
    return f"{event.what} while torque was asked for; command torque off, then on"


def _lose(safety: Safety, mode: Mode, reason: str) -> Step:
    """Give the bus up for now: the servos that still answer are released."""
    return _latch(safety, mode, reason, Action.DROP_SAMPLE, Action.RELEASE)


def _latch(safety: Safety, mode: Mode, reason: str, *first: Action) -> Step:
    """Keep torque off from now on, and say a reason that is new."""
    actions = (*first, Action.RESET_GOALS, Action.AWAIT_RELEASE)
    if str(safety.fault) == reason:
        return replace(safety, mode=mode), actions
    # A servo that cannot be reached may not have been released.
    line = reason if mode in _ENDS_BY_ITSELF else f"torque off: {reason}"
    return replace(safety, mode=mode, fault=Fault(reason)), (*actions, Report(True, line))
