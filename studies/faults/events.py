# SPDX-License-Identifier: Apache-2.0
"""What can happen, what has to follow, and within which time."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from studies.emulated_drives import EMULATED_WATCHDOG
from studies.faults.breakable import IN_CALLBACK, IN_LOOP

MACHINE = 0.35
"""s that processes on shared processors may wait for their turn, in every bound."""
NO_WATCHDOG = ("dynamixel 1", "dynamixel ax", "dynamixel pro", "feetech")
"""Drivers of servos that keep their last goal until somebody reaches them."""
BY_DUTY = ("feedforward", "feedforward x")
SERIAL = (*NO_WATCHDOG, "dynamixel 2", "dynamixel x", "dynamixel current", "dynamixel p", *BY_DUTY)
EMULATED = (*SERIAL, "erob")
ALL = (*EMULATED, "simulator")


class State(Enum):
    """What the driver does when it happens."""

    IDLE = "idle"
    RAMP = "ramp"
    HOLDING = "holding"
    MOVING = "moving"
    RECORDING = "recording"


class Off(Enum):
    """Whose torque has to go off."""

    ALL = "all"
    FIRST = "of one client"
    NONE = "kept"
    OUT_OF_REACH = "once it can be reached"


class Back(Enum):
    """How torque comes back afterwards, once what was broken is repaired."""

    STREAM = "commands"
    ACKNOWLEDGE = "off, then on"
    REBOOT = "reboot, then on"
    RESTART = "driver restarted"


@dataclass(frozen=True, kw_only=True)
class Follows:
    """What has to follow an event.

    Attributes:
        off: whose torque goes off.
        within: bound, s.
        says: regular expression of what diagnostics or the driver's log say afterwards; "": nobody is there
            to say it, or there is nothing to say.
        back: how torque is restored.
    """

    off: Off = Off.ALL
    within: float = MACHINE
    says: str = ""
    back: Back = Back.ACKNOWLEDGE


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happens.

    Attributes:
        name: in the table.
        follows: driver -> what has to; drivers that are not here do not have this event.
        signal: that the driver's process gets.
        lines: that the emulator executes.
        repair: likewise, afterwards.
        lasts: s until it is repaired while torque is watched; 0: it is repaired afterwards.
        client: what happens to the first client: "killed", "silent".
        second_driver: whether a second driver is started on the bus.
        joints: how many there must be for it to happen.
        resume: whether the driver's process is continued (SIGCONT) afterwards.
    """

    name: str
    follows: Mapping[str, Follows]
    signal: signal.Signals | None = None
    lines: tuple[str, ...] = ()
    repair: tuple[str, ...] = ()
    lasts: float = 0.0
    client: str = ""
    second_driver: bool = False
    joints: int = 1
    resume: bool = False


def _for_drivers(drivers: tuple[str, ...], follows: Callable[[str], Follows]) -> dict[str, Follows]:
    return {driver: follows(driver) for driver in drivers}


def _alike(drivers: tuple[str, ...], **what: object) -> dict[str, Follows]:
    return _for_drivers(drivers, lambda driver: Follows(**what))  # type: ignore[arg-type]


_STOPS = 0.1 + 0.6 + MACHINE  # a signal is noticed, and a bus that does not answer is tried for 0.6 s
_TIMEOUT = 0.5  # command_timeout
_SERIAL_LOSS = 5 * 0.04 + 0.6  # five reads without an answer, then tries to release
_CYCLE_LOSS = EMULATED_WATCHDOG
_GUARDIAN = 0.3 * 1.6


