# SPDX-License-Identifier: Apache-2.0
"""The long run in short: every cycle accounted for, objects read meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bam_ros.emulators.erob.process import VirtualSegmentProcess
from studies.emulated_drives import EMULATED_TIMEOUT
from studies.soak.cycle import SoakResult, soak, table
from test.missing import raw_frames

JITTER = {"p50": 1.0, "p99": 10.0, "p99.9": 100.0, "max": 200.0}
CYCLE = {
    **{"sent": 1e6, "answered": 1e6, "lost": 0.0, "unanswered": 0.0, "wrong": 0.0, "stale": 0.0, "late": 0.0},
    **JITTER,
}
GOOD = SoakResult(cycle=CYCLE, pacing=JITTER, reads=10, failed=0, torque_lost=0)


@pytest.mark.long
def test_every_cycle_of_a_short_run_is_accounted_for_while_objects_are_read() -> None:
    """How many of them are lost on a machine of one's own is for `make soak` to say."""
    with raw_frames(), VirtualSegmentProcess(1) as segment:
        result = soak(segment.interface, 1, 3.0, answer_timeout=EMULATED_TIMEOUT)
    assert result.reads > 0
    assert result.failed == 0
    assert result.cycle["sent"] == result.cycle["answered"] + result.cycle["lost"] > 0
    assert result.cycle["wrong"] == 0
    assert sorted(result.jitter.values()) == list(result.jitter.values())
    assert "bare pacing" in table(result)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"answered": 999_999.0}, "not all accounted for"),
        ({"answered": 999_980.0, "lost": 20.0}, "20 of 1000000 cycles lost"),
        ({"wrong": 1.0}, "1 answers with a wrong working counter"),
    ],
)
def test_what_is_not_as_it_must_be_is_told(changes: dict[str, float], complaint: str) -> None:
    assert GOOD.complaints() == ()
    (line,) = replace(GOOD, cycle={**CYCLE, **changes}).complaints()
    assert complaint in line


def test_torque_that_went_off_and_reads_that_failed_are_told() -> None:
    (failed,) = replace(GOOD, failed=2).complaints()
    assert failed.startswith("2 of 10 mailbox")
    (lost,) = replace(GOOD, torque_lost=3).complaints()
    assert "3 samples" in lost
