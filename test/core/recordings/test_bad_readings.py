# SPDX-License-Identifier: Apache-2.0
"""False readings are found, and sound ones of any motion stay."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.recordings.bad_readings import (
    false_positions,
    false_supply,
    false_temperature,
    no_supply,
    repeated,
    without_false_readings,
)
from bam_core.recordings.left_out import require_few
from bam_core.recordings.position_jumps import first_jump
from bam_core.text.left_out import Reason
from test.core.identification_cases import mx106, record
from test.core.refusals import refused

SCRIPTS = ("sin_sin", "sin_time_square", "up_and_down", "lift_and_drop")


@pytest.fixture(scope="module", params=SCRIPTS)
def sound(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """Time and position of a servo's recording."""
    recording = record(mx106("m4"), request.param, 16.0)
    return recording.time, recording.position


def found(
    time: np.ndarray, position: np.ndarray, velocity: np.ndarray | None = None
) -> dict[Reason, list[int]]:
    if velocity is None:
        velocity = np.full(len(time), np.nan)
    return {reason: list(np.flatnonzero(mask)) for reason, mask in false_positions(time, position, velocity)}


def test_nothing_is_found_in_a_sound_recording(sound: tuple[np.ndarray, np.ndarray]) -> None:
    assert found(*sound) == {}
    assert not false_supply(np.random.default_rng(0).choice([6.2, 8.3], 500)).any()  # of an XL330
    assert not false_temperature(np.repeat(np.arange(30.0, 60.0), 20)).any()


