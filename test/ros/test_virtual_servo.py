# SPDX-License-Identifier: Apache-2.0
"""What the firmware does with its registers, on an explicit clock: modes, limits, errors, watchdog."""

from __future__ import annotations

import math

import pytest
from virtual_helpers import LOAD

from bam_core.errors import BamError
from bam_core.pendulum import PendulumBench
from bam_ros.dynamixel.virtual import bench_kernel as k
from bam_ros.dynamixel.virtual import protocol2
from bam_ros.dynamixel.virtual.builder import BusSetup, build_bus, build_servo
from bam_ros.dynamixel.virtual.packets import Complaint, Instruction, Packet, Refused
from bam_ros.dynamixel.virtual.servo import OVERLOAD_BIT, OVERLOAD_TIME, VOLTAGE_BIT, VirtualServo

POSITION, VELOCITY, CURRENT, PWM, EXTENDED, CURRENT_POSITION = 3, 1, 0, 16, 4, 5


def make(name: str = "mx106_2", load: PendulumBench = LOAD, seed: int = 0) -> VirtualServo:
    return build_servo(BusSetup(servo=name, pendulum=load, seed=seed), 0, 0.0)


LIGHT = PendulumBench(mass=0.05, length=0.1)


class Clock:
    """A servo and its time; `heard` as if a client talked all the while."""

    def __init__(self, servo: VirtualServo) -> None:
        self.servo = servo
        self.now = 0.0

    def run(self, seconds: float, heard: bool = True) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + 0.01, end)
            self.servo.update(self.now)
            if heard:
                self.servo.heard(self.now)

    def write(self, **values: int) -> None:
        for name, value in values.items():
            register = self.servo.table[name]
            self.servo.write(register.address, register.encode(value), self.now)

    def refused(self, **values: int) -> Complaint:
        with pytest.raises(Refused) as caught:
            self.write(**values)
        return caught.value.complaint

    def read(self, name: str) -> int:
        register = self.servo.table[name]
        return register.decode(self.servo.read(register.address, register.size, self.now))

    def si(self, name: str) -> float:
        return self.servo.table[name].to_si(self.read(name))

    def answer(self, instruction: Instruction, parameters: bytes = b""):
        return self.servo.answer(Packet(self.servo.id, instruction, parameters), self.now)


@pytest.fixture(params=["mx64", "mx106", "mx64_2", "mx106_2", "xl330"])
def clock(request) -> Clock:
    return Clock(make(request.param, LIGHT))


@pytest.fixture
def modern() -> Clock:
    return Clock(make("mx106_2"))


@pytest.fixture
def old() -> Clock:
    return Clock(make("mx106"))


# control


def test_without_torque_a_goal_moves_nothing(clock):
    clock.write(goal_position=3000)
    clock.run(0.5)
    assert clock.read("present_position") == 2048


def test_with_torque_the_servo_goes_to_its_goal(clock):
    clock.write(torque_enable=1, goal_position=2600)
    clock.run(1.5)
    assert clock.read("present_position") == pytest.approx(2600, abs=80)
    assert clock.read("moving") == 0


def test_present_registers_tell_what_the_bench_does(clock):
    clock.write(torque_enable=1, goal_position=3072)
    clock.run(0.12)
    state = clock.servo.bench.state
    assert clock.si("present_position") == pytest.approx(state[k.POSITION], abs=math.pi / 4096 + 1e-9)
    assert clock.si("present_velocity") == pytest.approx(state[k.MEASURED_VELOCITY], abs=0.013)
    assert clock.si("present_current") == pytest.approx(state[k.CURRENT], abs=0.003)
    assert clock.si("present_input_voltage") == pytest.approx(state[k.SUPPLY], abs=0.051)
    assert clock.si("present_temperature") == pytest.approx(state[k.TEMPERATURE], abs=0.51)
    duty = "present_load" if clock.servo.table.protocol == 1 else "present_pwm"
    assert clock.si(duty) == pytest.approx(state[k.DUTY], abs=1e-3)
    assert clock.si("present_velocity") > 0.3
    assert clock.read("moving") == 1
    assert clock.read("realtime_tick") == 120


def test_release_lets_the_arm_fall(clock):
    clock.write(torque_enable=1, goal_position=3072)
    clock.run(1.5)
    clock.write(torque_enable=0)
    clock.run(0.01)
    assert clock.read("present_current") == (2048 if clock.servo.table.protocol == 1 else 0)
    clock.servo.bench.place(3.0, -2.0)
    clock.run(10.0)
    assert abs(clock.servo.bench.state[k.VELOCITY]) < 5.0
    assert clock.servo.bench.energy < LIGHT.gravity_torque * 2


