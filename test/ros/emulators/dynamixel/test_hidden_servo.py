# SPDX-License-Identifier: Apache-2.0
"""What is inside an emulated servo fits what its table and its data sheet have."""

from __future__ import annotations

import pytest

from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.emulators.dynamixel.hidden_servo import typical_servo


@pytest.mark.parametrize("servo", CONTROL_TABLES)
def test_a_servo_has_a_supply_that_it_bears(servo: str) -> None:
    table, supply = CONTROL_TABLES[servo], typical_servo(servo).supply_voltage
    low, high = (table[f"{end}_voltage_limit"] for end in ("min", "max"))
    assert low.initial is not None
    assert high.initial is not None
    assert low.to_si(low.initial) < supply < high.to_si(high.initial)
