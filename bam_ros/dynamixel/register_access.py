# SPDX-License-Identifier: Apache-2.0
"""Registers by name while a driver is at work: which of them clients may write, and counts of values."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from bam_core.errors import OutOfRange, UnknownName, Unsupported
from bam_ros.driver.servo_bus import RegisterValue
from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.register import RAW, Register

_FREE = (
    *("led", "led_red", "led_green", "led_blue", "alarm_led", "led_alarm_condition"),
    *("external_port_mode", "external_port_data", "moving_threshold"),
)
"""Without a number at their end. Nothing that the driver does depends on them."""
_VELOCITY_GAINS = ("velocity_p_gain", "velocity_i_gain")
"""Free likewise, where the law of positions is known to have no velocity controller in it."""
_NUMBER = re.compile(r"_\d+$")
_HALF = 0.5 + 1e-9  # counts that a value and its count differ by at most


class _Refused(NamedTuple):
    """Registers that clients may not write."""

    names: re.Pattern[str]
    problem: str
    advice: str


_REFUSED = (
    _Refused(
        re.compile("torque_enable"),
        "switches torque",
        "call ~/set_torque or ~/set_joint_torque",
    ),
    _Refused(
        re.compile("(position|active)_[pid]_gain"),
        "is a gain of the control law",
        "call ~/set_gains",
    ),
    _Refused(
        re.compile("goal_(position|velocity|current|pwm|acceleration|time)"),
        "is a goal, or a limit of one",
        "command goals by joint_command, servo_commands or trajectories",
    ),
    _Refused(
        re.compile(
            "id|secondary_id|baud_rate|protocol_type|status_return_level|return_delay_time|bus_watchdog|lock"
            "|byte_order|indirect_(address|data)"
        ),
        "decides which packets the servo accepts, or how it answers",
        "end the driver, then write it with the program of the maker",
    ),
    _Refused(
        re.compile(".*"),
        "decides about safety or the control law",
        "use parameters of the driver, or end it and write the register with the program of the maker",
    ),
)
"""The first whose pattern fits all of a name without its number counts."""


def register_value(register: Register, count: int) -> RegisterValue:
    """Return what a count means."""
    return RegisterValue(count=count, value=register.to_si(count), unit=register.unit.symbol)


def require_free(joint: str, table: ControlTable, register: Register) -> None:
    """Refuse a register that clients may not write, in any state of the servo.

    Args:
        joint: which servo it is.
        table: of the servo.
        register: to be written.

    Raises:
        Unsupported: it is read-only, or decides about safety, the control law or what the servo accepts.
    """
    thing = f"register {register.name} of {joint}"
    if not register.writable:
        raise Unsupported(thing, "is read-only", expected="a register that may be written", advice="read it")
    name = _NUMBER.sub("", register.name)
    free = (*_FREE, *_VELOCITY_GAINS) if table.position_firmware else _FREE
    if name in free:
        return
    refused = next(refused for refused in _REFUSED if refused.names.fullmatch(name))
    here = sorted({row.name for row in table.registers if row.writable and _NUMBER.sub("", row.name) in free})
    expected = f"one of {', '.join(here)}" if here else f"none of {table.title} may be written"
    raise Unsupported(thing, refused.problem, expected=expected, advice=refused.advice)


def count_of(joint: str, register: Register, value: float, unit: str) -> int:
    """Return the count of a value that a register shall hold.

    Args:
        joint: which servo it is.
        register: to be written.
        value: in `unit`.
        unit: that of the register; empty or "-": `value` is the count.

    Raises:
        UnknownName: it has another unit.
        OutOfRange: the value is none that it may hold, or no whole count.
    """
    thing = f"register {register.name} of {joint}"
    if unit in ("", RAW.symbol):
        low, high = float(register.low), float(register.high)
        if value % 1.0 != 0.0:  # NaN and infinity as well
            raise OutOfRange(
                thing, value, "a whole number of counts", printed=f"{value:g}", advice="round it"
            )
        if not low <= value <= high:
            raise OutOfRange(
                thing,
                value,
                f"{low:g} to {high:g} counts",
                printed=f"{value:g}",
                advice="choose one within it",
            )
        return int(value)
    if unit != register.unit.symbol:
        raise UnknownName(
            f"unit of {thing}",
            unit,
            {RAW.symbol, register.unit.symbol},
            otherwise="choose one of these; empty: counts",
        )
    count = register.from_si(value) if math.isfinite(value) else register.low
    if not abs(register.to_si(count) - value) <= _HALF * register.unit.scale:  # it was cut off
        low, high = sorted((register.to_si(register.low), register.to_si(register.high)))
        raise OutOfRange(
            thing,
            value,
            f"{low:.6g} to {high:.6g} {unit}",
            printed=f"{value:g} {unit}",
            advice="choose one within it",
        )
    return count
