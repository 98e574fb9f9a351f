# SPDX-License-Identifier: Apache-2.0
"""Gains that stay as they are while a client records: whoever else sets them is refused."""

from __future__ import annotations

import time
from collections.abc import Callable

from bam_core.errors import Conflict, WrongValue

HOLD_TIME = 5.0
"""A hold ends so long after its holder renewed it last, s: a client that died holds nothing for ever.

More than a busy machine keeps a client that lives from renewing it.
"""
_LONGEST_NAME = 256  # characters; it is repeated in every refusal


class GainsHeld(Conflict):
    """Gains that one client wants to hold, while another does.

    Attributes:
        holder: who holds them.
        client: who wants to.
    """

    def __init__(self, holder: str, client: str, duration: float) -> None:
        """Compose the line.

        Args:
            holder: who holds them.
            client: who wants to.
            duration: of a hold, s.
        """
        self.holder, self.client = holder, client
        super().__init__(
            "gains",
            f"are held by {holder}",
            expected=f"by {client}, or by nobody",
            advice=f"wait for its end ({duration:g} s after it was renewed last)",
        )


class GainsHold:
    """Who holds gains. It is changed from one thread, and read from any.

    Args:
        clock: s that never go back.
        duration: of a hold that is not renewed, s.

    Attributes:
        duration: see above.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, duration: float = HOLD_TIME) -> None:
        self._clock = clock
        self.duration = duration
        self._held = ("", 0.0)  # holder; until when, s

    @property
    def holder(self) -> str:
        """Who holds gains, so that they may only be read; empty: nobody."""
        holder, until = self._held
        return holder if self._clock() < until else ""

    def begin(self, holder: str) -> None:
        """Hold gains from now on, or go on holding them.

        Raises:
            GainsHeld: somebody else holds them.
            WrongValue: this is no name for a holder.
        """
        self._require_free_for(holder)
        self._held = (holder, self._clock() + self.duration)

    def end(self, holder: str) -> None:
        """Let everybody set gains, where this holder or nobody holds them; raises as `begin` does."""
        self._require_free_for(holder)
        self.clear()

    def clear(self) -> None:
        """Let everybody set gains, whoever holds them."""
        self._held = ("", 0.0)

    def _require_free_for(self, holder: str) -> None:
        if not (0 < len(holder) <= _LONGEST_NAME and holder.isprintable()):
            expected = f"a name that nobody else uses, of 1 to {_LONGEST_NAME} characters that print"
            raise WrongValue("holder", holder, expected, advice="take your node's name and a random number")
        if self.holder not in ("", holder):
            raise GainsHeld(self.holder, holder, self.duration)
