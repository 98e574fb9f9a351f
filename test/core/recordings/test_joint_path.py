# SPDX-License-Identifier: Apache-2.0
"""Paths pass through their points, as smoothly as these say."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.recordings.joint_path import JointPath, PathPoint

NUMBERS = st.floats(-3.0, 3.0)


@st.composite
def paths(draw: st.DrawFn) -> list[PathPoint]:
    """Points of two joints, with velocities and accelerations in none, some or all."""
    points, time = [], draw(st.floats(0.0, 1.0))
    for _ in range(draw(st.integers(1, 5))):
        order = draw(st.integers(0, 2))
        rows = [draw(st.tuples(NUMBERS, NUMBERS)) for _ in range(3)]
        points.append(
            PathPoint(
                time=time,
                position=rows[0],
                velocity=rows[1] if order > 0 else (),
                acceleration=rows[2] if order > 1 else (),
            )
        )
        time += draw(st.floats(0.1, 2.0))
    return points


@given(points=paths())
def test_a_path_passes_through_its_points_and_stands_before_and_after(points: list[PathPoint]) -> None:
    path = JointPath(points)
    for point in points:
        assert path.at(point.time)[0] == pytest.approx(point.position, abs=1e-9)
    assert path.at(points[0].time - 1.0) == (points[0].position, (0.0, 0.0))
    assert path.at(points[-1].time + 1.0) == (points[-1].position, (0.0, 0.0))
    assert (path.end, path.last) == (points[-1].time, points[-1].position)


@given(points=paths(), share=st.floats(0.05, 0.95))
def test_velocity_is_the_derivative_of_position(points: list[PathPoint], share: float) -> None:
    path, h = JointPath(points), 1e-5
    for first, second in itertools.pairwise(points):
        time = first.time + share * (second.time - first.time)
        after, before = path.at(time + h)[0], path.at(time - h)[0]
        slopes = [(b - a) / (2.0 * h) for a, b in zip(before, after, strict=True)]
        assert path.at(time)[1] == pytest.approx(slopes, abs=1e-3, rel=1e-4)


@given(points=paths(), time=st.floats(-1.0, 12.0), start=st.tuples(NUMBERS, NUMBERS))
def test_a_path_that_starts_elsewhere_ends_where_it_did(
    points: list[PathPoint], time: float, start: tuple[float, float]
) -> None:
    path = JointPath(points)
    moved = path.starting_from(time, start, (0.0, 0.0))
    assert moved.last == path.last
    if time < points[-1].time - 1e-5:
        assert moved.at(time)[0] == pytest.approx(start, abs=1e-9)
        left = [point for point in points if point.time > time + 1e-5]
        assert moved.at(left[0].time)[0] == pytest.approx(left[0].position, abs=1e-9)


@pytest.mark.parametrize("order", [1, 3, 5])
def test_polynomials_up_to_what_points_say_are_exact(order: int) -> None:
    def value(time: float, derivative: int = 0) -> float:
        return math.perm(order, derivative) * time ** max(order - derivative, 0)

    points = [
        PathPoint(
            time=time,
            position=(value(time),),
            velocity=(value(time, 1),) if order > 1 else (),
            acceleration=(value(time, 2),) if order > 3 else (),
        )
        for time in (0.0, 0.5, 1.25)
    ]
    path = JointPath(points)
    for time in (0.1, 0.3, 0.7, 1.2):
        position, velocity = path.at(time)
        assert position == pytest.approx((value(time),))
        assert velocity == pytest.approx((value(time, 1),))
