# SPDX-License-Identifier: Apache-2.0
"""The power state machine of a drive (CiA 402), seen from inside: control word in, status word out."""

from __future__ import annotations

from enum import Enum

SWITCH_ON, ENABLE_VOLTAGE, QUICK_STOP, ENABLE_OPERATION, FAULT_RESET = 0x01, 0x02, 0x04, 0x08, 0x80
"""Bits of the control word; quick stop is asked for by a 0."""
VOLTAGE_ENABLED, WARNING, REMOTE, TARGET_REACHED, LIMIT, FOLLOWS, FOLLOWING_ERROR = (
    0x0010, 0x0080, 0x0200, 0x0400, 0x0800, 0x1000, 0x2000,
)  # fmt: skip
"""Bits of the status word beside those of PowerState."""


class PowerState(Enum):
    """States, and their bits of the status word."""

    NOT_READY = 0x0000
    SWITCH_ON_DISABLED = 0x0040
    READY_TO_SWITCH_ON = 0x0021
    SWITCHED_ON = 0x0023
    OPERATION_ENABLED = 0x0027
    QUICK_STOP_ACTIVE = 0x0007
    FAULT_REACTION_ACTIVE = 0x000F
    FAULT = 0x0008


_POWERED = (PowerState.OPERATION_ENABLED, PowerState.QUICK_STOP_ACTIVE, PowerState.FAULT_REACTION_ACTIVE)


def drives(state: PowerState) -> bool:
    """Return whether current may flow."""
    return state in _POWERED


def next_state(state: PowerState, word: int, before: int, *, resumes: bool = False) -> PowerState:
    """Return where a control word leads, one transition at most.

    Args:
        state: where the drive is.
        word: the control word.
        before: the one before; a fault is reset by a rising edge.
        resumes: a quick stop that has ended may be left for operation again.
    """
    s = PowerState
    if state is s.FAULT:
        rising = word & ~before & FAULT_RESET
        return s.SWITCH_ON_DISABLED if rising else state
    if state in (s.NOT_READY, s.FAULT_REACTION_ACTIVE):
        return state
    if not word & ENABLE_VOLTAGE:
        return s.SWITCH_ON_DISABLED
    if not word & QUICK_STOP:
        running = state in (s.OPERATION_ENABLED, s.QUICK_STOP_ACTIVE)
        return s.QUICK_STOP_ACTIVE if running else s.SWITCH_ON_DISABLED
    if state is s.QUICK_STOP_ACTIVE:
        enabled = word & SWITCH_ON and word & ENABLE_OPERATION
        return s.OPERATION_ENABLED if enabled and resumes else state
    if not word & SWITCH_ON:
        return s.READY_TO_SWITCH_ON
    if state is s.SWITCH_ON_DISABLED:
        return state
    if state is s.READY_TO_SWITCH_ON:
        return s.SWITCHED_ON
    return s.OPERATION_ENABLED if word & ENABLE_OPERATION else s.SWITCHED_ON
