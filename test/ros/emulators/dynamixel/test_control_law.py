# SPDX-License-Identifier: Apache-2.0
"""What registers make of an error: the law of servos with compliance margins, slopes and a punch."""

from __future__ import annotations

import pytest

from bam_ros.emulators.dynamixel import bench_kernel as k
from test.ros.virtual_helpers import Clock, make

MARGIN, SLOPE, PUNCH = 10, 64, 100 / 1023


@pytest.mark.parametrize("servo", ["ax12a", "rx28", "ex106"])
@pytest.mark.parametrize(
    ("error", "duty"),
    [
        (0, 0.0),
        (MARGIN - 1, 0.0),
        (MARGIN + 1, PUNCH + (1.0 - PUNCH) / SLOPE),
        (-MARGIN - 32, -PUNCH - (1.0 - PUNCH) / 2.0),
        (MARGIN + SLOPE + 5, 1.0),
    ],
)
def test_beyond_its_margin_the_duty_rises_from_punch_to_all_of_it(
    servo: str, error: int, duty: float
) -> None:
    clock = Clock(make(servo))
    for side in ("cw", "ccw"):
        clock.write(**{f"{side}_compliance_margin": MARGIN, f"{side}_compliance_slope": SLOPE})
    zero = clock.servo.table["present_position"].unit.zero
    clock.write(punch=100, goal_position=zero + error, torque_enable=1)
    clock.servo.bench.advance_to(clock.now + 0.0005)  # one look of the firmware at its encoder
    assert clock.servo.bench.state[k.DUTY] == pytest.approx(duty, abs=1e-3)
