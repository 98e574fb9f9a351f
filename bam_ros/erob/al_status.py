# SPDX-License-Identifier: Apache-2.0
"""The state of a slave on the EtherCAT side, and the AL status code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from bam_ros.text.al_status_words import slave_words

_ERROR = 0x10
REGISTER = 0x0130
"""AL status; the code is at 0x0134."""
LENGTH = 6


class SlaveState(IntEnum):
    """EtherCAT state of a slave."""

    NONE = 0
    INIT = 1
    PRE_OP = 2
    BOOT = 3
    SAFE_OP = 4
    OP = 8

    def __str__(self) -> str:
        return self.name.replace("_", "-")


@dataclass(frozen=True)
class AlStatus:
    """AL status of one slave.

    Attributes:
        state: where it is.
        error: whether it refused to go where it should, or fell back by itself.
        code: why.
    """

    state: SlaveState = SlaveState.NONE
    error: bool = False
    code: int = 0

    @classmethod
    def decode(cls, registers: bytes) -> AlStatus:
        """Read the registers 0x0130 to 0x0135."""
        word = int.from_bytes(registers[:2], "little")
        code = int.from_bytes(registers[4:6], "little")
        number = word & 0x0F
        state = SlaveState(number) if number in SlaveState._value2member_map_ else SlaveState.NONE
        return cls(state, bool(word & _ERROR), code)

    @property
    def operational(self) -> bool:
        """Whether it takes and gives process data."""
        return self.state is SlaveState.OP and not self.error

    def __str__(self) -> str:
        return slave_words(str(self.state), self.code if self.error else None)
