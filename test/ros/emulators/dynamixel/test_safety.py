# SPDX-License-Identifier: Apache-2.0
"""How the firmware protects itself, on an explicit clock: watchdog, hardware errors, shutdown."""

from __future__ import annotations

import pytest

from bam_core.errors import Conflict, OutOfRange, UnknownName
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel import protocol2
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.packets import Complaint, Instruction, Packet
from bam_ros.emulators.dynamixel.servo import OVERLOAD_BIT, OVERLOAD_TIME, VOLTAGE_BIT
from test.ros.virtual_helpers import LOAD, Clock, make

POSITION, VELOCITY, CURRENT, PWM = 3, 1, 0, 16


@pytest.fixture
def modern() -> Clock:
    return Clock(make("mx106_2"))


@pytest.fixture
def old() -> Clock:
    return Clock(make("mx106"))


@pytest.mark.parametrize("mode", [POSITION, VELOCITY, PWM, CURRENT])
def test_the_watchdog_stops_the_servo_when_the_client_goes_silent(mode):
    clock = Clock(make("mx106_2", PendulumBench(mass=0.6, length=0.15)))
    goal = {POSITION: "goal_position", VELOCITY: "goal_velocity", PWM: "goal_pwm", CURRENT: "goal_current"}
    value = {POSITION: 3072, VELOCITY: 60, PWM: 300, CURRENT: 400}
    clock.write(operating_mode=mode)
    clock.write(torque_enable=1, bus_watchdog=10)
    clock.write(**{goal[mode]: value[mode]})
    clock.run(0.5)
    assert clock.read("bus_watchdog") == 10
    assert clock.servo.bench.state[physics.POSITION] > 0.3
    clock.run(0.19, heard=False)
    assert clock.servo.registers.get("bus_watchdog") == 10
    clock.run(0.02, heard=False)
    assert clock.servo.registers.get("bus_watchdog") == -1
    assert clock.read("present_pwm") == 0
    clock.run(20.0, heard=False)
    assert abs(clock.servo.bench.state[physics.VELOCITY]) < 0.01
    assert clock.read("torque_enable") == 1
    assert clock.refused(**{goal[mode]: value[mode]}) is Complaint.RANGE
    assert clock.refused(bus_watchdog=10) is Complaint.RANGE
    resting = clock.read("present_position")
    clock.write(bus_watchdog=0)
    clock.run(0.3)
    assert clock.read("present_position") == pytest.approx(resting, abs=60)  # no jump
    clock.write(**{goal[mode]: value[mode]})


def test_the_watchdog_counts_from_the_last_packet_however_late_anyone_looks():
    clock = Clock(make("xl330"))
    clock.write(torque_enable=1, bus_watchdog=5, goal_position=2600)
    clock.servo.update(1.5)  # nobody looked for 1.5 s
    assert clock.servo.registers.get("bus_watchdog") == -1
    assert clock.servo.bench.state[physics.POSITION] < 0.8


def test_any_packet_on_the_bus_feeds_the_watchdog():
    bus = build_bus(BusSetup(servo="xl330", ids=(1, 2), pendulum=LOAD), 0.0)
    first = bus.servos[0]
    for name, value in (("torque_enable", 1), ("bus_watchdog", 5)):
        register = first.table[name]
        first.write(register.address, register.encode(value), 0.0)
    ping = protocol2.encode_instruction(Packet(2, Instruction.PING, b""))
    for i in range(1, 30):
        bus.receive(ping, i * 0.05)
    assert first.registers.get("bus_watchdog") == 5


# hardware errors


