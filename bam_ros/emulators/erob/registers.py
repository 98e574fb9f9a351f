# SPDX-License-Identifier: Apache-2.0
"""Where the registers of a slave controller lie, and which of them a master may write."""

from __future__ import annotations

from enum import IntEnum

RAM_START = 0x1000
RAM_SIZE = 0x2000
"""Process memory, 8 KiB."""
FMMU_COUNT = 8
SYNC_MANAGER_COUNT = 8
FMMU_SIZE = 16
SYNC_MANAGER_SIZE = 8


class Register(IntEnum):
    """Addresses in a slave controller."""

    TYPE = 0x0000
    FMMU_COUNT = 0x0004
    SYNC_MANAGER_COUNT = 0x0005
    RAM_SIZE = 0x0006
    STATION_ADDRESS = 0x0010
    STATION_ALIAS = 0x0012
    DL_CONTROL = 0x0100
    DL_STATUS = 0x0110
    AL_CONTROL = 0x0120
    AL_STATUS = 0x0130
    AL_STATUS_CODE = 0x0134
    PDI_CONTROL = 0x0140
    ECAT_EVENT_MASK = 0x0200
    RX_ERROR_COUNTER = 0x0300
    FORWARDED_ERROR_COUNTER = 0x0308
    LOST_LINK_COUNTER = 0x0310
    WATCHDOG_DIVIDER = 0x0400
    WATCHDOG_TIME_PDI = 0x0410
    WATCHDOG_TIME_PROCESS_DATA = 0x0420
    WATCHDOG_STATUS = 0x0440
    WATCHDOG_COUNTER_PROCESS_DATA = 0x0442
    EEPROM_CONFIGURATION = 0x0500
    EEPROM_PDI_ACCESS = 0x0501
    EEPROM_CONTROL = 0x0502
    EEPROM_ADDRESS = 0x0504
    EEPROM_DATA = 0x0508
    FMMU = 0x0600
    SYNC_MANAGER = 0x0800
    DC_RECEIVE_TIME = 0x0900
    DC_SYSTEM_TIME = 0x0910
    DC_PROCESSING_TIME = 0x0918
    DC_SYSTEM_OFFSET = 0x0920
    DC_SYSTEM_DELAY = 0x0928
    DC_SYSTEM_DIFFERENCE = 0x092C
    DC_SPEED_COUNTER_START = 0x0930
    DC_FILTER_DEPTHS = 0x0934
    DC_CYCLIC_CONTROL = 0x0980
    DC_ACTIVATION = 0x0981
    DC_ACTIVATION_STATUS = 0x0984
    DC_START_TIME = 0x0990
    DC_SYNC0_CYCLE = 0x09A0
    DC_END = 0x0A00


_WRITABLE = (
    (Register.STATION_ADDRESS, 2),
    (Register.DL_CONTROL, 4),
    (Register.AL_CONTROL, 2),
    (Register.ECAT_EVENT_MASK, 2),
    (Register.RX_ERROR_COUNTER, 8),
    (Register.FORWARDED_ERROR_COUNTER, 4),
    (Register.LOST_LINK_COUNTER, 4),
    (Register.WATCHDOG_DIVIDER, 2),
    (Register.WATCHDOG_TIME_PDI, 2),
    (Register.WATCHDOG_TIME_PROCESS_DATA, 2),
    (Register.WATCHDOG_COUNTER_PROCESS_DATA, 2),
    (Register.EEPROM_CONFIGURATION, 1),
    (Register.EEPROM_CONTROL, 2),
    (Register.EEPROM_ADDRESS, 4),
    (Register.EEPROM_DATA, 8),
    *((Register.FMMU + FMMU_SIZE * i, 13) for i in range(FMMU_COUNT)),
    *((Register.SYNC_MANAGER + SYNC_MANAGER_SIZE * i, 5) for i in range(SYNC_MANAGER_COUNT)),
    *((Register.SYNC_MANAGER + SYNC_MANAGER_SIZE * i + 6, 1) for i in range(SYNC_MANAGER_COUNT)),
    (Register.DC_RECEIVE_TIME, 4),
    (Register.DC_SYSTEM_TIME, 4),
    (Register.DC_SYSTEM_OFFSET, 8),
    (Register.DC_SYSTEM_DELAY, 4),
    (Register.DC_SPEED_COUNTER_START, 2),
    (Register.DC_FILTER_DEPTHS, 2),
    (Register.DC_CYCLIC_CONTROL, 2),
    (Register.DC_START_TIME, 8),
    (Register.DC_SYNC0_CYCLE, 8),
)
CLEARED_BY_WRITE = range(Register.RX_ERROR_COUNTER, Register.LOST_LINK_COUNTER + 4)
"""Counters that any write sets to zero."""


def writable_bytes() -> bytes:
    """Return one byte per address below the RAM: 1 where a master may write."""
    mask = bytearray(RAM_START)
    for start, size in _WRITABLE:
        mask[start : start + size] = b"\x01" * size
    return bytes(mask)
