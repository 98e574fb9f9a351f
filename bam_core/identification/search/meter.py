# SPDX-License-Identifier: Apache-2.0
"""Evaluations of a search: counted, within what a job may spend, and reported."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError

Objective = Callable[[Array], Array]
"""(n, PARAMETERS) vectors to (n,) finite errors."""
Report = Callable[[int, float], None]
"""Evaluations spent, best error so far."""

_AT_ONCE = 256  # evaluations between two looks at whether it was cancelled


class IdentificationCancelled(BamError):  # noqa: N818 - not an error but what the caller asked for
    """The caller withdrew the identification; nothing was written."""


class Ledger:
    """What a whole search has spent, wherever its jobs are done; several threads may book.

    Attributes:
        spent: evaluations.
        lowest: error seen in this process.
    """

    def __init__(self, report: Report | None = None, cancelled: Callable[[], bool] | None = None) -> None:
        """Start at zero.

        Args:
            report: called whenever something was spent, until the caller has withdrawn.
            cancelled: asked before anything is spent.
        """
        self.spent = 0
        self.lowest = math.inf
        self._report = report
        self._cancelled = cancelled
        self._outdated = False
        self._withdrawn = False
        self._booking = threading.RLock()

    def book(self, evaluations: int, lowest: float = math.inf) -> None:
        """Add evaluations that were made."""
        with self._booking:
            self.spent += evaluations
            if lowest < self.lowest or (self._outdated and math.isfinite(lowest)):
                self.lowest, self._outdated = lowest, False
            if self._report is not None and math.isfinite(self.lowest) and not self._is_withdrawn():
                self._report(self.spent, self.lowest)

    def agree(self, spent: int) -> None:
        """Take note of what was spent in all, also by jobs that were on record."""
        if spent != self.spent:
            self.book(spent - self.spent)

    def forget_lowest(self) -> None:
        """Let the next error replace the lowest, whatever it is: what follows is measured otherwise."""
        self._outdated = True

    def withdraw(self) -> None:
        """End the jobs that other threads are at."""
        self._withdrawn = True

    def require_go(self) -> None:
        """Raise IdentificationCancelled if the caller has withdrawn."""
        if self._is_withdrawn():
            raise IdentificationCancelled("identification: cancelled; nothing was written")

    def _is_withdrawn(self) -> bool:
        return self._withdrawn or (self._cancelled is not None and self._cancelled())


class Meter:
    """The evaluations of one job.

    Attributes:
        allowance: how many it may make.
        spent: how many it has made.
    """

    def __init__(self, allowance: int, ledger: Ledger) -> None:
        """Start at zero.

        Args:
            allowance: how many it may make.
            ledger: where they are booked.
        """
        self.allowance = allowance
        self.spent = 0
        self._ledger = ledger

    @property
    def left(self) -> int:
        """How many it may still make."""
        return self.allowance - self.spent

    def spend(self, evaluations: int) -> None:
        """Book evaluations that are about to be made elsewhere."""
        self._ledger.require_go()
        self.spent += evaluations
        self._ledger.book(evaluations)

    def book_error(self, error: float) -> None:
        """Book an error that was found elsewhere."""
        self._ledger.book(0, error)

    def evaluate(self, objective: Objective, vectors: Array) -> Array:
        """Return the errors of as many of these vectors, (n, PARAMETERS), as the allowance permits."""
        parts = [np.empty(0)]
        vectors = vectors[: max(self.left, 0)]
        for start in range(0, len(vectors), _AT_ONCE):
            self._ledger.require_go()
            part = objective(vectors[start : start + _AT_ONCE])
            parts.append(part)
            self.spent += len(part)
            self._ledger.book(len(part), float(np.min(part)))
        return np.concatenate(parts)
