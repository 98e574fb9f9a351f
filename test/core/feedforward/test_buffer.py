# SPDX-License-Identifier: Apache-2.0
"""Pieces and their buffer: continuous hand-over, reasons for refusals, rest at the end of the stream."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BamError, Conflict, OutOfRange, WrongShape
from bam_core.feedforward import HandOver, Limits, Piece, PieceBuffer
from test.core.feedforward_cases import LIMITS, buffer, line
from test.core.refusals import refused

coefficients = st.lists(st.floats(-3.0, 3.0), min_size=10, max_size=10)


def check_continuous(found: PieceBuffer, times: np.ndarray) -> None:
    references = [found.at(t) for t in times]
    position = np.array([each.position for each in references])
    velocity = np.array([each.velocity for each in references])
    torque = np.array([each.torque for each in references])
    dt = times[1] - times[0]
    assert np.all(np.abs(np.diff(position, axis=0)) <= 1.01 * dt * LIMITS.speed + 1e-9)
    assert np.all(position >= LIMITS.low - 1e-6)
    assert np.all(position <= LIMITS.high + 1e-6)
    assert np.all(np.abs(velocity) <= LIMITS.speed + 1e-6)
    assert np.all(np.abs(torque) <= LIMITS.torque + 1e-6)


@given(coefficients, st.floats(0.05, 1.0))
@settings(max_examples=40, deadline=None)
def test_extremes_are_those_of_the_curve_and_bounds_lie_around_them(values, duration) -> None:
    position = np.reshape(values, (2, 5))
    piece = Piece(start=0.0, duration=duration, position=position, torque=-position)
    seen = np.array([piece.at(t).position for t in np.linspace(0.0, duration, 300)])
    low, high = piece.extremes("position")
    least, most = piece.bounds("position")
    assert np.all(low <= seen.min(axis=0) + 1e-9)
    assert np.all(high >= seen.max(axis=0) - 1e-9)
    assert low == pytest.approx(seen.min(axis=0), abs=1e-3)
    assert high == pytest.approx(seen.max(axis=0), abs=1e-3)
    assert np.all(least <= low + 1e-9)
    assert np.all(most >= high - 1e-9)


@given(coefficients, st.floats(0.0, 0.9))
@settings(max_examples=40, deadline=None)
def test_a_part_of_a_piece_is_the_same_curve(values, share) -> None:
    position = np.reshape(values, (2, 5))
    piece = Piece(start=1.0, duration=0.5, position=position, torque=2.0 * position)
    part = piece.part(1.0 + 0.5 * share, 0.5 * (1.0 - share))
    for time in np.linspace(part.start, part.end, 7):
        assert part.at(time).position == pytest.approx(piece.at(time).position, abs=1e-9)
        assert part.at(time).velocity == pytest.approx(piece.at(time).velocity, abs=1e-9)
        assert part.at(time).torque == pytest.approx(piece.at(time).torque, abs=1e-9)


def test_pieces_that_continue_each_other_play_unchanged() -> None:
    found = buffer(speed_jump=2.0)
    first = line(0.1, 0.15, [0.0, 0.0], [1.0, -1.0], 0.5)
    second = line(0.25, 0.15, [0.15, -0.15], [1.0, -1.0], 0.5)
    found.offer(first, 0.0)
    found.offer(second, 0.12)
    for time in np.linspace(0.145, 0.395, 30):  # behind the blend from rest
        assert found.at(time).position == pytest.approx([time - 0.1, 0.1 - time], abs=1e-9)
        assert found.at(time).velocity == pytest.approx([1.0, -1.0], abs=1e-9)


def test_a_piece_that_does_not_quite_continue_is_blended_without_a_jump() -> None:
    found = buffer()
    found.offer(line(0.1, 0.5, [0.03, 0.0], [0.5, 0.2], 1.0), 0.0)
    assert found.at(0.1).position == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.at(0.1).velocity == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.at(0.1).torque == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.at(0.1401).position == pytest.approx([0.03 + 0.5 * 0.0401, 0.2 * 0.0401])
    check_continuous(found, np.arange(0.0, 1.5, 1e-3))


def test_a_late_piece_is_joined_where_it_would_be_by_now() -> None:
    found = buffer()
    found.offer(line(0.0, 0.5, [-0.02, 0.0], [0.1, 0.0]), 0.2)
    assert found.at(0.199).position == pytest.approx([0.0, 0.0])
    assert found.at(0.3).position == pytest.approx([0.01, 0.0])
    check_continuous(found, np.arange(0.0, 1.0, 1e-3))


def test_an_overlapping_piece_replaces_what_was_planned_from_its_start_on() -> None:
    found = buffer()
    found.offer(line(0.0, 1.0, [0.0, 0.0], [1.0, 0.0]), 0.0)
    found.offer(line(0.5, 1.0, [0.5, 0.0], [0.2, 0.0]), 0.3)
    assert found.at(0.4).velocity == pytest.approx([1.0, 0.0])
    assert found.at(0.9).velocity == pytest.approx([0.2, 0.0])
    check_continuous(found, np.arange(0.0, 2.0, 1e-3))


@pytest.mark.parametrize(
    ("piece", "kind", "thing"),
    [
        (lambda: line(0.1, 0.15, [0.3, 0.0], [0.0, 0.0]), OutOfRange, "it, jump of position of joint 0"),
        (lambda: line(0.1, 0.15, [0.0, 0.0], [0.0, 4.0]), OutOfRange, "it, jump of velocity of joint 1"),
        (lambda: line(0.1, 0.15, [0.0, 0.0], [0.0, 0.0], 3.5), OutOfRange, "it, jump of torque of joint 0"),
        (lambda: line(-1.0, 0.15, [0.0, 0.0], [0.0, 0.0]), OutOfRange, "it, end"),
        (lambda: line(9.0, 0.15, [0.0, 0.0], [0.0, 0.0]), OutOfRange, "it, start"),
        (lambda: line(0.1, 1.0, [0.0, 0.0], [0.0, 1.9]), OutOfRange, "it, position of joint 1"),
        (lambda: line(0.1, 0.1, [0.0, 0.0], [7.0, 0.0]), OutOfRange, "it, velocity of joint 0"),
        (lambda: line(0.1, 0.1, [0.0, 0.0], [0.0, 0.0], 5.0), OutOfRange, "it, torque of joint 0"),
        (
            lambda: line(0.1, 0.1, [np.nan, 0.0], [0.0, 0.0]),
            OutOfRange,
            "piece at 0.1 s, position of joint 0, coefficient 0",
        ),
        (
            lambda: line(0.1, 0.1, [0.0, 0.0], [0.0, np.inf]),
            OutOfRange,
            "piece at 0.1 s, position of joint 1, coefficient 1",
        ),
        (lambda: line(0.1, -0.1, [0.0, 0.0], [0.0, 0.0]), OutOfRange, "piece duration"),
        (lambda: line(np.nan, 0.1, [0.0, 0.0], [0.0, 0.0]), OutOfRange, "piece start"),
        (
            lambda: Piece(start=0.0, duration=1.0, position=np.zeros((1, 5)), torque=np.zeros((1, 5))),
            WrongShape,
            "it, joints",
        ),
        (
            lambda: Piece(start=0.0, duration=1.0, position=np.zeros((2, 4)), torque=np.zeros((2, 4))),
            WrongShape,
            "piece position, shape",
        ),
        (
            lambda: Piece(start=0.0, duration=1.0, position=np.zeros((2, 5)), torque=np.zeros((1, 5))),
            WrongShape,
            "piece at 0 s, torques",
        ),
    ],
)
def test_a_piece_is_refused_with_the_reason_and_nothing_changes(piece, kind, thing) -> None:
    found = buffer()
    found.offer(line(0.0, 0.15, [0.0, 0.0], [0.0, 0.0], 0.1), 0.0)
    times = np.arange(0.0, 1.0, 5e-3)
    before = [found.at(t) for t in times]
    with refused(kind, thing=thing):
        found.offer(piece(), 0.0, name="it")
    for time, reference in zip(times, before, strict=True):
        assert np.array_equal(found.at(time).position, reference.position)
        assert np.array_equal(found.at(time).torque, reference.torque)


def test_one_piece_waits_and_a_second_is_refused_until_the_first_plays() -> None:
    found = buffer()
    for index in range(2):
        found.offer(line(0.15 * index, 0.15, [0.0, 0.0], [0.0, 0.0]), 0.0)
    third = line(0.3, 0.15, [0.0, 0.0], [0.0, 0.0])
    with refused(Conflict, thing="piece +0.2 s from now"):
        found.offer(third, 0.1)
    found.offer(third, 0.151)


@given(coefficients, st.floats(0.0, 0.4), st.floats(0.02, 0.4), coefficients)
@settings(max_examples=60, deadline=None)
def test_whatever_comes_the_reference_keeps_limits_and_never_jumps(first, start, duration, second) -> None:
    found = PieceBuffer([first[0], second[0] / 3.0], LIMITS) if abs(first[0]) < 2.0 else buffer()
    now = found.at(0.0).position
    for index, values in enumerate((first, second)):
        position = np.reshape(values, (2, 5)).copy()
        position[:, 0] = now if index == 0 else found.at(start).position + 0.01
        position[:, 1] = 0.0
        piece = Piece(
            start=index * start, duration=duration, position=position, torque=np.reshape(second, (2, 5))
        )
        try:
            found.offer(piece, 0.0)
        except BamError:
            continue
    check_continuous(found, np.arange(0.0, 1.2, 2e-3))
    assert np.all(found.at(5.0).velocity == 0.0)


@given(st.floats(0.0, 0.15), st.floats(-4.5, 4.5), st.floats(-4.5, 4.5))
@settings(max_examples=40, deadline=None)
def test_a_stop_at_any_time_brakes_to_rest_and_lets_torque_fade(when, one, two) -> None:
    found = PieceBuffer([0.0, 0.2], LIMITS, HandOver(speed_jump=10.0))
    found.offer(line(0.0, 0.15, [0.0, 0.2], [one, two], 1.0), 0.0)
    found.stop(when)
    check_continuous(found, np.arange(0.0, 0.5, 1e-3))
    rest = found.at(1.0)
    assert np.all(rest.velocity == 0.0)
    assert np.all(rest.acceleration == 0.0)
    assert np.array_equal(rest.position, found.at(2.0).position)
    if max(abs(one), abs(two)) > 0.1 and when > 0.05:
        assert rest.torque == pytest.approx([0.0, 0.0], abs=1e-9)


def test_torque_stays_where_the_stream_ends_at_rest() -> None:
    found = buffer()
    found.offer(line(0.0, 0.15, [0.0, 0.0], [0.0, 0.0], 1.0), 0.0)
    assert found.at(3.0).torque == pytest.approx([1.0, 1.0])


def test_limits_and_places_that_make_no_sense_are_refused() -> None:
    with refused(Conflict, thing="limits"):
        Limits(low=[1.0], high=[0.0], speed=[1.0], torque=[1.0])
    with refused(OutOfRange, thing="limits speed"):
        Limits(low=[0.0], high=[1.0], speed=[np.nan], torque=[1.0])
    with refused(OutOfRange, thing="buffer position"):
        PieceBuffer([np.nan, 0.0], LIMITS)
    with refused(OutOfRange, thing="hand-over blend"):
        HandOver(blend=0.0)
