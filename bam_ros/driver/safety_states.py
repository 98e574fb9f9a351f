# SPDX-License-Identifier: Apache-2.0
"""Safety states of a driver's loop: a pure transition from state and event to state and actions.

`ServoLoop` makes the events and carries out the actions. This module does no input or output and never waits.
docs/safety.md shows the table of transitions; a test compares it with this file.
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
from bam_ros.text.driver_notices import BusBack
from bam_ros.text.torque_reasons import InterruptedWhileAsked, Reason


class Mode(Enum):
    """Mode of the loop. Every mode but `READY` has a fault, which keeps torque off on all joints."""

    READY = "ready"
    """The loop applies commands."""
    LATCHED = "latched"
    """The fault has to be acknowledged, by a command with torque off or `ServoLoop.end_fault`.

    The mode ends when that has come, no command asks for torque, and no servo reports an error.
    """
    INTERRUPTED = "interrupted"
    """The mode ends when no command asks for torque."""
    BUS_LOST = "bus lost"
    """The loop tries to open the bus again, until it succeeds; `LATCHED` follows."""
    PORT_GONE = "port gone"
    """The port has vanished; the loop tries to open it again, until it succeeds. `INTERRUPTED` follows."""
    STOPPED = "stopped"
    """The loop has crashed; this mode does not end."""


BUS_OPEN = frozenset({Mode.READY, Mode.LATCHED, Mode.INTERRUPTED})
"""Modes in which the bus is open: the loop processes commands and takes samples."""
BUS_AWAY = frozenset({Mode.BUS_LOST, Mode.PORT_GONE})
"""Modes in which the loop tries to open the bus again."""
# In these modes, reports show the reason without "torque off: ". After an interruption, the reason says what
# to do. After the port has vanished, no servo can confirm that its torque is off.
_REASON_ALONE = frozenset({Mode.INTERRUPTED, Mode.PORT_GONE})
_MODE_ONCE_OPEN = {Mode.BUS_LOST: Mode.LATCHED, Mode.PORT_GONE: Mode.INTERRUPTED}


class Action(Enum):
    """One thing that the loop does after an event; a `Report` is another one."""

    RELEASE = "release"
    """Write torque off to all servos at once."""
    DROP_SAMPLE = "drop sample"
    """Discard the newest sample, which is older than the event."""
    RESET_GOALS = "reset goals"
    """Start goals at the present positions, and restart the timer of the following error."""
    AWAIT_RELEASE = "await release"
    """Let only later commands acknowledge the fault."""
    FORGET_COMMANDS = "forget commands"
    """Discard all commands; only later ones are applied."""


@dataclass(frozen=True)
class Report:
    """A line for log and diagnostics.

    Attributes:
        is_error: whether it reports a fault.
        line: the text.
    """

    is_error: bool
    line: str


@dataclass(frozen=True)
class Fault:
    """Why torque is off on all joints.

    Attributes:
        reason: see there.
        bus_is_back: whether the bus was lost and is open again.
    """

    reason: Reason
    bus_is_back: bool = False

    def __str__(self) -> str:
        """Return the fault in one line."""
        back = (
            " (it is back; call ~/reset_fault, or command torque off, then on, to go on)"
            if self.bus_is_back
            else ""
        )
        return f"{self.reason}{back}"


@dataclass(frozen=True, kw_only=True)
class Safety:
    """The state of a loop.

    Attributes:
        mode: what the loop does about torque and bus.
        fault: the newest one; None only in the mode `READY`.
        lost_in_a_row: samples lost since the last good one.
        not_found: why the last attempt to open a lost bus failed; empty before it, and while the bus is open.
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
"""The next state, and the actions of the loop, in this order."""


class ImpossibleEvent(RuntimeError):  # noqa: N818 - names what it is
    """The event cannot happen in this mode: a bug of the loop, which then ends with torque off."""


