# SPDX-License-Identifier: Apache-2.0
"""The objects of a CiA 402 drive, as an eRob has them: what they are called, hold and permit."""

from __future__ import annotations

from collections.abc import Callable

from bam_ros.emulators.erob.object_dictionary import (
    Abort,
    Access,
    DataType,
    Entry,
    ObjectDictionary,
    SdoAbort,
)
from bam_ros.erob.objects import COUNTS_PER_TURN, Object

CSP, CSV, CST = 8, 9, 10
"""Cyclic synchronous position, velocity and torque: the modes of operation."""
FREE, RAMP, RAMP_AND_HOLD = 0, 2, 6
"""Option codes of quick stop and fault reaction."""
FASTEST = round(0.6 * COUNTS_PER_TURN)
"""Counts/s: 36 turns a minute."""
HIGHEST_TORQUE = 2000
"""Per mille of the rated torque."""
_SUPPORTED = 1 << CSP - 1 | 1 << CSV - 1 | 1 << CST - 1
_RW = Access.READ_WRITE
_RX, _TX = Access.READ_WRITE | Access.RECEIVE, Access.READ | Access.TRANSMIT
_U8, _U16, _U32 = DataType.UNSIGNED8, DataType.UNSIGNED16, DataType.UNSIGNED32
_I8, _I16, _I32 = DataType.INTEGER8, DataType.INTEGER16, DataType.INTEGER32


class DriveObjects:
    """Entries that a drive reads and writes, by what they are.

    Args:
        dictionary: gets them, and those that nothing but a master looks at.
        rated_current: A.
        rated_torque: N·m.
        set_home: called with a home offset before it is stored; may raise SdoAbort.
    """

    def __init__(
        self,
        dictionary: ObjectDictionary,
        rated_current: float,
        rated_torque: float,
        set_home: Callable[[int], None],
    ) -> None:
        self._dictionary = dictionary
        o, add = Object, self._add
        self.error_register = add(o.ERROR_REGISTER, "Error register", _U8, 0, _TX)
        self.error_code = add(o.ERROR_CODE, "Error code", _U16, 0, _TX)
        self.controlword = add(o.CONTROLWORD, "Controlword", _U16, 0, _RX)
        self.statusword = add(o.STATUSWORD, "Statusword", _U16, 0, _TX)
        self.quick_stop = add(o.QUICK_STOP_OPTION, "Quick stop option code", _I16, RAMP, _RW)
        self.quick_stop.written = _one_of(FREE, RAMP, RAMP_AND_HOLD)
        self.fault_reaction = add(o.FAULT_REACTION_OPTION, "Fault reaction option code", _I16, FREE, _RW)
        self.fault_reaction.written = _one_of(FREE, RAMP)
        self.mode = add(o.MODE_OF_OPERATION, "Modes of operation", _I8, CSP, _RX)
        self.mode.written = _one_of(CSP, CSV, CST)
        self.mode_display = add(o.MODE_OF_OPERATION_DISPLAY, "Modes of operation display", _I8, CSP, _TX)
        self.position = add(o.ACTUAL_POSITION, "Position actual value", _I32, 0, _TX)
        self.velocity = add(o.ACTUAL_VELOCITY, "Velocity actual value", _I32, 0, _TX)
        self.torque = add(o.ACTUAL_TORQUE, "Torque actual value", _I16, 0, _TX)
        self.current = add(o.ACTUAL_CURRENT, "Current actual value", _I16, 0, _TX)
        self.voltage = add(o.DC_LINK_VOLTAGE, "DC link circuit voltage", _U32, 0, _TX)
        self.target_position = add(o.TARGET_POSITION, "Target position", _I32, 0, _RX)
        self.target_velocity = add(o.TARGET_VELOCITY, "Target velocity", _I32, 0, _RX)
        self.target_torque = add(o.TARGET_TORQUE, "Target torque", _I16, 0, _RX)
        self.torque_offset = add(0x60B2, "Torque offset", _I16, 0, _RX)
        self.maximum_torque = add(o.MAXIMUM_TORQUE, "Max torque", _U16, HIGHEST_TORQUE, _RX)
        self.maximum_torque.high = HIGHEST_TORQUE
        add(o.RATED_CURRENT, "Motor rated current", _U32, round(rated_current * 1000))
        add(o.RATED_TORQUE, "Motor rated torque", _U32, round(rated_torque * 1000))
        self.position_demand = add(0x6062, "Position demand value", _I32, 0, _TX)
        self.window = add(0x6065, "Following error window", _U32, COUNTS_PER_TURN // 8, _RW)
        self.window_time = add(0x6066, "Following error time out", _U16, 100, _RW)
        self.following_error = add(0x60F4, "Following error actual value", _I32, 0, _TX)
        home = add(o.HOME_OFFSET, "Home offset", _I32, 0, _RW)
        home.written = set_home
        add(o.SOFTWARE_POSITION_LIMIT, "Number of entries", _U8, 2)
        self.lowest = add(o.SOFTWARE_POSITION_LIMIT, "Min position limit", _I32, 0, _RW, 1)
        self.highest = add(o.SOFTWARE_POSITION_LIMIT, "Max position limit", _I32, 0, _RW, 2)
        self.deceleration = add(0x6085, "Quick stop deceleration", _U32, 4 * COUNTS_PER_TURN, _RW)
        self.deceleration.low = 1
        add(o.INTERPOLATION_PERIOD, "Number of entries", _U8, 2)
        self.period = add(o.INTERPOLATION_PERIOD, "Interpolation time period value", _U8, 1, _RW, 1)
        self.period.low = 1
        self.period_index = add(o.INTERPOLATION_PERIOD, "Interpolation time index", _I8, -3, _RW, 2)
        self.period_index.low, self.period_index.high = -6, 0
        inputs = add(o.DIGITAL_INPUTS, "Digital inputs", _U32, 0, _TX)
        outputs = add(o.DIGITAL_OUTPUTS, "Digital outputs", _U32, 0, _RX)
        add(0x6007, "Abort connection option code", _I16, 1, _RW)
        add(0x6080, "Max motor speed", _U32, FASTEST, Access.READ)
        add(o.SUPPORTED_MODES, "Supported drive modes", _U32, _SUPPORTED)
        self.default_receive = (self.target_position, outputs, self.controlword)
        self.default_transmit = (self.position, inputs, self.statusword)

    def _add(
        self,
        index: int,
        name: str,
        kind: DataType,
        value: int = 0,
        access: Access = Access.READ,
        subindex: int = 0,
    ) -> Entry:
        entry = Entry(index, subindex, name, kind, value, access)
        self._dictionary.add(entry)
        return entry


def _one_of(*values: int) -> Callable[[int], None]:
    def check(value: int) -> None:
        if value not in values:
            raise SdoAbort(Abort.OUT_OF_RANGE)

    return check
