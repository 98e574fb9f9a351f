# SPDX-License-Identifier: Apache-2.0
"""A bus around another one leaves nothing of it out."""

from __future__ import annotations

from bam_ros.driver.servo_bus import ServoBus
from bam_ros.driver.wrapped_bus import WrappedBus


def test_all_of_a_bus_goes_through() -> None:
    """A default of `ServoBus` would hide what the bus inside has, such as its clock."""
    of_a_bus = {name for name in vars(ServoBus) if not name.startswith("_")}
    assert of_a_bus <= set(vars(WrappedBus))
