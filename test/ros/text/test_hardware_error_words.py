# SPDX-License-Identifier: Apache-2.0
"""Hardware errors of servos in words."""

from __future__ import annotations

import pytest

from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.text.hardware_error_words import CURES, hardware_error_line


def test_a_hardware_error_has_joint_name_bit_and_cure() -> None:
    assert hardware_error_line("hip", "OVERLOAD", 4) == (
        "hip: hardware error overload (bit 0x4); free the shaft or reduce the load"
    )


@pytest.mark.parametrize("error", list(HardwareError))
def test_every_error_has_a_cure(error: HardwareError) -> None:
    assert CURES[error.name or ""]
