# SPDX-License-Identifier: Apache-2.0
"""The EtherCAT state machine of a slave: where a request leads, and the code where it fails."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

_STATE_MASK = 0x0F
_ACKNOWLEDGE = 0x10
_ERROR = 0x10


class AlState(IntEnum):
    """States as AL control and AL status number them."""

    INIT = 1
    PRE_OP = 2
    BOOT = 3
    SAFE_OP = 4
    OP = 8


class AlCode(IntEnum):
    """AL status codes that an emulated slave gives."""

    NO_ERROR = 0x0000
    INVALID_STATE_CHANGE = 0x0011
    UNKNOWN_STATE = 0x0012
    BOOT_NOT_SUPPORTED = 0x0013
    INVALID_MAILBOX = 0x0016
    NO_VALID_OUTPUTS = 0x0019
    SYNCHRONISATION_ERROR = 0x001A
    WATCHDOG = 0x001B
    INVALID_OUTPUTS = 0x001D
    INVALID_INPUTS = 0x001E
    NO_SYNC = 0x002D
    INVALID_DC_SYNC = 0x0030
    INVALID_DC_CYCLE = 0x0035


class Pending(Exception):  # noqa: N818 - not an error: it may succeed later
    """A transition that waits for something; if it does not come, `code` is the reason.

    Args:
        code: of the slave when it has waited too long.
    """

    def __init__(self, code: AlCode) -> None:
        super().__init__(code)
        self.code = code


class Refusal(Exception):  # noqa: N818 - a decision, not a failure
    """A transition that the slave does not make, and why."""

    def __init__(self, code: AlCode) -> None:
        super().__init__(code)
        self.code = code


_ORDER = (AlState.INIT, AlState.PRE_OP, AlState.SAFE_OP, AlState.OP)


class AlStateMachine:
    """Where a slave is.

    Args:
        enter: called for each single step with the states before and after, before the step is made; raises
            Refusal or Pending where it cannot be made. Steps down cannot be refused.
    """

    def __init__(self, enter: Callable[[AlState, AlState], None]) -> None:
        self._enter = enter
        self.state = AlState.INIT
        self.error = False
        self.code = AlCode.NO_ERROR
        self.pending: Pending | None = None
        """What a request for OP waits for."""

    @property
    def status(self) -> int:
        """AL status register."""
        return self.state | (_ERROR if self.error else 0)

    def request(self, control: int) -> None:
        """Take what was written to AL control."""
        wanted = control & _STATE_MASK
        if control & _ACKNOWLEDGE:
            self.error = False
            self.code = AlCode.NO_ERROR
        elif self.error and wanted > self.state:
            return  # the error comes first
        self.pending = None
        if wanted == AlState.BOOT:
            self._refuse(AlCode.BOOT_NOT_SUPPORTED)
        elif wanted not in AlState._value2member_map_:
            self._refuse(AlCode.UNKNOWN_STATE)
        else:
            self._go(AlState(wanted))

    def retry(self) -> None:
        """Try a transition that is pending again."""
        if self.pending is not None:
            self.pending = None
            self._step(AlState.OP)

    def give_up(self) -> None:
        """Return what a pending transition waited for without success."""
        if self.pending is not None:
            code, self.pending = self.pending.code, None
            self._refuse(code)

    def fall(self, state: AlState, code: AlCode) -> None:
        """Go down without being asked, as after a watchdog."""
        self.pending = None
        while self.state > state:
            below = _ORDER[_ORDER.index(self.state) - 1]
            self._enter(self.state, below)
            self.state = below
        self._refuse(code)

    def _go(self, wanted: AlState) -> None:
        if wanted == self.state:
            return
        if wanted > self.state:
            if _ORDER.index(wanted) != _ORDER.index(self.state) + 1:
                self._refuse(AlCode.INVALID_STATE_CHANGE)
                return
            self._step(wanted)
            return
        while self.state > wanted:
            below = _ORDER[_ORDER.index(self.state) - 1]
            self._enter(self.state, below)
            self.state = below
        self.error = False
        self.code = AlCode.NO_ERROR

    def _step(self, wanted: AlState) -> None:
        try:
            self._enter(self.state, wanted)
        except Refusal as refusal:
            self._refuse(refusal.code)
        except Pending as pending:
            self.pending = pending
        else:
            self.state = wanted

    def _refuse(self, code: AlCode) -> None:
        self.error = True
        self.code = code
