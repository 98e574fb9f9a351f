# SPDX-License-Identifier: Apache-2.0
"""What emulators print, in words."""

from __future__ import annotations

from typing import Literal

import pytest

from bam_ros.text.emulator_notices import EmulatorStarts


@pytest.mark.parametrize(
    ("kind", "what"),
    [("dynamixel", "Dynamixel bus"), ("feetech", "Feetech bus"), ("erob", "EtherCAT segment")],
)
def test_an_emulator_says_at_once_what_it_is(
    kind: Literal["dynamixel", "feetech", "erob"], what: str
) -> None:
    assert str(EmulatorStarts(kind=kind)) == f"starting a virtual {what} ..."
