# SPDX-License-Identifier: Apache-2.0
"""What registers of position gains hold, by control law: a simulation takes no gain that no servo has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bam_core.errors import OutOfRange
from bam_core.servo.firmware import PositionFirmware

LARGEST_KP: Mapping[str, float] = MappingProxyType(
    {
        "mx-protocol1": 254.0,
        "mx-protocol2": 16383.0,
        "mx-current": 16383.0,
        "xl330": 16383.0,
        "xl320": 254.0,
        "feetech-sts": 254.0,
    }
)
"""Name of a law -> largest position gain of its register, from its control table; others have none."""


def require_register_kp(what: str, firmware: PositionFirmware, kp: float) -> None:
    """Refuse a position gain that is above what the register of its servo holds; raises OutOfRange."""
    largest = LARGEST_KP.get(firmware.name)
    if largest is not None and kp > largest:
        raise OutOfRange(what, kp, f"at most {largest:g}, what the register of {firmware.name} holds")
