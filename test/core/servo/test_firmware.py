# SPDX-License-Identifier: Apache-2.0
"""Gains and limits of the position controllers, and the errors that they see."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import BamError, OutOfRange
from bam_core.servo.firmware import followed
from bam_core.servo.firmware_laws import CurrentFirmware, VoltageFirmware
from bam_core.servo.firmware_library import FIRMWARES, find_firmware
from bam_core.simulation import law

SHAPED = replace(
    FIRMWARES["mx-protocol1"], name="shaped", dead_band=0.01, error_offset=0.002, goal_speed_limit=4.5
)


def test_mx_protocol_1_has_the_measured_gain_and_limit():
    firmware = FIRMWARES["mx-protocol1"]
    assert firmware.duty(32.0, 0.1) == pytest.approx(0.158 * 32.0 * 0.1)
    assert firmware.duty(32.0, [1.0, -1.0]).tolist() == [0.9625, -0.9625]


def test_one_count_of_error_at_kp_128_is_one_pwm_unit_of_885_on_mx_protocol_2():
    firmware = FIRMWARES["mx-protocol2"]
    assert firmware.duty(128.0, firmware.resolution) == pytest.approx(1.0 / 885.0)
    assert firmware.duty(850.0, 1.0) == 1.0


def test_one_count_of_error_at_kp_256_is_one_pwm_unit_of_885_on_xl330():
    firmware = FIRMWARES["xl330"]
    assert firmware.duty(256.0, firmware.resolution) == pytest.approx(1.0 / 885.0)


def test_both_mx_firmwares_are_about_as_stiff_at_their_factory_gains():
    old, new = FIRMWARES["mx-protocol1"], FIRMWARES["mx-protocol2"]
    stiffness = old.duty_per_kp_rad * old.factory_kp
    assert stiffness == pytest.approx(new.duty_per_kp_rad * new.factory_kp, rel=0.05)


def test_xl320_has_1024_counts_over_300_degrees():
    assert FIRMWARES["xl320"].resolution == pytest.approx(math.radians(300.0 / 1024.0))


@pytest.mark.parametrize("firmware", FIRMWARES.values(), ids=list(FIRMWARES))
def test_a_demand_is_odd_monotone_and_within_the_limit(firmware):
    error = np.linspace(-7.0, 7.0, 101)
    demand = firmware.demand(30.0, error, -0.3)
    assert np.array_equal(demand, -firmware.demand(30.0, -error, 0.3))
    assert np.all(np.diff(demand) >= 0.0)
    assert np.all(np.diff(firmware.demand(30.0, 0.2, np.linspace(-3.0, 3.0, 50))) <= 0.0)
    assert np.max(np.abs(demand)) <= firmware.demand_limit


@pytest.mark.parametrize("firmware", FIRMWARES.values(), ids=list(FIRMWARES))
def test_the_gain_for_a_share_of_full_drive_asks_for_that_share_at_one_rad(firmware):
    full = firmware.demand_limit if firmware.regulates_current else 1.0
    assert firmware.demand(firmware.kp_for(0.4), 1.0) == pytest.approx(0.4 * full)


def test_erob80_has_the_current_law_of_bam():
    firmware = FIRMWARES["erob80"]
    assert firmware.demand(25.0, 0.2, 0.1) == pytest.approx(25.0 * 0.2 - 2.0 * 5.0 * 0.1)
    assert firmware.demand(25.0, [2.0, -2.0]).tolist() == [12.0, -12.0]
    assert firmware.resolution == 2.0 * math.pi / 524288
    assert firmware.period == 1e-3


def test_gains_and_errors_broadcast():
    assert FIRMWARES["xl330"].duty(np.ones((3, 1)), np.ones(4)).shape == (3, 4)


def test_an_unknown_firmware_is_answered_with_the_valid_ones():
    with pytest.raises(BamError, match=r"mx-protocol1, mx-protocol2, xl320, xl330.*did you mean 'xl330'"):
        find_firmware("XL-330")


def test_a_limit_of_zero_is_refused():
    with pytest.raises(BamError, match="duty_limit"):
        VoltageFirmware(name="x", duty_per_kp_rad=1.0, duty_limit=0.0, counts_per_turn=4096, factory_kp=32.0)
    with pytest.raises(BamError, match="current_limit"):
        CurrentFirmware(name="x", current_limit=0.0, damping=2.0, counts_per_turn=4096, factory_kp=32.0)


def test_a_current_law_has_a_gain_per_unit_of_kp_and_its_damping_follows_the_gain():
    in_registers = CurrentFirmware(
        name="x",
        current_limit=1.4,
        damping=0.5,
        amps_per_kp_rad=0.01,
        counts_per_turn=4096,
        factory_kp=400.0,
    )
    stiffness, damping = in_registers.gains([100.0, 400.0])
    assert stiffness == pytest.approx([1.0, 4.0])
    assert damping == pytest.approx([0.5, 1.0])
    assert in_registers.demand(400.0, 0.2, 0.1) == pytest.approx(0.8 - 0.1)
    assert in_registers.gains(in_registers.kp_for(0.5))[0] == pytest.approx(0.7)
    with pytest.raises(OutOfRange, match="amps_per_kp_rad"):
        replace(in_registers, amps_per_kp_rad=0.0)


def test_a_negative_damping_is_refused():
    with pytest.raises(BamError, match="damping"):
        CurrentFirmware(name="x", current_limit=1.0, damping=-2.0, counts_per_turn=4096, factory_kp=32.0)


def test_an_error_within_the_dead_band_asks_for_nothing_and_a_larger_one_for_more():
    error = np.array([-0.1, -0.01, -0.005, 0.0, 0.01, 0.0101, 0.1])
    shaped = [-0.102, 0.0, 0.0, 0.0, 0.0, 0.0121, 0.102]
    np.testing.assert_allclose(SHAPED.shaped_error(error), shaped, rtol=1e-12)
    np.testing.assert_allclose(SHAPED.demand(8.0, error), 0.158 * 8.0 * np.array(shaped), rtol=1e-12)


@pytest.mark.parametrize("firmware", [SHAPED, FIRMWARES["mx-protocol1"]], ids=["shaped", "plain"])
def test_the_compiled_law_shapes_errors_alike(firmware):
    errors = np.random.default_rng(0).uniform(-0.03, 0.03, 200)
    compiled = [law.shaped_error(each, firmware.dead_band, firmware.error_offset) for each in errors]
    assert np.array_equal(firmware.shaped_error(errors), compiled)


def test_a_set_point_follows_its_goal_no_farther_than_it_may():
    assert followed(0.2, 1.0, 0.1) == pytest.approx(0.3)
    assert followed(0.2, -1.0, 0.1) == pytest.approx(0.1)
    assert followed(0.2, 0.25, 0.1) == 0.25
    assert followed(0.1, 0.3, math.inf) == 0.3
    assert math.isnan(followed(0.1, math.nan, math.inf))


@pytest.mark.parametrize("most", [0.01, 0.2, math.inf])
def test_the_compiled_set_point_follows_alike(most):
    for before, goal in np.random.default_rng(0).uniform(-0.3, 0.3, (50, 2)):
        assert followed(before, goal, most) == law.set_point(before, goal, most)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dead_band", -0.1),
        ("error_offset", -1e-3),
        ("goal_speed_limit", 0.0),
        ("goal_acceleration_limit", 0.0),
    ],
)
def test_a_shape_out_of_range_is_refused(field, value):
    with pytest.raises(OutOfRange, match=field):
        replace(SHAPED, **{field: value})
