# SPDX-License-Identifier: Apache-2.0
"""The number of a pseudo-terminal whose servos are gone is not given to another one during the test."""

from __future__ import annotations

import os
import pty
from pathlib import Path

from test.ros.ros_helpers import VirtualServos


def test_a_driver_that_looks_for_servos_that_are_gone_finds_no_others() -> None:
    with VirtualServos(servo="xl330") as virtual:
        number = virtual.path
    others = [pty.openpty() for _ in range(3)]
    names = [os.ttyname(slave) for _, slave in others]
    for descriptor in (each for pair in others for each in pair):
        os.close(descriptor)
    assert number not in names
    assert not Path(number).exists()
