# SPDX-License-Identifier: Apache-2.0
"""Gains that stay as they are while a client records: whoever else sets them is refused."""

from __future__ import annotations

import time
from collections.abc import Callable

HOLD_TIME = 5.0
"""A hold ends so long after the newest command, s: a client that died holds nothing for ever.

More than a busy machine keeps a client that lives from commanding.
"""


class GainsHold:
    """Whether gains are held. From any thread.

    Args:
        clock: s that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: float | None = None  # s; None: nobody holds them

    @property
    def active(self) -> bool:
        """Whether gains may only be read."""
        until = self._until
        return until is not None and self._clock() < until

    def set(self, wanted: bool) -> None:
        """Begin or end it."""
        self._until = self._clock() + HOLD_TIME if wanted else None

    def renew(self) -> None:
        """Go on holding what is held: a command has come."""
        if self.active:
            self._until = self._clock() + HOLD_TIME
