# SPDX-License-Identifier: Apache-2.0
"""The same motor behind another gear ratio is the same on the motor's side of the gears."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Missing, OutOfRange
from bam_core.servo.derived import derived_servo, version_for
from bam_core.servo.model import ServoModel, load_servo
from test.core.refusals import refused

NAMES = ("sts3215_7v4", "sts3215", "erob80_100")


def derived(base: ServoModel, n: float) -> ServoModel:
    assert base.gear_ratio is not None
    return derived_servo(base, name="new", gear_ratio=n * base.gear_ratio)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [191 / 345, 2.0])
def test_torque_grows_and_speed_falls_with_the_ratio_at_the_same_power(name: str, n: float) -> None:
    base = load_servo(name)
    new = derived(base, n)
    speed = 1.3
    for voltage in (-3.0, 0.0, 6.0):
        assert new.motor.torque(voltage, speed / n) == pytest.approx(n * base.motor.torque(voltage, speed))
    assert new.stall_torque() == pytest.approx(n * base.stall_torque())
    assert new.motor.armature * (speed / n) ** 2 == pytest.approx(base.motor.armature * speed**2)
    assert new.firmware.goal_speed_limit == pytest.approx(base.firmware.goal_speed_limit / n)
    assert new.servo_effects.goal_slew_time == pytest.approx(n * base.servo_effects.goal_slew_time)


@pytest.mark.parametrize("name", NAMES)
def test_friction_is_the_same_on_the_motor_s_side(name: str) -> None:
    base, n = load_servo(name), 0.6
    new = derived(base, n)
    for velocity in np.linspace(-4.0, 4.0, 9):
        for motor in (-0.8, 0.1, 0.5):
            for external in (-0.3, 0.4):
                there = base.friction.budget(motor, external, velocity)
                here = new.friction.budget(n * motor, n * external, velocity / n)
                assert here == pytest.approx(n * there)


@pytest.mark.parametrize("name", NAMES)
def test_two_on_one_joint_are_one_servo_of_twice_the_torque_at_half_of_each_load(name: str) -> None:
    base = load_servo(name)
    pair = derived_servo(base, name="pair", motors=2)
    for velocity in (-2.0, 0.0, 1.3):
        for voltage in (-3.0, 6.0):
            one = base.motor.torque(voltage, velocity)
            assert pair.motor.torque(voltage, velocity) == pytest.approx(2.0 * one)
        for motor, external in ((-0.8, 0.4), (0.1, -0.3), (0.5, 0.4)):
            there = base.friction.budget(motor, external, velocity)
            here = pair.friction.budget(2.0 * motor, 2.0 * external, velocity)
            assert here == pytest.approx(2.0 * there)
    assert pair.motor.armature == pytest.approx(2.0 * base.motor.armature)
    factor = 2.0 if base.firmware.regulates_current else 1.0
    one, both = (servo.firmware.demand(8.0, 0.01, 0.2) for servo in (base, pair))
    assert both == pytest.approx(factor * one)
    assert pair.provenance.derived_from == name
    assert pair.nominal_voltage == base.nominal_voltage


def test_more_motors_than_a_joint_has_room_for_are_refused() -> None:
    for motors in (0, 5):
        with refused(OutOfRange, thing="servo 'pair', motors"):
            derived_servo(load_servo("sts3215"), name="pair", motors=motors)


def test_ratios_follow_one_another_as_if_it_were_one_step() -> None:
    base = load_servo("sts3215")
    twice = derived_servo(
        derived_servo(base, name="a", gear_ratio=191.0, voltage=7.4), name="b", gear_ratio=147.0
    )
    once = derived_servo(base, name="b", gear_ratio=147.0, voltage=7.4)
    assert twice.parameters == pytest.approx(once.parameters)
    assert twice.uncertainty == pytest.approx(once.uncertainty)
    assert twice.search.ranges["armature"] == pytest.approx(once.search.ranges["armature"])
    assert (twice.gear_ratio, twice.nominal_voltage) == (147.0, 7.4)


def test_a_supply_changes_nothing_in_motor_and_gears() -> None:
    base = load_servo("mx106")
    new = derived_servo(base, name="new", voltage=12.0)
    assert (new.motor, new.friction, new.nominal_voltage) == (base.motor, base.friction, 12.0)
    assert new.stall_torque() == pytest.approx(base.stall_torque(12.0))


def test_it_is_marked_as_derived_and_its_file_keeps_the_mark(tmp_path: Path) -> None:
    new = derived(load_servo("sts3215_7v4"), 147 / 345)
    assert new.provenance.derived_from == "sts3215_7v4"
    assert new.provenance.test_mae is None
    new.save(tmp_path / "new.yaml")
    assert load_servo(tmp_path / "new.yaml") == new


def test_the_library_s_version_for_a_supply_is_taken() -> None:
    assert version_for("sts3215", 7.4) == "sts3215_7v4"
    assert version_for("sts3215", 12.0) == "sts3215"
    assert version_for("sts3215", 6.0) == "sts3215"
    assert version_for("mx106", 12.0) == "mx106"  # mx106_2 is another firmware


def test_a_ratio_that_nobody_knows_is_asked_for() -> None:
    with refused(Missing, thing="gear_ratio of servo 'mx106'"):
        derived_servo(load_servo("mx106"), name="new", gear_ratio=100.0)


@pytest.mark.parametrize("values", [{"gear_ratio": 0.0}, {"voltage": -7.4}, {"gear_ratio": float("inf")}])
def test_ratio_and_supply_are_above_zero(values: dict[str, float]) -> None:
    with refused(OutOfRange):
        derived_servo(load_servo("sts3215"), name="new", **values)
