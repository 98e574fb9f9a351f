# SPDX-License-Identifier: Apache-2.0
"""Events that decide about torque on all joints of a driver; `safety_states.transition` says what follows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TorqueAsked:
    """Commands in force ask for torque."""


@dataclass(frozen=True)
class TorqueNotAsked:
    """No command in force asks for torque.

    Attributes:
        acknowledged: whether a command with torque off has come after the fault.
        healthy: whether there is a sample, in which no servo reports an error of itself.
    """

    acknowledged: bool
    healthy: bool


@dataclass(frozen=True)
class SampleTaken:
    """The bus has answered, and all is well."""


@dataclass(frozen=True)
class ServoErrors:
    """The bus has answered, and servos report errors of themselves.

    Attributes:
        reason: which, in one line.
    """

    reason: str


@dataclass(frozen=True)
class NotFollowing:
    """The bus has answered, and a joint has been too far from its goal for too long.

    Attributes:
        reason: which, in one line.
    """

    reason: str


@dataclass(frozen=True)
class SampleLost:
    """The bus has not answered, or not well; the next answer may be fine.

    Attributes:
        reason: in one line.
        limit: lost samples in a row after which the bus counts as lost.
    """

    reason: str
    limit: int


@dataclass(frozen=True)
class BusFailed:
    """The bus cannot be used as it is.

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
        found: what is on it, in one line.
    """

    found: str


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
    """Work that needs torque off is about to use the bus, such as a reboot."""


@dataclass(frozen=True)
class Interrupted:
    """That work is done.

    Attributes:
        what: it was, in words such as "rebooted".
        asked: whether commands asked for torque when it began.
    """

    what: str
    asked: bool


@dataclass(frozen=True)
class InterruptionFailed:
    """That work has failed.

    Attributes:
        what: it was, in words such as "rebooted".
        asked: whether commands asked for torque when it began.
    """

    what: str
    asked: bool


@dataclass(frozen=True)
class LoopCrashed:
    """The loop has met an error that nobody expected.

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
