# SPDX-License-Identifier: Apache-2.0
"""What the firmware controls, on an explicit clock: modes, gains, profiles, limits, what registers show."""

from __future__ import annotations

import math

import pytest

from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.packets import Complaint, Instruction, Packet
from test.ros.virtual_helpers import LIGHT, Clock, make

POSITION, VELOCITY, CURRENT, PWM, EXTENDED, CURRENT_POSITION = 3, 1, 0, 16, 4, 5


@pytest.fixture(params=["mx64", "mx106", "mx64_2", "mx106_2", "xl330"])
def clock(request) -> Clock:
    return Clock(make(request.param, LIGHT))


@pytest.fixture
def modern() -> Clock:
    return Clock(make("mx106_2"))


@pytest.fixture
def old() -> Clock:
    return Clock(make("mx106"))


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
    assert clock.si("present_position") == pytest.approx(state[physics.POSITION], abs=math.pi / 4096 + 1e-9)
    assert clock.si("present_velocity") == pytest.approx(state[k.MEASURED_VELOCITY], abs=0.013)
    assert clock.si("present_current") == pytest.approx(state[physics.CURRENT], abs=0.003)
    assert clock.si("present_input_voltage") == pytest.approx(state[physics.SUPPLY], abs=0.051)
    assert clock.si("present_temperature") == pytest.approx(state[physics.TEMPERATURE], abs=0.51)
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
    assert abs(clock.servo.bench.state[physics.VELOCITY]) < 5.0
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
    modern.servo.bench.set_load(PendulumBench(mass=0.0, length=0.1))
    modern.write(operating_mode=VELOCITY)
    modern.write(torque_enable=1, goal_velocity=100)
    modern.run(3.0)
    assert modern.read("present_velocity") == pytest.approx(100, abs=8)
    modern.write(goal_velocity=-100)
    modern.run(3.0)
    assert modern.read("present_velocity") == pytest.approx(-100, abs=8)


def test_wheel_mode_turns_by_the_direction_bit(old):
    old.servo.bench.set_load(PendulumBench(mass=0.0, length=0.1))
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


def test_pwm_mode_is_entered_and_left_with_torque_off_only(modern):
    modern.write(torque_enable=1)
    assert modern.refused(operating_mode=PWM) is Complaint.ACCESS
    modern.write(torque_enable=0)
    modern.write(operating_mode=PWM)
    modern.write(torque_enable=1)
    assert modern.refused(operating_mode=POSITION) is Complaint.ACCESS


@pytest.mark.parametrize("name", ["mx64_2", "mx106_2", "xl330"])
def test_torque_on_in_pwm_mode_waits_for_a_new_duty(name):
    clock = Clock(make(name, LIGHT))
    clock.write(operating_mode=PWM)
    clock.write(goal_pwm=300)
    clock.write(torque_enable=1)
    clock.run(0.2)
    assert (clock.read("goal_pwm"), clock.read("present_pwm")) == (0, 0)
    clock.write(goal_pwm=300)
    clock.run(0.05)
    assert clock.read("present_pwm") == 300
    clock.write(torque_enable=0)
    clock.run(0.05)
    assert clock.servo.bench.state[physics.CURRENT] == 0.0


def test_the_pwm_limit_bounds_goals_and_what_is_applied(modern):
    modern.write(operating_mode=PWM)
    modern.write(pwm_limit=200)
    modern.write(torque_enable=1)
    assert modern.refused(goal_pwm=201) is Complaint.LIMIT
    assert modern.refused(goal_pwm=-201) is Complaint.LIMIT
    modern.write(goal_pwm=200)
    modern.run(0.05)
    assert modern.read("present_pwm") == 200


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
    old.servo.bench.set_load(PendulumBench(mass=0.0, length=0.1))
    old.write(min_position_limit=4095, max_position_limit=4095)
    old.write(torque_enable=1, goal_position=2048 + 8192)
    old.run(5.0)
    assert old.read("present_position") == pytest.approx(2048 + 8192, abs=30)


def test_reverse_mode_mirrors_the_registers(modern):
    modern.write(drive_mode=1)
    modern.write(torque_enable=1, goal_position=2600)
    modern.run(1.5)
    assert modern.read("present_position") == pytest.approx(2600, abs=80)
    assert modern.servo.bench.state[physics.POSITION] < -0.6


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
