# SPDX-License-Identifier: Apache-2.0
"""What makes a cell unsafe, as values; others are lines of errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Problem(ABC):
    """Base of them."""

    @abstractmethod
    def __str__(self) -> str:
        """Return it in one line."""


@dataclass(frozen=True, kw_only=True)
class TorqueLate(Problem):
    """Torque that goes off too late, or stays on.

    Attributes:
        joint: name.
        after: until it went off, s; None where it stayed on.
        bound: s.
    """

    joint: str
    after: float | None = None
    bound: float

    def __str__(self) -> str:
        what = "stays on" if self.after is None else f"went off after {self.after:.2f} s"
        return f"{self.joint}: torque {what} (bound {self.bound:.2f} s)"


@dataclass(frozen=True, kw_only=True)
class TorqueLost(Problem):
    """Torque that has to be kept and went off; `beside` another joint whose torque had to go off."""

    joint: str
    beside: bool = False

    def __str__(self) -> str:
        return f"{self.joint}: lost its torque{', too' if self.beside else ''}"


@dataclass(frozen=True, kw_only=True)
class RecordingOver(Problem):
    """A recorded run that ended, with torque off, while the event lasted: the cell shows nothing."""

    def __str__(self) -> str:
        return "the recorded run ended before the event did; try again on a less busy machine"


@dataclass(frozen=True, kw_only=True)
class NotStarted(Problem):
    """A driver that should start, and ended with the line `last`."""

    last: str

    def __str__(self) -> str:
        return f"it did not start ({self.last})"
