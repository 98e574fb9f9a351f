# SPDX-License-Identifier: Apache-2.0
"""Readings that take no part, in words."""

from __future__ import annotations

import json

from bam_core.text.left_out import LeftOut, Reason


def test_readings_that_are_not_used_are_counted_with_reason_and_first_entry() -> None:
    one = LeftOut(kind=Reason.MISSING, channel="position", samples=1, first=100)
    assert one.phrase == "1 reading of position (not numbers, first at entry 100)"
    assert one.sentence == "Not used: 1 reading of position (not numbers, first at entry 100)."
    two = LeftOut(kind=Reason.MISSING, channel="load", samples=2, first=0)
    assert two.phrase.startswith("2 readings of load")
    assert json.loads(json.dumps(one.summary()))["kind"] == "missing"