@pytest.mark.parametrize(
    ("name", "gain", "mass"), [("mx106", 60, 2), ("mx106_2", 800, 2), ("xl330", 800, 0.2)]
)
def test_integral_gain_removes_the_error_that_gravity_leaves(name, gain, mass):
    errors = []
    for integral in (0, gain):
        clock = Clock(make(name, PendulumBench(mass=mass, length=0.15)))
        clock.write(position_i_gain=integral, torque_enable=1, goal_position=2900)
        clock.run(6.0)
        errors.append(abs(2900 - clock.read("present_position")))
    assert errors[0] > 10
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize(("name", "speed"), [("mx106", 40), ("mx106_2", 20), ("xl330", 20)])
def test_a_profile_limits_the_velocity(name, speed):
    clock = Clock(make(name, LIGHT))
    profile = "goal_velocity" if name == "mx106" else "profile_velocity"
    clock.write(torque_enable=1)
    clock.write(**{profile: speed, "goal_position": 3072})
    limit = clock.servo.table["goal_velocity"].to_si(speed)
    start = clock.si("present_position")
    clock.run(1.0)
    assert clock.si("present_position") - start == pytest.approx(limit, rel=0.2)


def test_a_time_based_profile_takes_its_time(modern):
    modern.write(drive_mode=4)
    modern.write(torque_enable=1)
    modern.write(profile_velocity=2000, profile_acceleration=500, goal_position=3072)
    modern.run(1.0)
    assert modern.read("position_trajectory") == pytest.approx(2560, abs=8)
    modern.run(1.05)
    assert modern.read("position_trajectory") == 3072


def test_velocity_mode_turns_at_the_goal_velocity(modern):
    modern.servo.bench.hang(PendulumBench(mass=0.0, length=0.1))
    modern.write(operating_mode=VELOCITY)
    modern.write(torque_enable=1, goal_velocity=100)
    modern.run(3.0)
    assert modern.read("present_velocity") == pytest.approx(100, abs=8)
    modern.write(goal_velocity=-100)
    modern.run(3.0)
    assert modern.read("present_velocity") == pytest.approx(-100, abs=8)


def test_wheel_mode_turns_by_the_direction_bit(old):
    old.servo.bench.hang(PendulumBench(mass=0.0, length=0.1))
    old.write(min_position_limit=0, max_position_limit=0)
    old.write(torque_enable=1, goal_velocity=1024 + 200)
    old.run(3.0)
    assert old.read("present_velocity") - 1024 == pytest.approx(200, abs=16)
    assert 0 <= old.read("present_position") <= 4095


def test_pwm_mode_applies_the_duty(modern):
    modern.write(operating_mode=PWM)
    modern.write(torque_enable=1, goal_pwm=-177)
    modern.run(0.05)
    assert modern.read("present_pwm") == -177
    assert modern.refused(goal_pwm=886) is Complaint.LIMIT


@pytest.mark.parametrize(("name", "goal"), [("mx106_2", 300), ("xl330", 200)])
def test_current_mode_holds_the_current(name, goal):
    clock = Clock(make(name, PendulumBench(mass=8.0, length=0.2)))
    clock.write(operating_mode=CURRENT)
    clock.write(torque_enable=1, goal_current=goal)
    clock.run(3.0)
    assert clock.read("present_current") == pytest.approx(goal, rel=0.05)


def test_torque_mode_of_protocol_1_holds_the_current():
    clock = Clock(make("mx106", PendulumBench(mass=8.0, length=0.2)))
    clock.write(torque_enable=1, torque_control_mode_enable=1, goal_current=1024 + 200)
    clock.run(3.0)
    assert clock.si("present_current") == pytest.approx(-0.9, rel=0.05)


def test_current_based_position_limits_the_current():
    clock = Clock(make("mx106_2", PendulumBench(mass=8.0, length=0.2)))
    clock.write(operating_mode=CURRENT_POSITION)
    clock.write(torque_enable=1, goal_current=100, goal_position=3072)
    clock.run(1.0)
    assert clock.read("present_current") == pytest.approx(100, abs=4)


def test_torque_limit_bounds_the_duty_of_protocol_1(old):
    old.write(torque_limit=102)
    old.write(torque_enable=1, goal_position=4000)
    old.run(0.1)
    assert old.si("present_load") == pytest.approx(102 / 1023 * 0.9625, abs=2e-3)


