# SPDX-License-Identifier: Apache-2.0
"""Refused recordings are named; those with one reason share a line."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from bam_core.errors import BadData, OutOfRange
from bam_core.recordings.excluded import Exclusions

NAMES = ("first", "second", "third", "good")


def refuse(recording: SimpleNamespace) -> None:
    """Refuse two for one reason, and one for another."""
    if recording.name == "good":
        return
    field = "mass" if recording.name == "third" else "kp"
    raise OutOfRange(f"logs/{recording.name}.json: {field}", -1, "at least 0")


def test_recordings_with_one_reason_share_a_line(caplog: pytest.LogCaptureFixture) -> None:
    exclusions = Exclusions()
    with caplog.at_level(logging.WARNING):
        kept = exclusions.usable([SimpleNamespace(name=name) for name in NAMES], refuse)
    assert [recording.name for recording in kept] == ["good"]
    assert [excluded.name for excluded in exclusions.excluded] == ["first", "second", "third"]
    shared, own = (record.getMessage() for record in caplog.records)
    assert "first" in shared
    assert "second" not in shared
    assert shared.count("kp") == 1
    assert "third" in own


def test_where_none_is_left_the_call_ends(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BadData), caplog.at_level(logging.WARNING):
        Exclusions().usable([SimpleNamespace(name=name) for name in NAMES[:3]], refuse)
    assert len(caplog.records) == 2
