# SPDX-License-Identifier: Apache-2.0
"""A driver that was started for the servos of the other maker names the driver that these need."""

from __future__ import annotations

import pytest

from bam_core.errors import Unsupported
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.feetech.bus import FeetechBus
from test.ros.dynamixel.wired_bus import wired_bus


@pytest.mark.parametrize("servo", ["ax12a", "mx106", "mx106_2", "xm430_w350", "h54_200_s500_r"])
def test_the_feetech_driver_on_dynamixels_names_the_other(
    servo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servo, 2, opened=False, driver=FeetechBus) as wired:
        with pytest.raises(Unsupported) as refused:
            wired.bus.open()
        assert "node dynamixel" in str(refused.value)
        assert wired.servos[0].table.title in str(refused.value)


@pytest.mark.parametrize("servo", ["sts3215", "sts3250", "scs0009", "hls3930"])
def test_the_dynamixel_driver_on_feetech_servos_names_the_other(
    servo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servo, 2, opened=False, driver=DynamixelBus) as wired:
        with pytest.raises(Unsupported) as refused:
            wired.bus.open()
        assert "node feetech" in str(refused.value)
