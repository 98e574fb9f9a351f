# SPDX-License-Identifier: Apache-2.0
"""What servos complain about, from the bits of both protocols to the common ones, and results of the SDK."""

from __future__ import annotations

import dynamixel_sdk as sdk

from bam_core.errors import Unavailable, Unsupported
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout
from bam_ros.dynamixel.control_table import ControlTable

ALERT = 0x80
"""Bit of a Protocol 2.0 status packet: register hardware_error_status is not zero."""

_PROTOCOL1 = {
    0x01: HardwareError.INPUT_VOLTAGE,
    0x02: HardwareError.ANGLE_LIMIT,
    0x04: HardwareError.OVERHEATING,
    0x08: HardwareError.RANGE,
    0x10: HardwareError.CHECKSUM,
    0x20: HardwareError.OVERLOAD,
    0x40: HardwareError.INSTRUCTION,
}
_PROTOCOL2 = {
    0x01: HardwareError.INPUT_VOLTAGE,
    0x04: HardwareError.OVERHEATING,
    0x08: HardwareError.ENCODER,
    0x10: HardwareError.ELECTRICAL_SHOCK,
    0x20: HardwareError.OVERLOAD,
}
_CHECKSUM1, _CRC2 = 0x10, 3  # the instruction was damaged
_REFUSALS1 = {0x02: "angle limit", 0x08: "value out of range", 0x10: "checksum", 0x40: "instruction"}
_REFUSALS2 = {
    1: "could not process it",
    2: "unknown instruction",
    3: "CRC",
    4: "value out of range",
    5: "wrong length",
    6: "value beyond a limit",
    7: "register is read-only, or locked while torque is on",
}


class NoMode(Unsupported):
    """A servo that cannot be commanded by velocity, current or duty.

    Attributes:
        table: of its model.
        kind: what it should be commanded by.
    """

    def __init__(self, joint: str, table: ControlTable, kind: CommandKind) -> None:
        """Compose the line.

        Args:
            joint: name.
            table: of its model.
            kind: what it shall be commanded by.
        """
        self.table, self.kind = table, kind
        valid = ", ".join(mode.value for mode in CommandKind if table.mode(mode) is not None)
        super().__init__(
            joint,
            f"{table.title} with Protocol {table.protocol}.0 firmware takes no {kind.value} here",
            expected=f"one of {valid}",
            advice="correct the parameter command_interfaces, or update its firmware",
        )


def hardware_errors(table: ControlTable, bits: int) -> int:
    """Return `HardwareError` bits from a 1.0 status packet's error byte or a 2.0 servo's error register.

    Of a register that holds a code instead of bits only its being 0 is understood.
    """
    if not bits or (table.protocol == 2 and table.error_register not in table):
        return 0
    if table.error_register == "error_code":
        return int(HardwareError.DRIVE)
    known = _PROTOCOL1 if table.protocol == 1 else _PROTOCOL2
    if table.error_bits is not None:
        known = {bit: HardwareError[name] for bit, name in table.error_bits.items()}
    return int(sum(error for bit, error in known.items() if bits & bit))


def refusal(protocol: int, error: int) -> str:
    """Return why a servo refused an instruction, from its status packet; empty where it did not."""
    if protocol == 0:
        return ""  # Feetech's status bits are the servo's state
    if protocol == 1:
        return ", ".join(text for bit, text in _REFUSALS1.items() if error & bit)
    number = error & ~ALERT
    return _REFUSALS2.get(number, f"error {number}") if number else ""


def is_damage(protocol: int, error: int) -> bool:
    """Return whether a servo reports that the instruction reached it damaged: nothing was carried out."""
    return bool(error & _CHECKSUM1) if protocol == 1 else protocol == 2 and error & ~ALERT == _CRC2


def no_answer(who: str) -> BusTimeout:
    """Return the error of an answer that did not come; `who` was asked."""
    return BusTimeout(who, "no answer", advice="check its power and cable")


def damaged_answer(who: str) -> BusCorrupt:
    """Return the error of an answer that is not what it should be; `who` was asked."""
    return BusCorrupt(
        who, "damaged answer", advice="check cable, termination and that no other id is the same"
    )


def check_result(result: int, who: str) -> None:
    """Raise what a communication result of the SDK means.

    Raises:
        BusTimeout: no answer, or only a part of one.
        BusCorrupt: a damaged answer.
        Unavailable: the packet could not even be sent.
    """
    if result == sdk.COMM_SUCCESS:
        return
    if result == sdk.COMM_RX_TIMEOUT:
        raise no_answer(who)
    if result in (sdk.COMM_RX_CORRUPT, sdk.COMM_RX_FAIL):
        raise damaged_answer(who)
    raise Unavailable(who, f"the SDK could not send (result {result})", advice="check the adapter")
