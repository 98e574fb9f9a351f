# SPDX-License-Identifier: Apache-2.0
"""Driver and recorder must have the same clock, and one that runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from bam_bench.msg import ServoStates
from builtin_interfaces.msg import Time
from std_msgs.msg import Header

from bam_core.errors import Conflict
from bam_ros.recorder.readiness import require_same_clock

pytestmark = pytest.mark.ros


@pytest.mark.parametrize(
    ("now", "stamp", "said"),
    [
        (0, 0, "clock: stands at 0 .*publish_clock:=true"),
        (0, 1_700_000_000, "clock: stands at 0"),
        (1_700_000_000, 5, "driver and recorder differ by 1699999995.0 s"),
        (1_700_000_000, 1_700_000_000, ""),
    ],
)
def test_a_clock_that_stands_and_one_that_differs_are_told_apart(now: int, stamp: int, said: str) -> None:
    link = SimpleNamespace(now=lambda: now * 10**9)
    states = ServoStates(header=Header(stamp=Time(sec=stamp)))
    if not said:
        require_same_clock(link, states)
        return
    with pytest.raises(Conflict, match=said):
        require_same_clock(link, states)
