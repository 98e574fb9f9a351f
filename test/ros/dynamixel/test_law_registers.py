# SPDX-License-Identifier: Apache-2.0
"""Registers that change a servo's control law: set while a driver is at work, told, and put back after it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping

import pytest

from bam_core.errors import Conflict
from bam_ros.driver.servo_bus import Gains, LawSettings, ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.text.dynamixel_notices import DutyLimited
from test.ros.ros_helpers import CALM, VirtualServos, wait_for

MakeVirtual = Callable[..., VirtualServos]

LAW = {
    1: {"goal_velocity": 200, "goal_acceleration": 5, "punch": 30},
    2: {
        "profile_velocity": 100,
        "profile_acceleration": 20,
        "feedforward_1st_gain": 400,
        "feedforward_2nd_gain": 300,
    },
}
GAINS = {"position_p_gain": 99, "position_i_gain": 7, "position_d_gain": 5}
SERVOS = ("mx64", "mx64_2", "mx106", "mx106_2", "xl330", "xm430_w350", "xl430_w250")


@pytest.fixture
def make_bus() -> Iterator[Callable[..., DynamixelBus]]:
    buses: list[DynamixelBus] = []

    def make(virtual: VirtualServos, **settings: object) -> DynamixelBus:
        settings = {"port": virtual.path, "baud_rate": virtual.servo.baud_rate, **CALM} | settings
        buses.append(DynamixelBus(DynamixelSettings(**settings)))  # type: ignore[arg-type]
        return buses[-1]

    yield make
    for bus in buses:
        bus.close()


def tamper(virtual: VirtualServos, registers: Mapping[str, int]) -> None:
    for name, count in registers.items():
        virtual.set(name, count)


def held(virtual: VirtualServos, registers: Mapping[str, int]) -> dict[str, int]:
    return {name: virtual.get(name) for name in registers}


def two_units(virtual: VirtualServos, register: str) -> list[int]:
    return [servo.registers.get(register) for servo in virtual.bus.servos]


@pytest.mark.parametrize("servo", SERVOS)
def test_they_are_off_while_a_driver_is_at_work_and_put_back(
    servo: str, virtual_servos: MakeVirtual, make_bus: Callable[..., DynamixelBus]
) -> None:
    virtual = virtual_servos(servo=servo)
    before = LAW[virtual.servo.table.protocol] | GAINS
    tamper(virtual, before)
    bus = make_bus(virtual)
    bus.open()
    off = LAW[virtual.servo.table.protocol]
    assert held(virtual, off) == dict.fromkeys(off, 0)
    bus.set_gains("joint", Gains(kp=32, ki=0, kd=0))
    assert held(virtual, GAINS) == {"position_p_gain": 32, "position_i_gain": 0, "position_d_gain": 0}
    bus.close()
    assert held(virtual, before) == before
    assert virtual.get("torque_enable") == 0


def test_each_of_two_servos_gets_its_own_back(
    virtual_servos: MakeVirtual, make_bus: Callable[..., DynamixelBus]
) -> None:
    virtual = virtual_servos(servo="xl330", ids=(1, 2))
    first, second = virtual.bus.servos
    first.registers.set("feedforward_1st_gain", 100)
    second.registers.set("feedforward_1st_gain", 200)
    bus = make_bus(virtual, joints=("a", "b"), ids=(1, 2))
    bus.open()
    assert two_units(virtual, "feedforward_1st_gain") == [0, 0]
    bus.set_gains("b", Gains(kp=100, ki=0, kd=0))
    bus.close()
    assert two_units(virtual, "feedforward_1st_gain") == [100, 200]
    assert two_units(virtual, "position_p_gain") == [400, 400]


def test_what_a_driver_wrote_before_its_port_vanished_is_not_taken_for_the_users(
    virtual_servos: MakeVirtual, make_bus: Callable[..., DynamixelBus]
) -> None:
    virtual = virtual_servos(servo="xl330")
    tamper(virtual, {"feedforward_1st_gain": 100, "position_p_gain": 77})
    bus = make_bus(virtual)
    bus.open()
    bus.set_gains("joint", Gains(kp=200, ki=0, kd=0))
    assert bus._port is not None
    bus._port.closePort()  # as an adapter that was unplugged: nothing can be written any more
    bus.close()
    assert held(virtual, {"feedforward_1st_gain": 0, "position_p_gain": 0}) == {
        "feedforward_1st_gain": 0,
        "position_p_gain": 200,
    }
    bus.open()
    bus.close()
    assert virtual.get("feedforward_1st_gain") == 100
    assert virtual.get("position_p_gain") == 77


def test_they_are_put_back_after_an_opening_that_failed(
    virtual_servos: MakeVirtual, make_bus: Callable[..., DynamixelBus]
) -> None:
    virtual = virtual_servos(servo="xl330")
    tamper(virtual, {"feedforward_1st_gain": 100, "pwm_limit": 0})
    with pytest.raises(Conflict, match="pwm_limit") as caught:
        make_bus(virtual).open()
    assert caught.value.thing == "joint"
    assert virtual.get("feedforward_1st_gain") == 100


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_they_are_put_back_when_a_signal_ends_the_driver(
    number: signal.Signals, virtual_servos: MakeVirtual, ros_domain: int
) -> None:
    virtual = virtual_servos(servo="xl330")
    tamper(virtual, {"feedforward_1st_gain": 100, "profile_velocity": 50})
    command = [sys.executable, "-m", "bam_ros.dynamixel.node", "--ros-args", "-p", f"port:={virtual.path}"]
    with subprocess.Popen(command) as driver:
        try:
            wait_for(lambda: virtual.get("feedforward_1st_gain") == 0, 60.0, "the driver to set up its servo")
            wait_for(lambda: virtual.get("profile_velocity") == 0, 60.0)
            driver.send_signal(number)
            assert driver.wait(60.0) == 0
        finally:
            driver.kill()
    assert virtual.get("feedforward_1st_gain") == 100
    assert virtual.get("profile_velocity") == 50


@pytest.mark.parametrize(
    ("servo", "registers", "duty"),
    [
        ("xl330", {}, 1.0),
        ("xl330", {"pwm_limit": 442}, 442 / 885),
        ("mx64_2", {"goal_pwm": 300}, 300 / 885),
        ("mx64_2", {"goal_pwm": -300}, 300 / 885),
        ("mx64_2", {"goal_pwm": 0}, 1.0),
        ("mx106", {}, 0.9625),
        ("mx106", {"max_torque": 512}, 0.9625 * 512 / 1023),
        ("mx64", {"torque_limit": 300}, 0.9625 * 300 / 1023),
        ("mx64", {"torque_limit": 0, "max_torque": 700}, 0.9625 * 700 / 1023),
    ],
)
def test_a_limit_that_protects_a_servo_is_told_and_never_raised(
    servo: str,
    registers: dict[str, int],
    duty: float,
    virtual_servos: MakeVirtual,
    make_bus: Callable[..., DynamixelBus],
) -> None:
    virtual = virtual_servos(servo=servo)
    tamper(virtual, registers)
    bus = make_bus(virtual)
    assert bus.law_settings == (LawSettings(),)
    bus.open()
    assert bus.law_settings[0].demand_limit == pytest.approx(duty)
    bus.exchange(ServoGoal(torque_enable=(True,), position=(0.0,)))
    limits = {name for name in ("pwm_limit", "max_torque") if name in registers}
    assert held(virtual, dict.fromkeys(limits, 0)) == {name: registers[name] for name in limits}
    assert virtual.servo.bench.commands[k.DUTY_LIMIT] == pytest.approx(duty)
    own = 0.9625 if virtual.servo.table.protocol == 1 else 1.0
    limited = [warning for warning in bus.warnings if isinstance(warning, DutyLimited)]
    assert len(limited) == (duty < own)
    for warning in limited:
        assert (warning.joint, warning.duty, warning.own) == ("joint", pytest.approx(duty), own)
        assert limits <= set(warning.registers)


@pytest.mark.parametrize("register", ["max_torque", "torque_limit"])
def test_a_torque_limit_survives_an_overload(
    register: str, virtual_servos: MakeVirtual, make_bus: Callable[..., DynamixelBus]
) -> None:
    virtual = virtual_servos(servo="mx64")
    virtual.set(register, 600)
    bus = make_bus(virtual)
    bus.open()
    virtual.inject("overload")
    wait_for(lambda: virtual.get("torque_limit") == 0, 10.0)
    virtual.repair()
    bus.reboot("joint")
    assert virtual.get("torque_limit") == 600


def test_a_limit_that_a_reboot_ends_is_told_no_longer(
    virtual_servos: MakeVirtual, make_bus: Callable[..., DynamixelBus]
) -> None:
    virtual = virtual_servos(servo="xl330")
    tamper(virtual, {"goal_pwm": 300, "feedforward_1st_gain": 50})
    bus = make_bus(virtual)
    bus.open()
    assert bus.law_settings[0].demand_limit == pytest.approx(300 / 885)
    bus.reboot("joint")
    assert bus.law_settings[0].demand_limit == 1.0
    assert virtual.get("feedforward_1st_gain") == 0


@pytest.mark.parametrize(
    ("servo", "register", "count", "line"),
    [
        ("mx106", "drive_mode", 1, "reverse mode"),
        ("mx106", "drive_mode", 2, "slave of another servo"),
        ("mx106_2", "drive_mode", 2, "slave of another servo"),
        ("xl330", "drive_mode", 1, "reverse mode"),
        ("xl330", "pwm_slope", 20, r"pwm_slope is 20 \(expected 140"),
    ],
)
def test_what_no_model_has_is_told_and_left_alone(
    servo: str,
    register: str,
    count: int,
    line: str,
    virtual_servos: MakeVirtual,
    make_bus: Callable[..., DynamixelBus],
) -> None:
    virtual = virtual_servos(servo=servo)
    virtual.set(register, count)
    bus = make_bus(virtual)
    bus.open()
    assert re.search(line, bus.law_settings[0].unmodelled)
    assert bus.law_settings[0].unmodelled in bus.warnings
    assert virtual.get(register) == count


@pytest.mark.parametrize("servo", ["xl330", "mx106_2", "mx106"])
def test_settings_that_do_not_touch_the_law_are_nobodys_business(
    servo: str, virtual_servos: MakeVirtual, make_bus: Callable[..., DynamixelBus]
) -> None:
    virtual = virtual_servos(servo=servo)
    if virtual.servo.table.protocol == 2:
        virtual.set("drive_mode", 4)  # profiles based on time: there is none while they are 0
    bus = make_bus(virtual)
    bus.open()
    assert bus.law_settings[0].unmodelled == ""
    assert not [warning for warning in bus.warnings if str(warning).startswith("joint")]
