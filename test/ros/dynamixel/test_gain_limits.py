# SPDX-License-Identifier: Apache-2.0
"""The simulation's limits of gains are those of the drivers' control tables."""

from __future__ import annotations

import pytest

from bam_core.servo.gain_registers import LARGEST_KP
from bam_core.servo.model import load_servo
from bam_ros.dynamixel.control_table import CONTROL_TABLES


@pytest.mark.parametrize("name", ["mx106", "mx64", "mx106_2", "mx64_2", "xl330", "xl320"])
def test_a_law_has_the_limit_of_its_servo_s_register(name: str) -> None:
    table = CONTROL_TABLES[name]
    assert table["position_p_gain"].high == LARGEST_KP[load_servo(name).firmware.name]
