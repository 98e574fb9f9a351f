# SPDX-License-Identifier: Apache-2.0
"""Which registers clients may write, of every servo that is known, and what values they may give them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

import pytest

from bam_core.errors import BamError, Conflict, OutOfRange, UnknownName, Unsupported
from bam_ros.driver.servo_bus import RegisterValue, ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable
from bam_ros.dynamixel.register_access import count_of, require_free
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.feetech.control_table import CONTROL_TABLES as FEETECH_TABLES
from test.core.refusals import refused
from test.ros.ros_helpers import CALM, VirtualServos

HARMLESS = {
    *("led", "led_red", "led_green", "led_blue", "alarm_led", "led_alarm_condition"),
    *("external_port_mode", "external_port_data", "moving_threshold"),
}
TABLES = [*CONTROL_TABLES.values(), *FEETECH_TABLES.values()]
XM = CONTROL_TABLES["xm540_w270"]


def free(table: ControlTable) -> set[str]:
    """Registers of a servo that clients may write, without their numbers."""
    names = set()
    for register in table.registers:
        try:
            require_free("hip", table, register)
        except Unsupported:
            continue
        names.add(re.sub(r"_\d+$", "", register.name))
    return names


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_only_registers_on_which_nothing_depends_are_free(table: ControlTable) -> None:
    """Velocity gains are part of the law of positions where that is a cascade, and no model has it."""
    gains = {"velocity_p_gain", "velocity_i_gain"} if table.position_firmware else set()
    assert free(table) <= HARMLESS | gains
    assert not free(table) & {*table.law_off, *table.position_mode}


def test_what_is_free_is_free_of_some_servo() -> None:
    assert set().union(*map(free, TABLES)) == {*HARMLESS, "velocity_p_gain", "velocity_i_gain"}
    assert "velocity_p_gain" not in free(CONTROL_TABLES["ph54_200_s500"])


@pytest.mark.parametrize(
    ("register", "advice"),
    [
        ("torque_enable", "set_torque"),
        ("position_p_gain", "set_gains"),
        ("goal_position", "joint_command"),
        ("goal_current", "joint_command"),
        ("id", "maker"),
        ("baud_rate", "maker"),
        ("secondary_id", "maker"),
        ("status_return_level", "maker"),
        ("protocol_type", "maker"),
        ("bus_watchdog", "maker"),
        ("indirect_address_1", "maker"),
        ("indirect_data_1", "maker"),
        ("operating_mode", "parameters"),
        ("drive_mode", "parameters"),
        ("homing_offset", "parameters"),
        ("max_position_limit", "parameters"),
        ("current_limit", "parameters"),
        ("temperature_limit", "parameters"),
        ("shutdown", "parameters"),
        ("startup_configuration", "parameters"),
        ("profile_velocity", "parameters"),
        ("present_position", "read it"),
    ],
)
def test_a_register_that_decides_about_something_is_refused_with_what_to_do(
    register: str, advice: str
) -> None:
    with refused(Unsupported, thing=f"register {register} of hip") as caught:
        require_free("hip", XM, XM[register])
    assert advice in caught.value.advice


def test_a_value_is_a_count_or_in_the_unit_of_its_register() -> None:
    threshold = XM["moving_threshold"]
    for value, unit, count in ((10.0, "", 10), (10.0, "-", 10), (threshold.to_si(7), "rad/s", 7)):
        assert count_of("hip", threshold, value, unit) == count
    between = 7.4 * threshold.unit.scale
    assert count_of("hip", threshold, between, "rad/s") == 7


@pytest.mark.parametrize("value", [-1.0, 1024.0, 1.5, math.nan, math.inf, 1e300])
def test_a_count_that_a_register_cannot_hold_is_refused(value: float) -> None:
    with refused(OutOfRange, thing="register moving_threshold of hip"):
        count_of("hip", XM["moving_threshold"], value, "")


@pytest.mark.parametrize("value", [-0.1, 25.0, math.nan, math.inf, -math.inf])
def test_a_value_beyond_the_range_of_a_register_is_not_cut_off(value: float) -> None:
    with refused(OutOfRange, thing="register moving_threshold of hip"):
        count_of("hip", XM["moving_threshold"], value, "rad/s")


def test_a_unit_that_a_register_does_not_have_is_refused() -> None:
    with refused(UnknownName, name="rad", valid=("-", "rad/s")):
        count_of("hip", XM["moving_threshold"], 1.0, "rad")
    with refused(UnknownName, name="rad", valid=("-",)):
        count_of("hip", XM["led"], 1.0, "rad")


@pytest.mark.parametrize("name", ["scs0009", "sts3215"])
def test_a_value_with_a_direction_bit_is_its_magnitude_and_no_more(name: str) -> None:
    goal = FEETECH_TABLES[name]["goal_velocity"]
    assert count_of("hip", goal, goal.to_si(0x8000 | 5), "rad/s") == 0x8000 | 5
    with refused(OutOfRange, thing="register goal_velocity of hip"):
        count_of("hip", goal, -0x8000 * goal.unit.scale, "rad/s")


@pytest.fixture
def opened(virtual_servos: Callable[..., VirtualServos]) -> Iterator[tuple[VirtualServos, DynamixelBus]]:
    virtual = virtual_servos(servo="xm430_w350")
    bus = DynamixelBus(DynamixelSettings(port=virtual.path, baud_rate=1_000_000, **CALM))  # type: ignore[arg-type]
    bus.open()
    yield virtual, bus
    bus.close()


def test_registers_are_read_and_written_while_torque_is_on(
    opened: tuple[VirtualServos, DynamixelBus],
) -> None:
    virtual, bus = opened
    bus.exchange(ServoGoal(torque_enable=(True,), position=(0.0,)))
    held = bus.read_register("joint", "present_input_voltage")
    assert (held.unit, held.value) == (
        "V",
        pytest.approx(0.1 * virtual.get("present_input_voltage"), abs=0.2),
    )
    assert bus.write_register("joint", "led", 1.0) == (1, RegisterValue(count=1, value=1.0))
    assert virtual.get("led") == 1
    assert virtual.get("torque_enable") == 1


def test_the_eeprom_is_written_with_torque_off_alone(opened: tuple[VirtualServos, DynamixelBus]) -> None:
    virtual, bus = opened
    bus.exchange(ServoGoal(torque_enable=(True,), position=(0.0,)))
    before = virtual.get("moving_threshold")
    with refused(Conflict, thing="register moving_threshold of joint"):
        bus.write_register("joint", "moving_threshold", 7.0)
    assert virtual.get("moving_threshold") == before
    bus.exchange(ServoGoal.released(1))
    unit = virtual.servo.table["moving_threshold"].unit
    count, held = bus.write_register("joint", "moving_threshold", 7.0 * unit.scale, "rad/s")
    assert (count, held.count, virtual.get("moving_threshold")) == (7, 7, 7)


def test_nothing_is_written_where_something_is_refused(opened: tuple[VirtualServos, DynamixelBus]) -> None:
    virtual, bus = opened
    writes = len(virtual.writes)
    errors: list[BamError] = []
    for name, register, value, unit in (
        ("elbow", "led", 1.0, ""),
        ("joint", "ledd", 1.0, ""),
        ("joint", "id", 2.0, ""),
        ("joint", "torque_enable", 1.0, ""),
        ("joint", "led", 2.0, ""),
        ("joint", "led", 1.0, "rad"),
    ):
        with pytest.raises(BamError) as caught:
            bus.write_register(name, register, value, unit)
        errors.append(caught.value)
    assert len(virtual.writes) == writes
    unknown = errors[1]
    assert isinstance(unknown, UnknownName)
    assert unknown.closest == "led"