def _signals() -> list[Event]:
    return [
        Event(
            name=number.name,
            signal=number,
            follows=_alike(ALL, within=_STOPS, back=Back.RESTART),
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ]


def _hung(driver: str) -> Follows:
    if driver == "erob":
        return Follows(within=_CYCLE_LOSS + MACHINE, back=Back.ACKNOWLEDGE)
    return Follows(within=_GUARDIAN + MACHINE, back=Back.ACKNOWLEDGE)


def _loss(driver: str, words: str) -> Follows:
    if driver == "erob":
        return Follows(within=_CYCLE_LOSS + MACHINE, says=words)
    return Follows(within=_SERIAL_LOSS + MACHINE, says=words)


def _unplugged(driver: str) -> Follows:
    if driver in NO_WATCHDOG:
        return Follows(off=Off.OUT_OF_REACH, within=1.0 + 1.0 + MACHINE, says="port")
    return Follows(within=0.3 + MACHINE, says="port")


def _unplugged_for(seconds: float) -> Event:
    return Event(
        name=f"unplugged for {seconds:g} s",
        lines=("unplug",),
        repair=("plug",),
        lasts=seconds,
        follows=_for_drivers(SERIAL, _unplugged),
    )


EVENTS = (
    *_signals(),
    Event(
        name="kill -9", signal=signal.SIGKILL, follows=_alike(ALL, within=0.15 + MACHINE, back=Back.RESTART)
    ),
    Event(
        name="SIGSTOP",
        signal=signal.SIGSTOP,
        resume=True,
        follows=_for_drivers(EMULATED, _hung),
    ),
    Event(
        name="exception in the loop",
        signal=IN_LOOP,
        follows=_alike(ALL, within=0.6 + MACHINE, says="Defect: in the loop", back=Back.RESTART),
    ),
    Event(
        name="exception in a callback",
        signal=IN_CALLBACK,
        # the callback runs once a second
        follows=_alike(ALL, within=1.0 + _STOPS, says="Defect: in a callback", back=Back.RESTART),
    ),
    Event(
        name="one of two clients dies",
        client="killed",
        follows=_for_drivers(
            ALL,
            lambda driver: Follows(
                off=Off.ALL if driver in BY_DUTY else Off.FIRST,
                within=_TIMEOUT + MACHINE,
                says="no servo_commands for",
                back=Back.STREAM,
            ),
        ),
    ),
    Event(
        name="commands stop",
        client="silent",
        follows=_alike(ALL, within=_TIMEOUT + MACHINE, says="no servo_commands for", back=Back.STREAM),
    ),
    _unplugged_for(0.7),  # shorter than the silence after which a recorder ends its session
    _unplugged_for(1.5),
    Event(
        name="brown-out",
        lines=("power_cycle",),
        follows=_alike(SERIAL, within=0.1 + MACHINE, says="torque|does not answer|no answer|supply"),
    ),
    Event(
        name="CRC storm",
        lines=("faults corrupt=1",),
        repair=("faults",),
        follows=_for_drivers(SERIAL, lambda driver: _loss(driver, "damaged|corrupt|checksum|CRC|no answer")),
    ),
    Event(
        name="answers lost",
        lines=("faults drop=1",),
        repair=("faults",),
        follows=_for_drivers(SERIAL, lambda driver: _loss(driver, "no answer|does not answer")),
    ),
    Event(
        name="overload of one servo",
        lines=("faults overload@1",),
        repair=("faults",),
        follows=_alike(SERIAL, within=0.2 + MACHINE, says="[Oo]verload", back=Back.REBOOT),
    ),
    Event(
        name="a second servo with the same id",
        lines=("double 1",),
        repair=("single",),
        follows=_for_drivers(SERIAL, lambda driver: _loss(driver, "damaged answer|no answer|wrong id")),
    ),
    Event(
        name="a second driver on the bus",
        second_driver=True,
        follows=_alike(EMULATED, off=Off.NONE, within=0.0, says="in use|another|process", back=Back.STREAM),
    ),
    Event(
        name="frames lost",
        lines=("faults drop=1",),
        repair=("faults",),
        follows={"erob": _loss("erob", "no slave answers")},
    ),
    Event(
        name="one frame in ten garbled",
        lines=("faults garble=0.1",),
        repair=("faults",),
        follows={
            "erob": Follows(off=Off.NONE, within=0.0, says="of the newest cycles lost", back=Back.STREAM)
        },
    ),
    Event(
        name="frames cut short",
        lines=("faults truncate=1",),
        repair=("faults",),
        follows={"erob": _loss("erob", ".")},
    ),
    Event(
        name="frames late by 0.2 s",
        lines=("faults delay=0.2",),
        repair=("faults",),
        follows={"erob": _loss("erob", ".")},
    ),
    Event(
        name="working counter off",
        lines=("faults wkc@1",),
        repair=("faults",),
        follows={"erob": _loss("erob", "working counter")},
    ),
    Event(
        name="slave to SAFE-OP",
        lines=("faults safe_op@1",),
        repair=("faults",),
        follows={"erob": _loss("erob", "SAFE-OP")},
    ),
    Event(
        name="SDO not answered",
        lines=("faults sdo_timeout@1",),
        repair=("faults",),
        follows={"erob": Follows(off=Off.NONE, within=0.0, back=Back.STREAM)},
    ),
    Event(
        name="power cycle of a drive",
        lines=("faults lost@1",),
        repair=("faults",),
        follows={"erob": _loss("erob", "does not answer|no slave answers")},
    ),
    Event(
        name="fault of one drive",
        lines=("faults overcurrent@1",),
        repair=("faults",),
        follows={"erob": Follows(within=0.2 + MACHINE, says="overcurrent", back=Back.REBOOT)},
    ),
    Event(
        name="cable moved: drives in another order",
        joints=2,
        lines=("swap",),
        repair=("swap",),
        follows={"erob": _loss("erob", "drives in other places")},
    ),
)
"""Everything that happens to a driver at work; see `startup.py` for what is wrong before."""
