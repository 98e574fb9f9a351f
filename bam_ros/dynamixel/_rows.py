# SPDX-License-Identifier: Apache-2.0
"""Rows of the control tables of both firmware generations; what differs between models is an argument."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bam_ros.dynamixel.register import (
    ACCELERATION,
    ACCELERATION_P1,
    CURRENT_P1,
    DELAY,
    DUTY,
    DUTY_P1,
    GOAL_CURRENT_P1,
    POSITION,
    RAW,
    TEMPERATURE,
    TICK,
    VELOCITY,
    VELOCITY_P1,
    VOLTAGE,
    WATCHDOG,
    Register,
    Unit,
)


def row(
    address: int,
    size: int,
    name: str,
    access: str,
    initial: int | None,
    low: int = 0,
    high: int | None = None,
    unit: Unit = RAW,
) -> Register:
    """Build a row; `access` is R or RW, with an E in front for the EEPROM area. Negative `low`: signed."""
    signed = low < 0
    top = high if high is not None else (1 << (8 * size - signed)) - 1
    return Register(
        name=name,
        address=address,
        size=size,
        writable=access.endswith("RW"),
        initial=initial,
        low=low,
        high=top,
        signed=signed,
        unit=unit,
        eeprom=access.startswith("E"),
    )


_ANY16 = -(1 << 15)
_ANY32 = -(1 << 31)


def protocol1_registers(model_number: int, *, volts: int, dual: bool) -> tuple[Register, ...]:
    """Rows of an MX servo with Protocol 1.0 firmware.

    Args:
        model_number: of the servo.
        volts: factory upper voltage limit, 0.1 V.
        dual: has the drive_mode register.
    """
    drive_mode = (row(10, 1, "drive_mode", "ERW", 0, 0, 3),) if dual else ()
    return (
        row(0, 2, "model_number", "ER", model_number),
        row(2, 1, "firmware_version", "ER", 41),
        row(3, 1, "id", "ERW", 1, 0, 253),
        row(4, 1, "baud_rate", "ERW", 34, 0, 252),
        row(5, 1, "return_delay_time", "ERW", 250, 0, 254, DELAY),
        row(6, 2, "min_position_limit", "ERW", 0, 0, 4095, POSITION),  # CW Angle Limit
        row(8, 2, "max_position_limit", "ERW", 4095, 0, 4095, POSITION),  # CCW Angle Limit
        *drive_mode,
        row(11, 1, "temperature_limit", "ERW", 80, 0, 100, TEMPERATURE),
        row(12, 1, "min_voltage_limit", "ERW", 60, 50, max(160, volts), VOLTAGE),
        row(13, 1, "max_voltage_limit", "ERW", volts, 50, max(160, volts), VOLTAGE),
        row(14, 2, "max_torque", "ERW", 1023, 0, 1023, DUTY_P1),
        row(16, 1, "status_return_level", "ERW", 2, 0, 2),
        row(17, 1, "alarm_led", "ERW", 36, 0, 127),
        row(18, 1, "shutdown", "ERW", 36, 0, 127),
        row(20, 2, "multi_turn_offset", "ERW", 0, -24576, 24576),
        row(22, 1, "resolution_divider", "ERW", 1, 1, 4),
        row(24, 1, "torque_enable", "RW", 0, 0, 1),
        row(25, 1, "led", "RW", 0, 0, 1),
        row(26, 1, "position_d_gain", "RW", 0, 0, 254),
        row(27, 1, "position_i_gain", "RW", 0, 0, 254),
        row(28, 1, "position_p_gain", "RW", 32, 0, 254),
        row(30, 2, "goal_position", "RW", None, -28672, 28672, POSITION),
        row(32, 2, "goal_velocity", "RW", 0, 0, 2047, VELOCITY_P1),  # Moving Speed
        row(34, 2, "torque_limit", "RW", 1023, 0, 1023, DUTY_P1),
        row(36, 2, "present_position", "R", None, _ANY16, None, POSITION),
        row(38, 2, "present_velocity", "R", None, 0, 2047, VELOCITY_P1),  # Present Speed
        row(40, 2, "present_load", "R", None, 0, 2047, DUTY_P1),
        row(42, 1, "present_input_voltage", "R", None, unit=VOLTAGE),
        row(43, 1, "present_temperature", "R", None, unit=TEMPERATURE),
        row(44, 1, "registered_instruction", "R", 0, 0, 1),
        row(46, 1, "moving", "R", 0, 0, 1),
        row(47, 1, "lock", "RW", 0, 0, 1),
        row(48, 2, "punch", "RW", 0, 0, 1023, DUTY_P1),
        row(50, 2, "realtime_tick", "R", 0, 0, 32767, TICK),
        row(68, 2, "present_current", "RW", 2048, 0, 4095, CURRENT_P1),  # the manual says RW
        row(70, 1, "torque_control_mode_enable", "RW", 0, 0, 1),
        row(71, 2, "goal_current", "RW", 0, 0, 2047, GOAL_CURRENT_P1),  # Goal Torque
        row(73, 1, "goal_acceleration", "RW", 0, 0, 254, ACCELERATION_P1),
    )


def _indirect_rows(address: int, data: int, count: int, first: int, high: int) -> tuple[Register, ...]:
    """Indirect Address and Indirect Data registers, numbered from `first`."""
    numbers = range(count)
    addresses = (
        row(address + 2 * i, 2, f"indirect_address_{first + i}", "RW", data + i, 64, high) for i in numbers
    )
    contents = (row(data + i, 1, f"indirect_data_{first + i}", "RW", 0) for i in numbers)
    return (*addresses, *contents)


_LIMITED_BY = {
    "goal_pwm": ("pwm_limit", "pwm_limit"),
    "goal_current": ("current_limit", "current_limit"),
    "goal_velocity": ("velocity_limit", "velocity_limit"),
    "goal_position": ("min_position_limit", "max_position_limit"),
}
"""Registers of Protocol 2.0 -> the two that limit them."""


@dataclass(frozen=True, kw_only=True)
class Protocol2Servo:
    """What differs between servos with Protocol 2.0 firmware.

    Attributes:
        model_number: of the servo.
        firmware_version: that it answers.
        baud_values: how many values the baud_rate register has.
        specific: rows that not every model has.
        temperature: factory limit, °C.
        volts: lowest settable limit, highest settable limit (also the factory upper limit), factory lower
            limit; 0.1 V.
        current: unit of the current registers.
        current_limit: factory value and maximum.
        velocity_limit: factory value, maximum.
        gains: factory velocity I, velocity P, position P.
        shutdown: factory mask.
        indirect: (first address register, first data byte, how many) of each indirect block.
    """

    model_number: int
    firmware_version: int
    baud_values: int
    specific: tuple[Register, ...]
    temperature: int
    volts: tuple[int, int, int]
    current: Unit
    current_limit: int
    velocity_limit: tuple[int, int]
    gains: tuple[int, int, int]
    shutdown: int
    indirect: tuple[tuple[int, int, int], ...]

    def registers(self) -> tuple[Register, ...]:
        """Return all rows, sorted by address."""
        last = max(data + count for _, data, count in self.indirect) - 1
        offset = 1_044_479
        turns = 1_048_575  # of goal_position in extended position mode
        rows = [
            row(0, 2, "model_number", "ER", self.model_number),
            row(2, 4, "model_information", "ER", 0),
            row(6, 1, "firmware_version", "ER", self.firmware_version),
            row(7, 1, "id", "ERW", 1, 0, 252),
            row(8, 1, "baud_rate", "ERW", 1, 0, self.baud_values - 1),
            row(9, 1, "return_delay_time", "ERW", 250, 0, 254, DELAY),
            row(11, 1, "operating_mode", "ERW", 3, 0, 16),
            row(12, 1, "secondary_id", "ERW", 255),
            row(13, 1, "protocol_type", "ERW", 2, 2, 2),
            row(20, 4, "homing_offset", "ERW", 0, -offset, offset),
            row(24, 4, "moving_threshold", "ERW", 10, 0, 1023, VELOCITY),
            row(31, 1, "temperature_limit", "ERW", self.temperature, 0, 100, TEMPERATURE),
            row(32, 2, "max_voltage_limit", "ERW", self.volts[1], self.volts[0], self.volts[1], VOLTAGE),
            row(34, 2, "min_voltage_limit", "ERW", self.volts[2], self.volts[0], self.volts[1], VOLTAGE),
            row(36, 2, "pwm_limit", "ERW", 885, 0, 885, DUTY),
            row(38, 2, "current_limit", "ERW", self.current_limit, 0, self.current_limit, self.current),
            row(44, 4, "velocity_limit", "ERW", self.velocity_limit[0], 0, self.velocity_limit[1], VELOCITY),
            row(48, 4, "max_position_limit", "ERW", 4095, 0, 4095, POSITION),
            row(52, 4, "min_position_limit", "ERW", 0, 0, 4095, POSITION),
            row(63, 1, "shutdown", "ERW", self.shutdown, 0, 63),
            row(64, 1, "torque_enable", "RW", 0, 0, 1),
            row(65, 1, "led", "RW", 0, 0, 1),
            row(68, 1, "status_return_level", "RW", 2, 0, 2),
            row(69, 1, "registered_instruction", "R", 0, 0, 1),
            row(70, 1, "hardware_error_status", "R", 0),
            row(76, 2, "velocity_i_gain", "RW", self.gains[0], 0, 16383),
            row(78, 2, "velocity_p_gain", "RW", self.gains[1], 0, 16383),
            row(80, 2, "position_d_gain", "RW", 0, 0, 16383),
            row(82, 2, "position_i_gain", "RW", 0, 0, 16383),
            row(84, 2, "position_p_gain", "RW", self.gains[2], 0, 16383),
            row(88, 2, "feedforward_2nd_gain", "RW", 0, 0, 16383),
            row(90, 2, "feedforward_1st_gain", "RW", 0, 0, 16383),
            row(98, 1, "bus_watchdog", "RW", 0, -1, 127, WATCHDOG),
            row(100, 2, "goal_pwm", "RW", None, _ANY16, None, DUTY),
            row(102, 2, "goal_current", "RW", None, _ANY16, None, self.current),
            row(104, 4, "goal_velocity", "RW", None, _ANY32, None, VELOCITY),
            row(108, 4, "profile_acceleration", "RW", 0, 0, 32767, ACCELERATION),
            row(112, 4, "profile_velocity", "RW", 0, 0, 32767, VELOCITY),
            row(116, 4, "goal_position", "RW", None, -turns, turns, POSITION),
            row(120, 2, "realtime_tick", "R", None, 0, 32767, TICK),
            row(122, 1, "moving", "R", 0, 0, 1),
            row(123, 1, "moving_status", "R", 0),
            row(124, 2, "present_pwm", "R", None, _ANY16, None, DUTY),
            row(126, 2, "present_current", "R", None, _ANY16, None, self.current),
            row(128, 4, "present_velocity", "R", None, _ANY32, None, VELOCITY),
            row(132, 4, "present_position", "R", None, _ANY32, None, POSITION),
            row(136, 4, "velocity_trajectory", "R", None, _ANY32, None, VELOCITY),
            row(140, 4, "position_trajectory", "R", None, _ANY32, None, POSITION),
            row(144, 2, "present_input_voltage", "R", None, unit=VOLTAGE),
            row(146, 1, "present_temperature", "R", None, unit=TEMPERATURE),
            *self.specific,
        ]
        first = 1
        for address, data, count in self.indirect:
            rows.extend(_indirect_rows(address, data, count, first, last))
            first += count
        rows.sort(key=lambda register: register.address)
        return tuple(replace(register, limits=_LIMITED_BY.get(register.name)) for register in rows)
