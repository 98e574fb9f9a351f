# SPDX-License-Identifier: Apache-2.0
"""A channel that lags gives itself away by the time between position and velocity, and sound ones do not."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest

from bam_core.recordings import load_recordings
from bam_core.recordings.findings import report_findings
from bam_core.recordings.recording import Recording
from bam_core.recordings.velocity_lag import velocity_lag
from bam_core.text.finding import Finding
from bam_core.text.recording_findings import OtherLag, StaleVelocity
from test.core.finding_cases import logged
from test.core.identification_cases import mx106, record, xl330_logs


@pytest.fixture(scope="module")
def runs() -> list[Recording]:
    """Of one servo, whose velocity is as of 20 ms ago."""
    made = [record(mx106("m4"), script, 16.0) for script in ("sin_sin", "up_and_down", "sin_time_square")]
    return [replace(each, velocity=later(true_velocity(each), each.time, 0.02)) for each in made]


def true_velocity(run: Recording) -> np.ndarray:
    return np.gradient(run.position, run.time)


def later(values: np.ndarray, time: np.ndarray, by: float) -> np.ndarray:
    return np.interp(time - by, time, values)


def findings(runs: list[Recording], caplog: pytest.LogCaptureFixture) -> list[Finding]:
    """What is logged of the velocity."""
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        report_findings(runs, ())
    return [finding for finding in logged(caplog) if isinstance(finding, OtherLag | StaleVelocity)]


def test_the_lag_of_a_velocity_is_found(runs: list[Recording]) -> None:
    for run in runs:
        found = velocity_lag(run)
        assert found is not None
        assert found.lag == pytest.approx(0.02, abs=0.006)


@pytest.mark.parametrize(("channel", "by"), [("position", 0.06), ("velocity", 0.05)])
def test_a_channel_that_lags_in_one_recording_is_told(
    channel: str, by: float, runs: list[Recording], caplog: pytest.LogCaptureFixture
) -> None:
    assert findings(runs, caplog) == []
    spoilt = replace(runs[0], **{channel: later(getattr(runs[0], channel), runs[0].time, by)})
    (finding,) = findings([spoilt, *runs[1:]], caplog)
    assert isinstance(finding, OtherLag)
    assert (finding.names, finding.total) == ((spoilt.name,), 3)
    assert finding.lags == pytest.approx((0.02 + (by if channel == "velocity" else -by),), abs=0.006)
    assert finding.usual == pytest.approx((0.02,), abs=0.006)


def test_each_servo_has_a_lag_of_its_own(runs: list[Recording], caplog: pytest.LogCaptureFixture) -> None:
    slow = [
        replace(each, name=f"slow {each.name}", servo="other", velocity=later(each.velocity, each.time, 0.05))
        for each in runs
    ]
    assert findings([*runs, *slow], caplog) == []
    (finding,) = findings([*runs, replace(slow[0], servo=runs[0].servo)], caplog)
    assert isinstance(finding, OtherLag)
    assert (finding.names, finding.total) == ((slow[0].name,), 4)


def test_positions_that_lag_in_every_recording_are_told(
    runs: list[Recording], caplog: pytest.LogCaptureFixture
) -> None:
    spoilt = [replace(each, position=later(each.position, each.time, 0.05)) for each in runs]
    (finding,) = findings(spoilt, caplog)
    assert isinstance(finding, OtherLag)
    assert (len(finding.names), finding.usual) == (3, ())


def test_a_velocity_that_never_changes_is_told(
    runs: list[Recording], caplog: pytest.LogCaptureFixture
) -> None:
    stale = replace(runs[0], velocity=np.full(len(runs[0]), 0.1))
    lag = velocity_lag(stale)
    assert lag.is_stale
    assert np.isnan(lag.lag)
    assert findings([stale, *runs[1:]], caplog) == [StaleVelocity(names=(stale.name,), total=3)]


def test_nothing_is_told_of_real_recordings(caplog: pytest.LogCaptureFixture) -> None:
    assert findings(load_recordings([xl330_logs()]), caplog) == []


def test_an_arm_at_rest_and_a_servo_that_reports_no_velocity_tell_nothing(runs: list[Recording]) -> None:
    count = len(runs[0])
    assert velocity_lag(replace(runs[0], velocity=np.full(count, np.nan))) is None
    still = replace(runs[0], position=np.full(count, 0.1), velocity=np.zeros(count))
    assert velocity_lag(still) is None