def transition(safety: Safety, event: Event) -> Step:
    """Return the next state and the actions of the loop; a pure function.

    Args:
        safety: the present state.
        event: what has happened.

    Raises:
        ImpossibleEvent: the event cannot happen in this mode.
    """
    mode = safety.mode
    match event:
        case SampleTaken() if mode in BUS_OPEN:
            return (replace(safety, lost_in_a_row=0) if safety.lost_in_a_row else safety), ()
        case TorqueAsked() if mode in BUS_OPEN:
            return safety, ()
        case TorqueNotAsked() if mode in BUS_OPEN:
            return _torque_not_asked(safety, event)
        case ServoErrors(reason) | NotFollowing(reason) if mode in BUS_OPEN:
            return _latch(replace(safety, lost_in_a_row=0), Mode.LATCHED, reason, Action.RELEASE)
        case SampleLost(reason) if mode in BUS_OPEN:
            lost = safety.lost_in_a_row + 1
            safety = replace(safety, lost_in_a_row=lost)
            if lost < event.limit:
                return safety, ()
            return _bus_lost(safety, Mode.BUS_LOST, f"{reason} ({lost} samples lost in a row)")
        case BusFailed(reason) if mode in BUS_OPEN:
            return _bus_lost(safety, Mode.BUS_LOST, reason)
        case PortVanished(reason) if mode in BUS_OPEN:
            return _bus_lost(safety, Mode.PORT_GONE, reason)
        case BusFound(summary) if mode in BUS_AWAY:
            assert safety.fault is not None
            back = Fault(safety.fault.reason, bus_is_back=True)
            return Safety(mode=_MODE_ONCE_OPEN[mode], fault=back), (
                Report(False, str(BusBack(summary=summary))),
            )
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
            return (safety, ()) if safety.fault else _latch(safety, Mode.INTERRUPTED, _reason_if_asked(event))
        case LoopCrashed(reason) if mode is not Mode.STOPPED:
            return _latch(safety, Mode.STOPPED, reason, Action.RELEASE)
    raise ImpossibleEvent(f"{event} in the mode {mode.value!r}")


def _torque_not_asked(safety: Safety, event: TorqueNotAsked) -> Step:
    """Return the step after no command asks for torque: it ends the faults that may end now."""
    if safety.mode is Mode.INTERRUPTED:
        return replace(safety, mode=Mode.READY, fault=None), (
            Action.RESET_GOALS,
            Action.FORGET_COMMANDS,
            Report(False, "torque may be asked for again"),
        )
    if safety.mode is Mode.LATCHED and event.acknowledged and event.healthy:
        return replace(safety, mode=Mode.READY, fault=None), (Report(False, f"acknowledged: {safety.fault}"),)
    return safety, ()


def _interrupted(safety: Safety, event: Interrupted) -> Step:
    """Return the step after an interruption, which ends older faults.

    If commands asked for torque when it began, torque stays off until they stop.
    """
    is_bus_away = safety.mode in BUS_AWAY
    if event.asked:
        mode = Mode.PORT_GONE if is_bus_away else Mode.INTERRUPTED
        return _latch(replace(safety, fault=None), mode, _reason_if_asked(event), Action.DROP_SAMPLE)
    if is_bus_away:  # the fault stays until the bus is open
        after = replace(safety, mode=Mode.PORT_GONE)
    else:
        after = replace(safety, mode=Mode.READY, fault=None)
    return after, (Action.DROP_SAMPLE, Action.RESET_GOALS, Action.FORGET_COMMANDS)


def _reason_if_asked(event: Interrupted | InterruptionFailed) -> Reason:
    """Return the reason of the fault if commands asked for torque when the interruption began."""
    return InterruptedWhileAsked(what=event.what)


def _bus_lost(safety: Safety, mode: Mode, reason: str) -> Step:
    """Return the step after the bus was lost; servos that still receive it are released."""
    return _latch(safety, mode, reason, Action.DROP_SAMPLE, Action.RELEASE)


def _latch(safety: Safety, mode: Mode, reason: Reason, *first: Action) -> Step:
    """Return the step to a mode that keeps torque off; report its reason unless the present fault has it.

    Args:
        safety: the present state.
        mode: the next one.
        reason: of the fault.
        first: actions before all others.
    """
    actions = (*first, Action.RESET_GOALS, Action.AWAIT_RELEASE)
    if str(safety.fault) == str(reason):
        return replace(safety, mode=mode), actions
    line = str(reason) if mode in _REASON_ALONE else f"torque off: {reason}"
    return replace(safety, mode=mode, fault=Fault(reason)), (*actions, Report(True, line))
