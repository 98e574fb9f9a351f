# SPDX-License-Identifier: Apache-2.0
"""One servo of every family is found, driven, restarted and left as it was, from its control table alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from bam_core.errors import BamError, OutOfRange, Unavailable, Unsupported
from bam_core.servo.families import family_of
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import Gains, ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.dynamixel.errors import NoMode
from bam_ros.dynamixel.settings import DynamixelSettings
from test.ros.ros_helpers import CALM, VirtualServos, wait_for

MakeVirtual = Callable[..., VirtualServos]
FAMILIES = (
    *("mx28", "ax12a", "rx64", "ex106", "mx28_2", "xl430_w250", "xm430_w350", "xh540_w270", "xw540_t260"),
    *("xc330_m288", "xl320", "ph54_200_s500", "h54_200_s500_ra", "h54_200_s500_r", "ym070_210_r099"),
)
LIGHT = PendulumBench(mass=0.05, length=0.05)
SETTINGS = {"port", "id", "goal_position", "return_delay_time"}
"""Registers that the driver leaves as it set them, or that the servo changes by itself."""


def opened(virtual: VirtualServos, **settings: object) -> DynamixelBus:
    given = {"port": virtual.path, "baud_rate": virtual.servo.baud_rate, **CALM, **settings}
    bus = DynamixelBus(DynamixelSettings(**given))  # type: ignore[arg-type]
    bus.open()
    return bus


def held(virtual: VirtualServos) -> dict[str, int]:
    rows = virtual.servo.table.registers
    return {row.name: virtual.get(row.name) for row in rows if row.writable and row.name not in SETTINGS}


@pytest.mark.parametrize("servo", FAMILIES)
def test_a_servo_follows_and_is_left_as_it_was(servo: str, virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo=servo, pendulum=LIGHT)
    for register in virtual.servo.table.law_off:  # somebody's: to be given back
        virtual.set(register, min(7, virtual.servo.table[register].high))
    before = held(virtual)
    bus = opened(virtual)
    assert bus.identities[0].servo == servo
    low, high = bus.position_limits[0]
    assert -math.pi - 0.01 < low < -2.1 < 2.1 < high < math.pi + 0.01
    start = bus.exchange(ServoGoal.released(1))
    assert start.position[0] == pytest.approx(0.0, abs=0.01)
    assert start.voltage[0] == pytest.approx(virtual.servo.bench.hidden.supply_voltage, abs=0.3)
    goal = ServoGoal(torque_enable=(True,), position=(0.3,))
    bus.exchange(ServoGoal(torque_enable=(True,), position=start.position))
    wait_for(lambda: abs(bus.exchange(goal).position[0] - 0.3) < 0.06, what="it follows")
    assert not any(virtual.get(register) for register in virtual.servo.table.law_off)
    assert not bus.exchange(ServoGoal.released(1)).torque_enabled[0]
    bus.close()
    assert held(virtual) == before


@pytest.mark.parametrize("servo", FAMILIES)
def test_an_error_is_reported_and_cleared_by_a_restart(servo: str, virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo=servo, pendulum=LIGHT)
    bus = opened(virtual)
    virtual.inject("overvoltage")
    expected = HardwareError.DRIVE if servo.startswith("ym") else HardwareError.INPUT_VOLTAGE
    wait_for(lambda: bus.exchange(ServoGoal.released(1)).hardware_error[0] == expected)
    virtual.repair()
    bus.reboot("joint")
    assert bus.exchange(ServoGoal.released(1)).hardware_error == (0,)
    bus.close()


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("servo", ["ax12a", "xm430_w350", "xl320", "ph54_200_s500", "h54_200_s500_r"])
def test_a_servo_that_was_set_to_answer_less_is_made_to_answer(
    servo: str, level: int, virtual_servos: MakeVirtual
) -> None:
    virtual = virtual_servos(servo=servo)
    virtual.set("status_return_level", level)
    bus = opened(virtual, answer_timeout=0.3)
    assert virtual.get("status_return_level") == 2
    bus.close()


def test_the_guardian_releases_servos_with_torque_at_different_addresses(
    virtual_servos: MakeVirtual,
) -> None:
    names = ("xm430_w350", "ph54_200_s500", "ax12a")
    virtual = virtual_servos(servo=",".join(names), ids=(1, 2, 3), pendulum=LIGHT)
    bus = opened(virtual, ids=(1, 2, 3), joints=names, guardian_silence=0.3)
    assert all(bus.exchange(ServoGoal(torque_enable=(True,) * 3, position=(0.0,) * 3)).torque_enabled)
    wait_for(lambda: not any(servo.registers.get("torque_enable") for servo in virtual.bus.servos))
    bus.close()


@pytest.mark.parametrize("servo", FAMILIES)
def test_gains_are_those_of_its_registers(servo: str, virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo=servo)
    bus, table = opened(virtual), CONTROL_TABLES[servo]
    if "position_p_gain" not in table:
        with pytest.raises(Unsupported):
            bus.set_gains("joint", Gains(kp=32.0, ki=0.0, kd=0.0))
    else:
        kp = float(table["position_p_gain"].initial or 0)
        assert bus.read_gains("joint").kp == kp
        assert bus.set_gains("joint", Gains(kp=kp + 1.0, ki=0.0, kd=0.0)).kp == kp + 1.0
    bus.close()


@pytest.mark.parametrize("servo", ["xm430_w350", "xl330", "mx28_2", "ph54_200_s500", "h54_200_s500_r"])
def test_a_servo_turns_more_than_once_where_that_is_asked_for(
    servo: str, virtual_servos: MakeVirtual
) -> None:
    virtual = virtual_servos(servo=servo, pendulum=PendulumBench(mass=0.001, length=0.01))
    bus = opened(virtual, multi_turn=True)
    low, high = bus.position_limits[0]
    assert low < -100.0 < 100.0 < high
    far = 2.0 * math.pi + 1.0
    bus.exchange(ServoGoal(torque_enable=(True,), position=(0.0,)))
    goal = ServoGoal(torque_enable=(True,), position=(far,))
    assert bus.exchange(goal).goal_position[0] == pytest.approx(far, abs=2e-3)
    wait_for(lambda: abs(bus.exchange(goal).position[0] - far) < 0.06, what="more than a turn")
    bus.close()


@pytest.mark.parametrize("servo", ["mx64", "ax12a", "xl320"])
def test_a_servo_that_cannot_count_turns_is_refused_for_it(servo: str, virtual_servos: MakeVirtual) -> None:
    with pytest.raises(Unsupported, match="multi_turn"):
        opened(virtual_servos(servo=servo), multi_turn=True)


@pytest.mark.parametrize("servo", ["ax12a", "xl320", "h54_200_s500_r"])
def test_a_servo_without_pwm_mode_is_refused_for_it(servo: str, virtual_servos: MakeVirtual) -> None:
    with pytest.raises(NoMode):
        opened(virtual_servos(servo=servo), command_kinds=(CommandKind.DUTY,))


@pytest.mark.parametrize("servo", ["ax12a", "ph54_200_s500", "h54_200_s500_r", "ym070_210_r099"])
def test_a_law_that_no_model_has_is_named(servo: str, virtual_servos: MakeVirtual) -> None:
    bus = opened(virtual_servos(servo=servo))
    assert CONTROL_TABLES[servo].law in bus.law_settings[0].unmodelled
    assert bus.law_settings[0].unmodelled in bus.warnings
    bus.close()


def test_servos_of_several_series_share_a_line(virtual_servos: MakeVirtual) -> None:
    names = ("ax12a", "mx28_2", "xm430_w350", "ph54_200_s500", "mx64")
    virtual = virtual_servos(servo=",".join(names), ids=(1, 2, 3, 4, 5), pendulum=LIGHT)
    bus = opened(virtual, ids=(1, 2, 3, 4, 5), joints=names)
    goals = (0.1, 0.2, 0.3, 0.4, 0.5)
    bus.exchange(ServoGoal(torque_enable=(True,) * 5, position=(0.0,) * 5))
    goal = ServoGoal(torque_enable=(True,) * 5, position=goals)
    assert bus.exchange(goal).goal_position == pytest.approx(goals, abs=0.01)
    wait_for(lambda: bus.exchange(goal).position == pytest.approx(goals, abs=0.06), what="all follow")
    bus.close()
    assert not any(servo.registers.get("torque_enable") for servo in virtual.bus.servos)


def test_a_model_of_its_own_file_is_driven(virtual_servos: MakeVirtual, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("mine: {like: xm430_w350, title: Mine, model_number: 4711}")
    virtual = virtual_servos(servo="xm430_w350", pendulum=LIGHT)
    virtual.set("model_number", 4711)
    with pytest.raises(Unsupported):
        opened(virtual)
    bus = opened(virtual, models=str(file))
    assert bus.identities[0].servo == "mine"
    bus.close()


def test_a_servo_that_answers_with_the_other_protocol_is_named(virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo="mx64")
    virtual.set("model_number", CONTROL_TABLES["xm430_w350"].model_number)  # its protocol_type is 1
    with pytest.raises(Unsupported, match="protocol_type"):
        opened(virtual)


def test_a_new_servo_of_a_known_series_has_the_factory_gain_of_its_control_table() -> None:
    """Those that the library has agree, too."""
    for name, table in CONTROL_TABLES.items():
        if "position_p_gain" not in table:
            continue
        gain = table["position_p_gain"].initial
        if (family := family_of(name)) is not None:
            assert (name, family.factory_kp) == (name, gain)
        if name in servo_names():
            assert (name, load_servo(name).firmware.factory_kp) == (name, gain)


def test_a_servo_follows_positions_with_no_more_than_a_current(virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo="xm430_w350", pendulum=PendulumBench(mass=1.0, length=0.15))
    before = held(virtual)
    bus = opened(virtual, current_limit=0.2)
    assert virtual.get("operating_mode") == 5
    assert virtual.get("goal_current") == round(0.2 / 2.69e-3)
    assert "current-based" in bus.law_settings[0].unmodelled
    lifted = bus.exchange(ServoGoal(torque_enable=(True,), position=(0.0,)))
    currents = []

    def sags() -> bool:
        nonlocal lifted
        lifted = bus.exchange(ServoGoal(torque_enable=(True,), position=(1.5,)))
        currents.append(abs(lifted.current[0]))
        return max(currents) > 0.15

    wait_for(sags)
    assert max(currents) < 0.21
    assert lifted.position[0] < 1.4  # 1.5 N·m at 90 degrees would take more
    virtual.set("goal_current", 400)  # another program
    errors: list[str] = []

    def noticed() -> bool:
        try:
            bus.exchange(ServoGoal(torque_enable=(True,), position=(1.5,)))
        except Unavailable as error:
            errors.append(error.problem)
        return bool(errors)

    wait_for(noticed)
    assert "current limit" in errors[0]
    bus.close()
    assert virtual.get("goal_current") == before["goal_current"]
    positions = opened(virtual)
    assert virtual.get("operating_mode") == 3
    assert positions.law_settings[0].unmodelled == ""
    positions.close()


@pytest.mark.parametrize(
    ("servo", "limit", "error"),
    [
        ("mx28_2", 0.2, Unsupported),
        ("xl320", 0.2, Unsupported),
        ("ax12a", 0.2, Unsupported),
        ("xm430_w350", 5.0, OutOfRange),
        ("xm430_w350", 0.001, OutOfRange),
    ],
)
def test_a_current_that_a_servo_cannot_be_limited_to_is_refused(
    servo: str, limit: float, error: type[BamError], virtual_servos: MakeVirtual
) -> None:
    virtual = virtual_servos(servo=servo)
    with pytest.raises(error, match="current"):
        opened(virtual, current_limit=limit)
    assert virtual.get("torque_enable") == 0


@pytest.mark.parametrize("servo", CONTROL_TABLES)
def test_every_model_takes_a_goal_and_lets_go(servo: str, virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo=servo, pendulum=LIGHT)
    bus = opened(virtual)
    assert bus.identities[0].servo == servo
    here = bus.exchange(ServoGoal.released(1)).position
    bus.exchange(ServoGoal(torque_enable=(True,), position=here))
    bus.exchange(ServoGoal(torque_enable=(True,), position=(0.1,)))
    row = virtual.servo.table["goal_position"]
    assert row.to_si(virtual.get("goal_position")) == pytest.approx(0.1, abs=row.unit.scale)
    assert virtual.get("torque_enable") == 1
    bus.exchange(ServoGoal.released(1))
    assert virtual.get("torque_enable") == 0
    bus.close()
