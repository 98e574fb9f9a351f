# SPDX-License-Identifier: Apache-2.0
"""AL status codes (ETG.1000.6, ETG.1020) by name, and what to do about them."""

from __future__ import annotations

_CODES = {
    0x0000: "no error",
    0x0001: "unspecified error",
    0x0002: "no memory",
    0x0003: "invalid device setup",
    0x0006: "firmware and EEPROM do not match",
    0x0011: "invalid state change requested",
    0x0012: "unknown state requested",
    0x0013: "bootstrap not supported",
    0x0014: "no valid firmware",
    0x0015: "invalid mailbox configuration (BOOT)",
    0x0016: "invalid mailbox configuration (PRE-OP)",
    0x0017: "invalid sync manager configuration",
    0x0018: "no valid inputs",
    0x0019: "no valid outputs",
    0x001A: "synchronisation error",
    0x001B: "sync manager watchdog: process data stayed away",
    0x001C: "invalid sync manager types",
    0x001D: "invalid output configuration",
    0x001E: "invalid input configuration",
    0x001F: "invalid watchdog configuration",
    0x0020: "needs a cold start",
    0x0021: "needs INIT",
    0x0022: "needs PRE-OP",
    0x0023: "needs SAFE-OP",
    0x0024: "invalid input mapping",
    0x0025: "invalid output mapping",
    0x0026: "inconsistent settings",
    0x0027: "free run not supported",
    0x0028: "synchronisation not supported",
    0x0029: "free run needs 3 buffers",
    0x002A: "background watchdog",
    0x002B: "no valid inputs and outputs",
    0x002C: "fatal synchronisation error",
    0x002D: "no synchronisation signal",
    0x002E: "cycle time too small",
    0x0030: "invalid DC sync configuration",
    0x0031: "invalid DC latch configuration",
    0x0032: "PLL error",
    0x0033: "DC sync IO error",
    0x0034: "DC sync timeout",
    0x0035: "invalid DC sync cycle time",
    0x0036: "DC sync0 cycle time",
    0x0037: "DC sync1 cycle time",
    0x0041: "mailbox AoE",
    0x0042: "mailbox EoE",
    0x0043: "mailbox CoE",
    0x0044: "mailbox FoE",
    0x0045: "mailbox SoE",
    0x004F: "mailbox VoE",
    0x0050: "EEPROM not accessible",
    0x0051: "EEPROM error",
    0x0052: "external hardware not ready",
    0x0060: "restarted by itself",
    0x0061: "device identification updated",
    0x0070: "module identification does not match",
    0x00F0: "application controller available",
}


_POWER = "switch it off and on"
_FIRMWARE = f"{_POWER}; if that does not help, load its firmware anew with the manufacturer's tool"
_CYCLE = "set the parameter cycle_rate to one that the drive accepts, such as 1000 or 500"
_CLOCK = (
    "its clock and the cycle do not agree: lower the parameter cycle_rate, give the master process a"
    " processor, or set distributed_clocks to false"
)
_NEEDS_CLOCK = "set the parameter distributed_clocks to true"
_NO_CLOCK = "set the parameter distributed_clocks to false"
_LAYOUT = "choose another process data layout (parameter layout), or update its firmware"
_SILENCE = (
    "process data stayed away: raise the parameter watchdog, lower cycle_rate, give the master process a"
    " processor, check cables"
)
_CURES = {
    **dict.fromkeys((0x0001, 0x0002, 0x0020, 0x0021, 0x0022, 0x0023, 0x0052, 0x0060), _POWER),
    **dict.fromkeys((0x0003, 0x0006, 0x0013, 0x0014, 0x0015, 0x0050, 0x0051, 0x0070), _FIRMWARE),
    **dict.fromkeys((0x0017, 0x001C, 0x001D, 0x001E, 0x0024, 0x0025, 0x0026), _LAYOUT),
    **dict.fromkeys((0x0018, 0x0019, 0x001B, 0x002A, 0x002B), _SILENCE),
    0x001F: "set the parameter watchdog to another time",
    **dict.fromkeys((0x001A, 0x002C, 0x002D, 0x0030, 0x0031, 0x0032, 0x0033, 0x0034), _CLOCK),
    **dict.fromkeys((0x0027, 0x0029), _NEEDS_CLOCK),
    0x0028: _NO_CLOCK,
    **dict.fromkeys((0x002E, 0x0035, 0x0036, 0x0037), _CYCLE),
}
"""AL status code -> what to do about it, where that is more than to switch the drive off and on."""


def slave_words(state: str, code: int | None = None) -> str:
    """Return the state of a slave.

    Args:
        state: name of its EtherCAT state.
        code: AL status code of its error; None: it has none.
    """
    return state if code is None else f"{state}+ERROR (AL status 0x{code:04X}, {al_status_name(code)})"


def al_status_name(code: int) -> str:
    """Return an AL status code in words."""
    return _CODES.get(code, "vendor specific" if code >= 0x8000 else "unknown code")


def al_status_cure(code: int) -> str:
    """Return what to do about a slave that reports an AL status code."""
    return _CURES.get(code, _POWER)