def test_turns_are_counted_in_extended_mode_and_forgotten_by_clear(modern):
    modern.write(operating_mode=EXTENDED)
    modern.servo.bench.place(2 * 2 * math.pi + 0.5)
    modern.run(0.5)
    modern.servo.bench.place(2 * 2 * math.pi)
    assert modern.read("present_position") == 2048 + 2 * 4096
    clear = b"\x01\x44\x58\x4c\x22"
    modern.run(0.1)
    assert modern.answer(Instruction.CLEAR, clear).error == 0
    assert modern.read("present_position") == 2048
    modern.servo.bench.place(0.0, 3.0)
    modern.run(0.05)
    assert modern.answer(Instruction.CLEAR, clear).error == 0x01  # in motion


def test_multi_turn_mode_goes_beyond_one_turn(old):
    old.servo.bench.hang(PendulumBench(mass=0.0, length=0.1))
    old.write(min_position_limit=4095, max_position_limit=4095)
    old.write(torque_enable=1, goal_position=2048 + 8192)
    old.run(5.0)
    assert old.read("present_position") == pytest.approx(2048 + 8192, abs=30)


def test_reverse_mode_mirrors_the_registers(modern):
    modern.write(drive_mode=1)
    modern.write(torque_enable=1, goal_position=2600)
    modern.run(1.5)
    assert modern.read("present_position") == pytest.approx(2600, abs=80)
    assert modern.servo.bench.state[k.POSITION] < -0.6


def test_homing_offset_shifts_the_position(modern):
    modern.write(homing_offset=100)
    assert modern.read("present_position") == 2148


def test_torque_on_goes_to_the_goal_that_is_stored(modern):
    modern.write(goal_position=2600)
    modern.write(torque_enable=1)
    modern.run(1.5)
    assert modern.read("present_position") == pytest.approx(2600, abs=80)


def test_another_operating_mode_resets_gains(modern):
    modern.write(position_p_gain=100, profile_velocity=5)
    modern.write(operating_mode=EXTENDED)
    assert modern.read("position_p_gain") == 850
    assert modern.read("profile_velocity") == 0
    assert modern.refused(operating_mode=2) is Complaint.RANGE


def test_secondary_id_is_obeyed_without_an_answer(modern):
    modern.write(secondary_id=40)
    led = modern.servo.table["led"].address.to_bytes(2, "little") + b"\x01"
    assert modern.servo.listens_to(40)
    assert modern.servo.answer(Packet(40, Instruction.WRITE, led), 0.0) is None
    assert modern.read("led") == 1


def test_lock_of_protocol_1_holds_until_power_goes(old):
    old.write(lock=1)
    assert old.refused(temperature_limit=60) is Complaint.ACCESS
    assert old.refused(lock=0) is Complaint.RANGE
    old.servo.power_on(old.now)
    old.write(temperature_limit=60)


# bus watchdog


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
    assert clock.servo.bench.state[k.POSITION] > 0.3
    clock.run(0.19, heard=False)
    assert clock.servo.registers.get("bus_watchdog") == 10
    clock.run(0.02, heard=False)
    assert clock.servo.registers.get("bus_watchdog") == -1
    assert clock.read("present_pwm") == 0
    clock.run(20.0, heard=False)
    assert abs(clock.servo.bench.state[k.VELOCITY]) < 0.01
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
    assert clock.servo.bench.state[k.POSITION] < 0.8


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
    assert clock.servo.bench.state[k.CURRENT] == 0.0
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
    assert old.servo.bench.state[k.CURRENT] == 0.0
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
    with pytest.raises(BamError, match="overheat"):
        modern.servo.inject("overheet")
    with pytest.raises(BamError, match="probability"):
        build_bus(BusSetup(faults=("drop=2",)), 0.0)


def test_a_stalled_process_is_made_up_for_in_bounded_time(modern):
    modern.write(torque_enable=1, goal_position=2600)
    modern.servo.update(3600.0)
    assert modern.servo.bench.time == pytest.approx(3600.0, abs=1e-3)
    assert modern.servo.bench.state[k.TICKS] <= 2001


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        (BusSetup(servo="mx107"), "did you mean 'mx106'"),
        (BusSetup(ids=(254,)), "id 254: MX-106 cannot have it"),
        (BusSetup(ids=(1, 1)), "given twice"),
        (BusSetup(baud_rate=123), "baud rate 123"),
        (BusSetup(faults=("gremlins",)), "gremlins"),
    ],
)
def test_a_bus_that_cannot_be_is_refused_in_one_line(setup, message):
    with pytest.raises(BamError, match=message) as caught:
        build_bus(setup, 0.0)
    assert "\n" not in str(caught.value)
