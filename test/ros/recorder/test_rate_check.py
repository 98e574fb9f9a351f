# SPDX-License-Identifier: Apache-2.0
"""Recordings with few states per second are remarked on while the bench still stands."""

from __future__ import annotations

from bam_ros.recorder.rate_check import LEAST_RATE, rate_warning
from bam_ros.text.recorder_notices import FewStates


def test_a_slow_recording_is_warned_of_with_its_rate() -> None:
    assert rate_warning(360, 6.0) == FewStates(rate=60.0, least=LEAST_RATE)


def test_a_recording_at_the_least_rate_is_not_remarked_on() -> None:
    assert rate_warning(round(LEAST_RATE * 6.0), 6.0) is None
