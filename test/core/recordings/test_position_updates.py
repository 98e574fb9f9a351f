# SPDX-License-Identifier: Apache-2.0
"""Positions that were updated by a clock of their own are taken as of when they were updated; others stay."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from bam_core.recordings import load_recordings
from bam_core.recordings.bad_readings import false_positions
from bam_core.recordings.cleaning import clean
from bam_core.recordings.position_updates import at_read_times, find_updates
from bam_core.text.recording_findings import LatePositions
from test.core.finding_cases import logged
from test.core.json_log_cases import log, save

COUNT = 2.0 * np.pi / 4096


def swing(time: np.ndarray) -> np.ndarray:
    """Return an arm that swings up to 7 rad/s and rests in between, rad."""
    return 1.2 * np.sin(2.0 * np.pi * 0.6 * time) * np.sin(2.0 * np.pi * 0.15 * time) ** 2


def rounded(position: np.ndarray) -> np.ndarray:
    return np.round(position / COUNT) * COUNT


def read_times(period: float, jitter: float, duration: float = 6.0) -> np.ndarray:
    count = int(duration / period)
    return np.arange(count) * period + np.random.default_rng(1).uniform(0.0, jitter, count)


def updated(time: np.ndarray, period: float, slips: dict[float, float]) -> np.ndarray:
    """Return when the clock last ticked, s; it slips by so much from some times on."""
    phase = sum((np.where(time >= at, slip, 0.0) for at, slip in slips.items()), np.full(len(time), 0.001))
    return phase + period * np.floor((time - phase) / period)


@pytest.mark.parametrize("period", [0.0067, 0.008, 0.0137, 0.0223])
@pytest.mark.parametrize("slips", [{}, {2.1: 0.003, 3.7: -0.002}], ids=["even", "slips"])
def test_ages_are_found(period: float, slips: dict[float, float]) -> None:
    """As far as readings tell: that they come at all phases of the clock takes some jitter."""
    time = read_times(0.01, 0.002)
    ticks = updated(time, period, slips)
    read = rounded(swing(ticks))
    updates = find_updates(time, read)
    assert updates is not None
    assert updates.period == pytest.approx(period, rel=0.01)
    moves = np.abs(swing(ticks + 1e-3) - swing(ticks - 1e-3)) > 4e-3
    wrong = np.abs(updates.ages - (time - ticks))[moves]
    assert np.median(wrong) < 0.06 * period
    position, told = at_read_times(time, read, updates.ages)
    assert np.count_nonzero(~told) <= np.ceil(period / 0.01)
    before, after = (np.abs(each - swing(time))[told].mean() for each in (read, position))
    assert after < 0.35 * before


def test_every_second_reading_repeated_is_found() -> None:
    time = np.arange(0.0, 6.0, 0.01)
    read = rounded(swing(time))[np.arange(len(time)) // 2 * 2]
    updates = find_updates(time, read)
    assert updates is not None
    assert updates.period == pytest.approx(0.02, rel=0.01)
    assert updates.ages[0::2].mean() == pytest.approx(0.0, abs=1e-3)
    assert updates.ages[1::2].mean() == pytest.approx(0.01, abs=1e-3)


@pytest.mark.parametrize("period", [0.033, 0.06])
def test_a_slow_clock_is_found_by_its_repeats(period: float) -> None:
    time = read_times(0.01, 0.001)
    read = rounded(swing(updated(time, period, {})))
    require_mended(time, read)


def test_readings_that_are_repeated_at_random_are_found() -> None:
    time = read_times(0.01, 0.001)
    repeated = np.random.default_rng(2).random(len(time)) < 0.4
    fresh = np.maximum.accumulate(np.where(repeated, 0, np.arange(len(time))))
    require_mended(time, rounded(swing(time))[fresh])


def require_mended(time: np.ndarray, read: np.ndarray) -> None:
    updates = find_updates(time, read)
    assert updates is not None
    position, told = at_read_times(time, read, updates.ages)
    before, after = (np.abs(each - swing(time))[told].mean() for each in (read, position))
    assert after < 0.35 * before


@pytest.mark.parametrize("repeats", [3, 5])
def test_updates_that_look_like_jumps_are_no_spikes(repeats: int) -> None:
    time = np.arange(0.0, 6.0, 0.005)
    fast = rounded(1.5 * np.sin(2.0 * np.pi * 0.9 * time))
    columns = {
        "time": time,
        "position": fast[np.arange(len(time)) // repeats * repeats],
        "voltage": np.full(len(time), 12.0),
        "temperature": np.full(len(time), 30.0),
    }
    found = false_positions(time, columns["position"], np.full(len(time), np.nan))
    assert any(np.count_nonzero(mask) > 0.05 * len(time) for _, mask in found)
    cleaned = clean(columns)
    assert cleaned.left_out == ()
    assert cleaned.update_period == pytest.approx(repeats * 0.005, rel=0.1)
    off = np.abs(cleaned.samples["position"] - np.interp(cleaned.samples["time"], time, fast))
    assert off.mean() < 0.5 * np.abs(columns["position"] - fast).mean()


def test_readings_that_were_bridged_feign_no_clock() -> None:
    """Between them, steps are smaller than a count of the encoder."""
    time = read_times(0.0025, 0.0002)
    position = rounded(0.1 * swing(time))
    assert find_updates(time, position) is None
    position[[300, 301, 900, 1500]] = -2.0
    columns = {
        "time": time,
        "position": position,
        "voltage": np.full(len(time), 12.0),
        "temperature": np.full(len(time), 30.0),
    }
    cleaned = clean(columns)
    assert sum(part.samples for part in cleaned.left_out) == 4
    assert cleaned.update_period is None


@pytest.mark.parametrize("count", [COUNT, 2.0 * np.pi / 1024, 0.0])
@pytest.mark.parametrize(("period", "jitter"), [(0.01, 0.001), (0.005, 0.003), (0.001, 0.0)])
def test_nothing_is_found_where_positions_are_as_of_their_times(
    period: float, jitter: float, count: float
) -> None:
    """Not even where steps of a coarse encoder come at a rate of their own."""
    time = read_times(period, jitter)
    position = swing(time)
    assert find_updates(time, np.round(position / count) * count if count else position) is None


@pytest.mark.parametrize("period", [1e-4, 1e-3, 1e-2])
def test_a_gap_is_no_error(period: float) -> None:
    time = np.arange(0.0, 3.0, period)
    time[len(time) // 2 :] += 0.49
    for position in (np.sin(5.0 * time), np.where(time > 1.5, 1.0, 0.0), np.zeros(len(time))):
        assert find_updates(time, rounded(position)) is None


def test_times_that_are_not_exact_are_no_updates() -> None:
    """Of the jitter of a stamp, a clock of half the period would explain a part, but none is there."""
    time = np.arange(0.0, 8.0, 0.02)
    jitter = np.random.default_rng(3).normal(0.0, 0.002, len(time))
    assert find_updates(time + jitter, rounded(1.5 * np.sin(2.0 * np.pi * 0.5 * time))) is None


@pytest.mark.parametrize("speed", [0.4, 0.7, 1.1, 2.3])
def test_steps_of_the_encoder_are_no_updates(speed: float) -> None:
    """An arm that turns evenly crosses counts at a rate of its own."""
    time = read_times(0.001, 0.0, 1.0)
    assert find_updates(time, rounded(speed * time)) is None


def test_nothing_is_found_where_the_arm_rests_or_readings_are_few() -> None:
    time = read_times(0.01, 0.001)
    ticks = updated(time, 0.008, {})
    assert find_updates(time, rounded(0.01 * swing(ticks))) is None
    assert find_updates(time[:20], rounded(swing(ticks))[:20]) is None
    assert find_updates(time[:0], time[:0]) is None


def test_a_log_says_so_and_has_positions_of_its_times(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    time = read_times(0.01, 0.001)
    read = rounded(swing(updated(time, 0.008, {})))
    entry = log()["entries"][0]
    entries = [
        {**entry, "timestamp": t, "position": q, "goal_position": q}
        for t, q in zip(time.tolist(), read.tolist(), strict=True)
    ]
    for each in entries:
        del each["speed"]
    with caplog.at_level(logging.INFO):
        (recording,) = load_recordings(save(tmp_path, log(entries=entries)))
    assert recording.position_update_period == pytest.approx(0.008, rel=0.01)
    (finding,) = logged(caplog)
    assert isinstance(finding, LatePositions)
    assert finding.total == len(finding.names) == 1
    assert finding.median == pytest.approx(0.008, rel=0.01)
    assert np.abs(recording.position - swing(recording.time)).mean() < 0.3 * np.abs(read - swing(time)).mean()
