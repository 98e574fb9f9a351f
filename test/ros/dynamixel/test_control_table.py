# SPDX-License-Identifier: Apache-2.0
"""Control tables: the manual's figures, and the laws that every table keeps."""

from __future__ import annotations

import math

import pytest

from bam_core.errors import OutOfRange, UnknownName
from bam_core.servo.firmware_library import FIRMWARES
from bam_ros.dynamixel.control_table import CONTROL_TABLES, control_table

TABLES = list(CONTROL_TABLES.values())
FAMILIES = [
    control_table(name)
    for name in (
        *("mx28", "mx64", "mx106", "ax12a", "rx64", "ex106", "mx28_2", "mx106_2", "xl430_w250", "xm430_w350"),
        *("xh540_w270", "xw540_t260", "xl330", "xl320", "ph54_200_s500", "h54_200_s500_r", "ym070_210_r099"),
    )
]
each_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
each_family = pytest.mark.parametrize("table", FAMILIES, ids=lambda table: table.name)


def test_no_two_models_have_one_number():
    assert len({table.model_number for table in TABLES}) == len(TABLES)


@each_table
def test_registers_never_overlap(table):
    for before, after in zip(table.registers, table.registers[1:], strict=False):
        assert before.end <= after.address


@each_table
def test_initial_values_lie_in_their_range_and_fit_their_size(table):
    for register in table.registers:
        register.encode(register.low)
        register.encode(register.high)
        if register.initial is not None and register.writable and register.name != "secondary_id":
            assert register.low <= register.initial <= register.high


@each_table
def test_limits_name_registers_of_the_same_table(table):
    for register in table.registers:
        assert all(name in table for name in register.limits or ())


@each_table
def test_position_firmware_exists(table):
    assert table.position_firmware in FIRMWARES or table.law


@each_family
def test_si_round_trip_keeps_every_writable_count(table):
    for register in table.registers:
        low, high = max(register.low, -5000), min(register.high, 5000)
        zero_twice = {1 << register.unit.direction_bit} if register.unit.direction_bit else set()
        for count in set(range(low, high + 1, max((high - low) // 97, 1))) - zero_twice:
            assert register.from_si(register.to_si(count)) == count
            assert register.decode(register.encode(count)) == count


@pytest.mark.parametrize(
    ("name", "model_number", "protocol"),
    [("mx64", 310, 1), ("mx64_2", 311, 2), ("mx106", 320, 1), ("mx106_2", 321, 2), ("xl330", 1200, 2)],
)
def test_model_numbers_tell_servo_and_firmware_generation(name, model_number, protocol):
    table = CONTROL_TABLES.of_model(model_number)
    assert table is control_table(name)
    assert table.protocol == protocol


@pytest.mark.parametrize(
    ("name", "register", "address", "size"),
    [
        ("mx106", "torque_enable", 24, 1),
        ("mx106", "goal_position", 30, 2),
        ("mx106", "present_position", 36, 2),
        ("mx106", "present_current", 68, 2),
        ("mx64", "goal_acceleration", 73, 1),
        ("mx64_2", "current_limit", 38, 2),
        ("mx106_2", "present_position", 132, 4),
        ("mx106_2", "indirect_data_56", 661, 1),
        ("xl330", "bus_watchdog", 98, 1),
        ("xl330", "indirect_address_20", 206, 2),
        ("xl330", "present_temperature", 146, 1),
        ("ax12a", "goal_position", 30, 2),
        ("ex106", "sensed_current", 56, 2),
        ("xl320", "present_position", 37, 2),
        ("xl430_w250", "present_load", 126, 2),
        ("xm430_w350", "current_limit", 38, 2),
        ("xh540_w270", "external_port_data_3", 156, 2),
        ("xc330_m288", "pwm_slope", 62, 1),
        ("ph54_200_s500", "torque_enable", 512, 1),
        ("ph54_200_s500", "present_position", 580, 4),
        ("h54_200_s500_ra", "goal_position", 564, 4),
        ("h54_200_s500_r", "present_position", 611, 4),
        ("h54_200_s500_r", "status_return_level", 891, 1),
        ("ym070_210_r099", "torque_enable", 512, 1),
        ("ym070_210_r099", "min_position_limit", 84, 4),
    ],
)
def test_addresses_are_those_of_the_manual(name, register, address, size):
    row = control_table(name)[register]
    assert (row.address, row.size) == (address, size)


@pytest.mark.parametrize(
    ("name", "register", "count", "si"),
    [
        ("mx106", "present_position", 2048, 0.0),
        ("mx106", "present_position", 3072, math.pi / 2),
        ("mx106", "present_velocity", 300, 300 * 0.114 * math.pi / 30),
        ("mx106", "present_velocity", 1024 + 300, -300 * 0.114 * math.pi / 30),
        ("mx106", "present_load", 1024 + 1023, -1.0),
        ("mx106", "present_current", 2148, 0.45),
        ("mx106_2", "present_current", -100, -0.336),
        ("mx106_2", "present_pwm", 885, 1.0),
        ("mx106_2", "present_velocity", 100, 22.9 * math.pi / 30),
        ("xl330", "present_current", 250, 0.25),
        ("xl330", "present_input_voltage", 50, 5.0),
        ("xl330", "bus_watchdog", 10, 0.2),
        ("ax12a", "present_position", 512 + 256, math.radians(75.0)),
        ("ex106", "present_position", 2048 + 2047, math.radians(125.47)),
        ("xl430_w250", "present_load", -500, -0.5),
        ("xm430_w350", "present_current", 100, 0.269),
        ("xh430_v350", "present_current", 100, 0.134),
        ("ph54_200_s500", "present_position", 501923, math.pi),
        ("ph54_200_s500", "present_pwm", 2009, 1.0),
        ("h54_200_s500_r", "present_velocity", 17000, 17000 * 0.00199234 * math.pi / 30),
        ("ym070_210_r099", "present_position", 131072, math.pi / 2),
    ],
)
def test_counts_convert_to_si_as_in_the_manual(name, register, count, si):
    assert control_table(name)[register].to_si(count) == pytest.approx(si, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "rate", "value"),
    [("mx106", 1_000_000, 1), ("mx106", 57600, 34), ("mx106", 3_000_000, 252), ("xl330", 4_000_000, 6)],
)
def test_baud_rates_map_to_register_values(name, rate, value):
    table = control_table(name)
    assert table.baud_value(rate) == value
    assert table.baud_rate(value) == rate


def test_a_baud_rate_the_servo_lacks_is_refused_with_the_possible_ones():
    with pytest.raises(OutOfRange) as caught:
        control_table("xl330").baud_value(4_500_000)
    assert caught.value.value == 4_500_000
    assert "57600" in caught.value.expected


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(UnknownName) as caught:
        control_table("mx107")
    assert "mx106_2" in caught.value.valid
    with pytest.raises(UnknownName) as caught:
        control_table("mx106")["present_positon"]
    assert "present_position" in caught.value.valid


def test_span_covers_the_named_registers():
    assert control_table("mx106").span("present_position", "present_temperature") == (36, 8)
    assert control_table("xl330").span("present_pwm", "present_temperature") == (124, 23)
