# SPDX-License-Identifier: Apache-2.0
"""Events that may change the safety state of a driver; `safety_states.transition` defines their effects."""

from __future__ import annotations

from dataclasses import dataclass

from bam_ros.text.torque_reasons import Reason


@dataclass(frozen=True)
class TorqueAsked:
    """Commands in force ask for torque."""


@dataclass(frozen=True)
class TorqueNotAsked:
    """No command in force asks for torque.

    Attributes:
        acknowledged: whether a command with torque off has come after the fault, or a request to end it.
        healthy: whether there is a sample and no servo reports an error in it.
    """

    acknowledged: bool
    healthy: bool


@dataclass(frozen=True)
class SampleTaken:
    """The bus has answered: no servo reports an error, and every joint follows its goal."""


@dataclass(frozen=True)
class ServoErrors:
    """The bus has answered, and servos report hardware errors.

    Attributes:
        reason: servos and errors, in one line.
    """

    reason: Reason


@dataclass(frozen=True)
class NotFollowing:
    """The bus has answered, and a joint has been too far from its goal for too long.

    Attributes:
        reason: joint and distance.
    """

    reason: Reason


@dataclass(frozen=True)
class SampleLost:
    """The bus has not answered, or its answer was corrupt; the next exchange may succeed.

    Attributes:
        reason: in one line.
        limit: lost samples in a row after which the bus counts as lost.
    """

    reason: str
    limit: int


@dataclass(frozen=True)
class BusFailed:
    """An exchange has failed in another way: the bus has to be opened again.

    Attributes:
        reason: in one line.
    """

    reason: str


@dataclass(frozen=True)
class PortVanished:
    """The port of the bus has vanished, such as an adapter that was unplugged.

    Attributes:
        reason: in one line.
    """

    reason: str


@dataclass(frozen=True)
class BusFound:
    """A lost bus is open again.

    Attributes:
        summary: what is on it, in one line.
    """

    summary: str


@dataclass(frozen=True)
class BusNotFound:
    """A lost bus cannot be opened.

    Attributes:
        reason: in one line.
    """

    reason: str


@dataclass(frozen=True)
class OtherServosFound:
    """A lost bus has other servos than before, and was closed again.

    Attributes:
        reason: in one line.
    """

    reason: str


@dataclass(frozen=True)
class InterruptionBegun:
    """Work that needs torque off, such as a reboot, is about to use the bus."""


@dataclass(frozen=True)
class Interrupted:
    """The work that `InterruptionBegun` announced is done.

    Attributes:
        what: the work, such as "rebooted".
        asked: whether commands asked for torque when it began.
    """

    what: str
    asked: bool


@dataclass(frozen=True)
class InterruptionFailed:
    """The work that `InterruptionBegun` announced has failed.

    Attributes:
        what: the work, such as "rebooted".
        asked: whether commands asked for torque when it began.
    """

    what: str
    asked: bool


@dataclass(frozen=True)
class LoopCrashed:
    """The loop has raised an unexpected exception.

    Attributes:
        reason: in one line.
    """

    reason: str


Event = (
    TorqueAsked
    | TorqueNotAsked
    | SampleTaken
    | ServoErrors
    | NotFollowing
    | SampleLost
    | BusFailed
    | PortVanished
    | BusFound
    | BusNotFound
    | OtherServosFound
    | InterruptionBegun
    | Interrupted
    | InterruptionFailed
    | LoopCrashed
)