@pytest.mark.parametrize("size", [-3.14, 0.3, 6.28])
@pytest.mark.parametrize("run", [1, 2, 5, 9])
def test_spikes_are_found_with_the_samples_beside_them(
    run: int, size: float, sound: tuple[np.ndarray, np.ndarray]
) -> None:
    time, position = sound
    for place in (100, len(time) // 2, len(time) - 40):
        bad = position.copy()
        bad[place : place + run] += size
        assert found(time, bad) == {
            Reason.SPIKE: list(range(place, place + run)),
            Reason.BESIDE: [place - 1, place + run],
        }


@pytest.mark.parametrize("rate", [25.0, 30.0])
def test_motion_that_turns_at_the_end_of_slow_reading_is_sound_and_a_spike_is_found(rate: float) -> None:
    """As in runs of the STS3215 read at 30 Hz, that turn at 5 rad/s."""
    time = np.arange(0.0, 3.0, 1.0 / rate)
    turn = time[-3]
    position = 0.2 * np.sin(2.0 * time) + np.interp(time, [turn - 0.4, turn, turn + 0.4], [0.0, 1.6, 0.0])
    assert found(time, position) == {}
    here = len(time) // 2
    position[here] -= 0.6
    assert found(time, position)[Reason.SPIKE] == [here]


@pytest.mark.parametrize("run", [1, 3, 4, 8])
def test_a_few_false_readings_at_the_start_are_found_and_more_are_a_jump(
    run: int, sound: tuple[np.ndarray, np.ndarray]
) -> None:
    """An encoder may have lost its offset after them."""
    time, position = sound
    bad = position.copy()
    bad[:run] += 0.5
    spikes = found(time, bad).get(Reason.SPIKE, [])
    assert spikes == (list(range(run)) if run <= 3 else [])
    assert first_jump(time[len(spikes) :], bad[len(spikes) :]) == (None if run <= 3 else run)


@pytest.mark.parametrize("lost", [-0.3, 1.0, 2.0 * np.pi])
def test_an_offset_that_is_lost_is_a_jump_where_it_is(
    lost: float, sound: tuple[np.ndarray, np.ndarray]
) -> None:
    time, position = sound
    assert first_jump(time, position) is None
    for place in (100, len(time) // 2, len(time) - 40):
        bad = position + np.where(np.arange(len(time)) >= place, lost, 0.0)
        assert first_jump(time, bad) == place


@pytest.mark.parametrize(("size", "run"), [(0.05, 5), (0.08, 3), (0.3, 8)])
@pytest.mark.parametrize("reported", [0.0, np.nan])
def test_an_arm_at_rest_before_and_after_a_bump_is_not_frozen(reported: float, run: int, size: float) -> None:
    time = np.arange(0.0, 6.0, 0.01)
    path = np.minimum(time, 2.0)
    position = np.round((path - 0.25 * path**2) / 1.5e-3) * 1.5e-3  # comes to rest after 2 s
    for place in (350, 590):
        bad = position.copy()
        bad[place : place + run] += size
        assert Reason.FROZEN not in found(time, bad, np.full(len(time), reported))


@pytest.mark.parametrize("place", [0, -1])
def test_a_spike_at_either_end_is_found(place: int, sound: tuple[np.ndarray, np.ndarray]) -> None:
    time, position = sound
    bad = position.copy()
    bad[place] += 2.0
    assert place % len(time) in found(time, bad)[Reason.SPIKE]
    assert len(found(time, bad)[Reason.SPIKE]) == 1


@pytest.mark.parametrize("missed", [8, 20])
@pytest.mark.parametrize("between", [1, 3, 30])
def test_samples_between_two_pauses_of_the_recorder_are_sound(
    between: int, missed: int, sound: tuple[np.ndarray, np.ndarray]
) -> None:
    time, position = sound
    fastest = int(np.argmax(np.abs(np.gradient(position, time))))
    for place in (fastest, len(time) // 3, len(time) // 2):
        seen = np.ones(len(time), dtype=bool)
        seen[place - missed : place] = seen[place + between : place + between + missed] = False
        assert found(time[seen], position[seen]) == {}
        bad = position[seen].copy()
        bad[place - 50] += 0.5
        assert found(time[seen], bad) == {
            Reason.SPIKE: [place - 50],
            Reason.BESIDE: [place - 51, place - 49],
        }


def test_several_in_one_log_are_found(sound: tuple[np.ndarray, np.ndarray]) -> None:
    time, position = sound
    bad, places = position.copy(), [60, 64, 200, 300]
    bad[places] = -np.pi
    assert set(places) <= set(found(time, bad)[Reason.SPIKE])
    assert len(found(time, bad)[Reason.SPIKE]) == len(places)


def test_what_is_no_number_is_left_out(sound: tuple[np.ndarray, np.ndarray]) -> None:
    time, position = sound
    bad = position.copy()
    bad[[7, 8, 150]] = np.nan
    assert found(time, bad) == {Reason.MISSING: [7, 8, 150]}


def test_readings_that_freeze_while_the_arm_moves_are_found() -> None:
    time = np.arange(0.0, 6.0, 0.01)
    position = np.round(np.sin(2.0 * time) / 1.5e-3) * 1.5e-3
    frozen = position.copy()
    frozen[150:190] = position[150]
    assert found(time, frozen) == {Reason.FROZEN: list(range(151, 190))}


def test_readings_that_freeze_to_the_end_or_until_the_arm_is_back_are_found() -> None:
    time = np.arange(0.0, 6.0, 0.01)
    position = np.round(np.sin(2.0 * time) / 1.5e-3) * 1.5e-3
    back = 100 + int(100 * (np.pi / 2.0 - 1.0)) * 2 + 1  # where it passes the same place again
    for start, end in ((300, 600), (580, 600), (50, back)):
        frozen = position.copy()
        frozen[start:end] = position[start]
        assert found(time, frozen) == {Reason.FROZEN: list(range(start + 1, end))}


def test_readings_that_freeze_at_rest_are_found_where_the_servo_reports_that_it_moves() -> None:
    time = np.arange(0.0, 6.0, 0.01)
    path = np.minimum(time, 1.0)
    position = np.round((2.0 * path - path**2) / 1.5e-3) * 1.5e-3  # slows down to rest
    velocity = np.where(time > 3.0, 2.0 * np.sin(4.0 * (time - 3.0)), 0.02)
    velocity[::7] = np.nan
    here = int(np.flatnonzero(position == position[-1])[0])
    assert found(time, position, velocity) == {Reason.FROZEN: list(range(here + 1, 600))}
    assert found(time, position, np.where(time > 3.0, 0.4, 0.02)) == {}  # may be noise
    assert found(time, position) == {}


def frozen_columns(start: int, count: int) -> dict[str, np.ndarray]:
    recording = record(mx106("m4"), "sin_sin", 16.0)
    position = recording.position.copy()
    position[start : start + count] = position[start]
    names = ("time", "velocity", "goal_position", "voltage", "temperature")
    return {name: getattr(recording, name) for name in names} | {"position": position}


@pytest.mark.parametrize(
    ("start", "count", "kept"),
    [(900, 301, slice(0, 901)), (300, 200, slice(500, 1201))],
)
def test_of_a_recording_that_is_frozen_for_long_the_longest_sound_stretch_is_kept(
    start: int, count: int, kept: slice
) -> None:
    columns = frozen_columns(start, count)
    samples, left_out = without_false_readings(columns)
    for name, values in samples.items():
        assert np.array_equal(values, columns[name][kept], equal_nan=True)
    assert left_out[0].kind is Reason.FROZEN
    assert sum(part.samples for part in left_out) == len(columns["time"]) - len(samples["time"])
    require_few(left_out, len(samples["time"]))


def test_a_recording_that_is_frozen_for_most_of_the_time_is_refused() -> None:
    columns = frozen_columns(390, 800)
    kept, left_out = without_false_readings(columns)
    assert [part.kind for part in left_out] == [Reason.FROZEN]
    with refused(BadData, thing="position"):
        require_few(left_out, len(kept["time"]))


@pytest.mark.parametrize("braking", [50.0, 100.0, 150.0])
def test_an_arm_that_brakes_hard_is_not_frozen(braking: float) -> None:
    time = np.arange(0.0, 3.0, 0.01)
    since = np.clip(time - 1.0, 0.0, 5.0 / braking)
    path = 5.0 * np.minimum(time, 1.0) + 5.0 * since - 0.5 * braking * since**2
    assert found(time, np.round(path / 1.5e-3) * 1.5e-3) == {}


def test_an_arm_that_sticks_and_breaks_away_is_not_frozen() -> None:
    time = np.arange(0.0, 3.0, 0.01)
    free = np.maximum(time - 1.0, 0.0)
    position = np.round(20.0 * free**2 / 1.5e-3) * 1.5e-3  # 40 rad/s² once it breaks away
    assert found(time[:140], position[:140]) == {}


def test_false_supplies_and_temperatures_are_found() -> None:
    supply = np.full(300, 12.0) + 0.1 * np.sin(np.arange(300))
    temperature = np.full(300, 40.0)
    for place, volts, degrees in ((50, 0.0, 0.0), (120, 25.0, 150.0), (0, 1.0, 5.0)):
        bad, hot = supply.copy(), temperature.copy()
        bad[place], hot[place] = volts, degrees
        assert list(np.flatnonzero(false_supply(bad))) == [place]
        assert list(np.flatnonzero(false_temperature(hot))) == [place]
    assert not false_supply(np.full(300, np.nan)).any()


def test_a_supply_of_zero_is_false_however_long_it_is_read() -> None:
    supply = np.full(300, 12.0)
    supply[40:60] = 0.0
    assert list(np.flatnonzero(no_supply(supply))) == list(range(40, 60))
    supply[60:] = -0.1
    assert not no_supply(supply).any()  # that is no reading that is false now and then


@pytest.mark.parametrize("volts", [25.0, 2.0])
def test_a_supply_far_off_is_false_however_long_it_is_read(volts: float) -> None:
    supply = np.full(300, 12.0)
    supply[40:52] = volts
    assert list(np.flatnonzero(false_supply(supply))) == list(range(40, 52))
    supply[40:150] = volts  # two supplies
    assert not false_supply(supply).any()
    supply[40:150] = 8.5  # a sag
    assert not false_supply(supply).any()


def test_samples_that_were_written_twice_are_found() -> None:
    time = np.array([0.0, 0.01, 0.01, 0.02, 0.02])
    position = np.array([0.0, 0.1, 0.1, 0.2, 0.3])
    assert list(repeated(time, position, np.full(5, np.nan))) == [False, False, True, False, False]