@pytest.mark.parametrize(
    ("fault", "bit"),
    [("overheat", 0x04), ("overload", 0x20), ("undervoltage", 0x01), ("encoder", 0x08), ("shock", 0x10)],
)
def test_hardware_errors_shut_protocol_2_down_until_reboot(fault, bit):
    clock = Clock(make("xl330"))
    clock.write(shutdown=63)
    clock.write(torque_enable=1, goal_position=2200)
    clock.run(0.5)
    clock.servo.inject(fault)
    clock.run(0.3)
    assert clock.servo.registers.get("hardware_error_status") == bit
    assert clock.read("torque_enable") == 0
    assert clock.servo.bench.state[physics.CURRENT] == 0.0
    assert clock.answer(Instruction.PING).error == 0x80
    assert clock.refused(torque_enable=1) is Complaint.RESULT_FAIL
    clock.servo.repair()
    clock.run(0.1)
    assert clock.answer(Instruction.PING).error == 0x80
    assert clock.answer(Instruction.REBOOT).error == 0x00
    assert not clock.servo.awake(clock.now + 0.05)
    clock.run(0.2)
    assert clock.servo.awake(clock.now)
    assert clock.read("hardware_error_status") == 0
    clock.write(torque_enable=1)


def test_an_error_outside_the_shutdown_mask_only_alerts(modern):
    modern.write(shutdown=0)
    modern.write(torque_enable=1)
    modern.servo.inject("overheat")
    modern.run(0.1)
    assert modern.answer(Instruction.PING).error == 0x80
    assert modern.read("torque_enable") == 1


def test_hardware_errors_take_the_torque_of_protocol_1_until_the_limit_is_restored(old):
    old.write(torque_enable=1, goal_position=2600)
    old.run(0.5)
    old.servo.inject("overload")
    old.run(0.1)
    assert old.read("torque_limit") == 0
    assert old.servo.bench.state[physics.CURRENT] == 0.0
    assert old.answer(Instruction.PING).error == OVERLOAD_BIT
    old.servo.repair()
    old.write(torque_limit=1023)
    old.run(1.0)
    assert old.answer(Instruction.PING).error == 0
    assert old.read("present_position") == pytest.approx(2600, abs=80)


def test_a_voltage_error_of_protocol_1_ends_with_its_cause(old):
    old.servo.inject("undervoltage")
    old.run(0.1)
    assert old.answer(Instruction.PING).error == VOLTAGE_BIT
    assert old.read("torque_limit") == 1023  # not in the factory shutdown mask
    old.servo.repair()
    old.run(0.1)
    assert old.answer(Instruction.PING).error == 0


def test_a_load_that_cannot_be_lifted_ends_in_overload():
    clock = Clock(make("mx106", PendulumBench(mass=20.0, length=0.3)))
    clock.write(torque_enable=1, goal_position=3500)
    clock.run(OVERLOAD_TIME)
    assert clock.answer(Instruction.PING).error == 0
    clock.run(1.5)
    assert clock.answer(Instruction.PING).error == OVERLOAD_BIT


def test_work_warms_the_servo_up_to_its_limit():
    clock = Clock(make("mx106", PendulumBench(mass=20.0, length=0.3)))
    clock.write(temperature_limit=35, shutdown=0x04)
    clock.write(torque_enable=1, goal_position=3500)
    while clock.read("torque_limit") and clock.now < 300.0:
        clock.run(1.0)
    assert clock.servo.bench.temperature == pytest.approx(35.0, abs=1.0)


def test_unknown_faults_are_refused_with_the_valid_ones(modern):
    with pytest.raises(UnknownName) as caught:
        modern.servo.inject("overheet")
    assert "overheat" in caught.value.valid
    with pytest.raises(OutOfRange):
        build_bus(BusSetup(faults=("drop=2",)), 0.0)


def test_a_stalled_process_is_made_up_for_in_bounded_time(modern):
    modern.write(torque_enable=1, goal_position=2600)
    modern.servo.update(3600.0)
    assert modern.servo.bench.time == pytest.approx(3600.0, abs=1e-3)
    assert modern.servo.bench.state[k.TICKS] <= 2001


@pytest.mark.parametrize(
    ("setup", "kind"),
    [
        (BusSetup(servo="mx107"), UnknownName),
        (BusSetup(ids=(254,)), OutOfRange),
        (BusSetup(ids=(1, 1)), Conflict),
        (BusSetup(baud_rate=123), OutOfRange),
        (BusSetup(faults=("gremlins",)), UnknownName),
    ],
)
def test_a_bus_that_cannot_be_is_refused_in_one_line(setup, kind):
    with pytest.raises(kind) as caught:
        build_bus(setup, 0.0)
    assert "\n" not in str(caught.value)
