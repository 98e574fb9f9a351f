# SPDX-License-Identifier: Apache-2.0
"""The page of registers has every register of every table, and the driver does what it has there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bam_ros.driver.servo_bus import Gains, ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.text.dynamixel_notices import TorqueOnAtStart, TorqueOnByGoal
from test.ros.ros_helpers import CALM, VirtualServos

MakeVirtual = Callable[..., VirtualServos]
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "dynamixel_registers.md"
ROLES = {"checked", "set", "restored", "commanded", "measured", "irrelevant"}


def roles() -> dict[str, str]:
    """Return the role of each register; numbered ones without their number."""
    rows = re.findall(r"^\| (`.*?) \| (\w+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"_\d+$", "", name): role for names, role in rows for name in re.findall(r"`(\w+)`", names)
    }


def test_every_register_of_every_table_has_a_role() -> None:
    known = roles()
    assert set(known.values()) == ROLES
    names = {re.sub(r"_\d+$", "", row.name) for table in CONTROL_TABLES.values() for row in table.registers}
    assert names == set(known)


@pytest.mark.parametrize("servo", ["mx64", "ax12a", "mx106_2", "xm430_w350", "xl320", "ph54_200_s500"])
def test_the_driver_writes_only_what_has_such_a_role(servo: str, virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo=servo)
    for register in (*virtual.servo.table.law_off, "return_delay_time"):
        virtual.set(register, 1)
    bus = DynamixelBus(DynamixelSettings(port=virtual.path, baud_rate=1_000_000, **CALM))  # type: ignore[arg-type]
    bus.open()
    known, table = roles(), virtual.servo.table
    if "position_p_gain" in table:
        bus.set_gains("joint", Gains(kp=20.0, ki=0.0, kd=0.0))
    bus.exchange(ServoGoal(torque_enable=(True,), position=(0.0,)))
    bus.close()
    written = {register for changes, _ in virtual.writes for register in changes}
    assert {known[re.sub(r"_\d+$", "", register)] for register in written} <= {"set", "restored", "commanded"}
    assert {register for register in table.law_off if known[register] != "restored"} == set()
    assert {"torque_enable", "goal_position", "return_delay_time", *table.law_off} <= written


@pytest.mark.parametrize(("configuration", "warned"), [(0, False), (1, True), (2, False)])
def test_torque_that_goes_on_by_itself_is_reported(
    configuration: int, warned: bool, virtual_servos: MakeVirtual
) -> None:
    virtual = virtual_servos(servo="xm430_w350")
    virtual.set("startup_configuration", configuration)
    bus = DynamixelBus(DynamixelSettings(port=virtual.path, baud_rate=1_000_000, **CALM))  # type: ignore[arg-type]
    bus.open()
    assert (TorqueOnAtStart(joint="joint") in bus.warnings) == warned
    bus.close()
    assert virtual.get("startup_configuration") == configuration


@pytest.mark.parametrize(("mode", "warned"), [(0, False), (8, True), (4, False), (12, True)])
def test_torque_that_goes_on_with_a_goal_is_reported(
    mode: int, warned: bool, virtual_servos: MakeVirtual
) -> None:
    virtual = virtual_servos(servo="xm430_w350")
    virtual.set("drive_mode", mode)
    bus = DynamixelBus(DynamixelSettings(port=virtual.path, baud_rate=1_000_000, **CALM))  # type: ignore[arg-type]
    bus.open()
    assert (TorqueOnByGoal(joint="joint") in bus.warnings) == warned
    bus.close()
    assert virtual.get("drive_mode") == mode
