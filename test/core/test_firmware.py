# SPDX-License-Identifier: Apache-2.0
"""Gains and limits of the position controllers."""

import math

import numpy as np
import pytest

from bam_core.errors import BamError
from bam_core.firmware import FIRMWARES, PositionFirmware, find_firmware


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
    assert old.duty_per_kp_rad * 32.0 == pytest.approx(new.duty_per_kp_rad * 850.0, rel=0.05)


def test_xl320_has_1024_counts_over_300_degrees():
    assert FIRMWARES["xl320"].resolution == pytest.approx(math.radians(300.0 / 1024.0))


@pytest.mark.parametrize("firmware", FIRMWARES.values(), ids=list(FIRMWARES))
def test_duty_is_odd_monotone_and_within_the_limit(firmware):
    error = np.linspace(-7.0, 7.0, 101)
    duty = firmware.duty(30.0, error)
    assert np.array_equal(duty, -firmware.duty(30.0, -error))
    assert np.all(np.diff(duty) >= 0.0)
    assert np.max(np.abs(duty)) <= firmware.duty_limit


def test_gains_and_errors_broadcast():
    assert FIRMWARES["xl330"].duty(np.ones((3, 1)), np.ones(4)).shape == (3, 4)


def test_an_unknown_firmware_is_answered_with_the_valid_ones():
    with pytest.raises(BamError, match=r"mx-protocol1, mx-protocol2, xl320, xl330.*did you mean 'xl330'"):
        find_firmware("XL-330")


def test_a_limit_of_zero_is_refused():
    with pytest.raises(BamError, match="duty_limit"):
        PositionFirmware(name="x", duty_per_kp_rad=1.0, duty_limit=0.0, counts_per_turn=4096)
