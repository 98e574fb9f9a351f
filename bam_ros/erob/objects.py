# SPDX-License-Identifier: Apache-2.0
"""The object dictionary of an eRob as both ends of the wire know it: indices (CiA 402) and the identity."""

from __future__ import annotations

from enum import IntEnum

VENDOR_ID = 0x5A65726F
PRODUCT_CODE = 0x00029252
SERIAL_NUMBER = 4
"""Subindex of `Object.IDENTITY`."""
COUNTS_PER_TURN = 524288
"""Of the encoder at the output shaft."""


class Object(IntEnum):
    """Indices of the objects that master and drive talk about."""

    DEVICE_TYPE = 0x1000
    ERROR_REGISTER = 0x1001
    DEVICE_NAME = 0x1008
    HARDWARE_VERSION = 0x1009
    SOFTWARE_VERSION = 0x100A
    IDENTITY = 0x1018
    RECEIVE_PDO = 0x1600  # mapping: what the drive receives
    TRANSMIT_PDO = 0x1A00  # mapping: what the drive sends
    SYNC_MANAGER_TYPE = 0x1C00
    RECEIVE_PDO_ASSIGN = 0x1C12
    TRANSMIT_PDO_ASSIGN = 0x1C13
    OUTPUT_SYNC = 0x1C32
    INPUT_SYNC = 0x1C33
    ERROR_CODE = 0x603F
    CONTROLWORD = 0x6040
    STATUSWORD = 0x6041
    MODE_OF_OPERATION = 0x6060
    MODE_OF_OPERATION_DISPLAY = 0x6061
    ACTUAL_POSITION = 0x6064  # counts
    ACTUAL_VELOCITY = 0x606C  # counts/s
    TARGET_TORQUE = 0x6071  # per mille of the rated torque
    MAXIMUM_TORQUE = 0x6072  # per mille of the rated torque
    RATED_CURRENT = 0x6075  # mA
    RATED_TORQUE = 0x6076  # mN·m
    ACTUAL_TORQUE = 0x6077  # per mille of the rated torque
    ACTUAL_CURRENT = 0x6078  # per mille of the rated current
    DC_LINK_VOLTAGE = 0x6079  # mV
    TARGET_POSITION = 0x607A  # counts
    SOFTWARE_POSITION_LIMIT = 0x607D
    HOME_OFFSET = 0x607C  # counts
    QUICK_STOP_OPTION = 0x605A
    FAULT_REACTION_OPTION = 0x605E
    INTERPOLATION_PERIOD = 0x60C2
    DIGITAL_INPUTS = 0x60FD
    DIGITAL_OUTPUTS = 0x60FE
    TARGET_VELOCITY = 0x60FF  # counts/s
    SUPPORTED_MODES = 0x6502


DEFAULT_RECEIVE_PDO = (Object.TARGET_POSITION, Object.DIGITAL_OUTPUTS, Object.CONTROLWORD)
DEFAULT_TRANSMIT_PDO = (Object.ACTUAL_POSITION, Object.DIGITAL_INPUTS, Object.STATUSWORD)
