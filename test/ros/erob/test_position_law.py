# SPDX-License-Identifier: Apache-2.0
"""The law in the master is that of the firmware model, and its bounds are those of the motor model."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bam_core.servo.model import load_servo
from bam_ros.erob.axis import Axis, Ratings
from bam_ros.erob.cia402 import DriveState, Encoder
from bam_ros.erob.messages import AxisGoal
from bam_ros.erob.objects import Object
from bam_ros.erob.pdo_layout import load_layout
from bam_ros.erob.position_law import MotorLimits, position_law
from bam_ros.text.goal_faults import DriveReleased, OtherMode

SERVO = load_servo("erob80_100")
LIMITS = MotorLimits(
    heat_limit=SERVO.firmware.demand_limit,
    torque_constant=SERVO.motor.torque_constant,
    resistance=SERVO.motor.resistance,
    nominal_voltage=48.0,
)
KP = 40.0
STIFFNESS, DAMPING = (float(gain) for gain in SERVO.firmware.gains(KP))
ENABLED, OFF = 0x0027, 0x0040


def law(goal: float, position: float, velocity: float, voltage: float = 48.0) -> float:
    return LIMITS.clip(position_law(STIFFNESS, DAMPING, goal, position, velocity), velocity, voltage)


def test_it_is_the_law_of_the_paper() -> None:
    assert (KP, pytest.approx(2.0 * math.sqrt(KP))) == (STIFFNESS, DAMPING)
    assert law(0.1, 0.0, 0.0) == pytest.approx(KP * 0.1)
    assert law(0.1, 0.0, 0.2) == pytest.approx(KP * 0.1 - 2.0 * math.sqrt(KP) * 0.2)


def test_it_asks_what_the_firmware_asks_and_gets_what_the_supply_can_bring_about() -> None:
    for error, velocity, voltage in itertools.product(
        np.linspace(-1.0, 1.0, 9), np.linspace(-5.0, 5.0, 11), (48.0, 20.0)
    ):
        demand = SERVO.firmware.demand(KP, error, velocity)
        possible = SERVO.motor.current(SERVO.motor.regulating_voltage(demand, velocity, voltage), velocity)
        heat = SERVO.firmware.demand_limit
        expected = float(np.clip(possible, -heat, heat))
        assert law(error, 0.0, velocity, voltage) == pytest.approx(expected, abs=1e-9)


def test_the_lower_bound_is_the_physical_one() -> None:
    assert law(-9.0, 0.0, -4.0) == pytest.approx(
        -(48.0 + load_servo("erob80_100").motor.torque_constant * -4.0) / 2.0
    )
    assert law(-9.0, 0.0, 4.0) == pytest.approx(-12.0)  # heat


def test_heat_is_never_exceeded_and_mirrored_situations_give_mirrored_currents() -> None:
    generator = np.random.default_rng(0)
    for goal, position, velocity in generator.uniform(-20.0, 20.0, (500, 3)):
        current = law(goal, position, velocity)
        assert abs(current) <= 12.0
        assert law(-goal, -position, -velocity) == pytest.approx(-current)


def test_an_unknown_voltage_means_the_nominal_one() -> None:
    assert law(9.0, 0.0, 4.0, math.nan) == law(9.0, 0.0, 4.0, 0.0) == law(9.0, 0.0, 4.0, 48.0)


def axis(**changes: object) -> Axis:
    arguments: dict[str, object] = {
        "name": "joint",
        "layout": load_layout("torque"),
        "encoder": Encoder(),
        "limits": LIMITS,
        "ratings": Ratings(current=4.0, torque=30.0, largest_torque=2500),
    }
    return Axis(**{**arguments, **changes})  # type: ignore[arg-type]


def inputs(angle: float = 0.0, *, status: int = ENABLED, error: int = 0, torque: int = 0) -> bytes:
    counts = Encoder().counts(angle)
    return load_layout("torque").transmit.pack([counts, 0, torque, status, error, 10, 48000])


def target(drive: Axis, goal: AxisGoal) -> tuple[int, int]:
    values = drive.layout.receive.unpack(drive.outputs(goal))
    return values[0], values[1]


def hold(position: float) -> AxisGoal:
    return AxisGoal(True, position, STIFFNESS, DAMPING)


def test_current_is_sent_per_mille_of_the_rated_torque_within_what_the_drive_takes() -> None:
    drive = axis()
    drive.take(inputs(0.0))
    assert target(drive, hold(0.05)) == (500, 0x0F)  # 2 A of 4 A
    assert target(drive, hold(9.0)) == (2500, 0x0F)
    assert target(drive, hold(-9.0)) == (-2500, 0x0F)


def test_the_law_answers_where_the_arm_will_be_when_the_torque_acts() -> None:
    values = [Encoder().counts(0.02), Encoder().counts(0.5), 0, ENABLED, 0, 10, 48000]  # 0.5 rad/s
    data = load_layout("torque").transmit.pack(values)
    late, ahead = axis(), axis(dead_time=2e-3)
    for drive in (late, ahead):
        drive.take(data)
    torques = [target(drive, hold(0.1))[0] for drive in (late, ahead)]
    assert torques[1] - torques[0] == pytest.approx(-1000.0 * STIFFNESS * 0.5 * 2e-3 / 4.0, abs=1.0)


def test_the_law_answers_the_velocity_that_an_accelerated_arm_will_have() -> None:
    late, ahead = axis(), axis(dead_time=2e-3)
    for drive in (late, ahead):
        for k in range(5):  # 50 rad/s²
            values = [Encoder().counts(0.0), Encoder().counts(0.05 * k), 0, ENABLED, 0, 10, 48000]
            drive.take(load_layout("torque").transmit.pack(values))
    torques = [target(drive, hold(0.1))[0] for drive in (late, ahead)]
    position, velocity = (0.2 + 0.05) * 2e-3, 0.1
    change = -1000.0 * (STIFFNESS * position + DAMPING * velocity) / 4.0
    assert torques[1] - torques[0] == pytest.approx(change, abs=1.5)


def test_a_drive_that_counts_the_other_way_is_pushed_the_other_way() -> None:
    drive = axis(encoder=Encoder(direction=-1))
    drive.take(inputs(0.0))
    assert target(drive, hold(0.05))[0] == -500
    drive.take(inputs(0.0, torque=-500))
    assert drive.sample().current == pytest.approx(2.0)
    assert drive.sample().effort == pytest.approx(15.0)


def test_no_torque_without_both_the_wish_and_an_enabled_drive() -> None:
    drive = axis()
    drive.take(inputs(0.0, status=OFF))
    assert target(drive, hold(1.0)) == (0, 0x06)
    drive.take(inputs(0.0))
    assert target(drive, hold(1.0))[0] != 0
    assert target(drive, hold(1.0)._replace(enable=False)) == (0, 0)


def test_a_release_is_told_with_the_frame_that_makes_it_unless_the_drive_does_not_obey() -> None:
    drive = axis()
    release = hold(1.0)._replace(enable=False)
    drive.take(inputs(0.0))
    target(drive, hold(1.0))
    drive.take(inputs(0.0))
    assert (drive.sample().driven, drive.sample().enabled) == (True, True)
    for cycle in range(8):
        target(drive, release)
        drive.take(inputs(0.0))  # it still says "operation enabled"
        assert (drive.sample().driven, drive.sample().enabled) == (cycle >= 4, True)
    target(drive, release)
    drive.take(inputs(0.0, status=OFF))
    assert (drive.sample().driven, drive.sample().enabled) == (False, False)


def test_a_drive_that_let_go_is_not_driven_whatever_it_was_told() -> None:
    drive = axis()
    drive.take(inputs(0.0))
    target(drive, hold(1.0))
    drive.take(inputs(0.0, status=OFF))
    assert not drive.sample().driven


def test_no_torque_before_the_first_goal() -> None:
    drive = axis()
    drive.take(inputs(0.0))
    assert target(drive, hold(math.nan)) == (0, 0)
    assert target(drive, hold(0.1))[0] > 0
    assert target(drive, hold(math.nan))[0] > 0  # keeps its goal


def test_a_fault_is_told_with_its_code_and_stops_the_torque() -> None:
    drive = axis()
    drive.take(inputs(0.0, status=0x0008, error=0x2310))
    assert target(drive, hold(1.0)) == (0, 0)
    assert (drive.state, drive.sample().error_code) == (DriveState.FAULT, 0x2310)
    drive.take(inputs(0.0, status=OFF, error=0x2310))  # drives keep the code of the last fault
    assert drive.sample().error_code == 0
    assert drive.complaint(10) is None


def test_a_drive_that_lets_go_or_never_holds_is_named() -> None:
    drive = axis()
    drive.take(inputs(0.0))
    target(drive, hold(0.0))
    drive.take(inputs(0.0, status=OFF))
    target(drive, hold(0.0))
    assert drive.complaint(10) == DriveReleased(joint=drive.name, state="switch on disabled")
    other = axis()
    for _ in range(10):
        other.take(inputs(0.0, status=OFF))
        target(other, hold(0.0))
        assert other.complaint(10) is None
    target(other, hold(0.0))
    never = other.complaint(10)
    assert isinstance(never, DriveReleased)
    assert never.within is not None


def test_a_drive_in_another_mode_gets_no_torque_and_is_named() -> None:
    drive = axis()
    for status in (ENABLED, *(OFF,) * 12):
        drive.take(load_layout("torque").transmit.pack([0, 0, 0, status, 0, 8, 48000]))
        assert target(drive, hold(1.0)) == (0, 0)
    assert drive.complaint(10) == OtherMode(joint=drive.name, mode=8, expected=10)


def test_the_mode_is_cyclic_torque_in_every_frame() -> None:
    drive = axis()
    values = drive.layout.receive.unpack(drive.outputs(hold(0.0)))
    assert values[drive.layout.receive.place(Object.MODE_OF_OPERATION)] == 10
