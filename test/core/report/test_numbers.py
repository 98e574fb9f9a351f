# SPDX-License-Identifier: Apache-2.0
"""Numbers read well: few digits, real minus signs, a dash for what nobody knows."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.report.numbers import (
    Scale,
    change,
    interval,
    mrad,
    mrad_interval,
    quantity,
    round_up,
    ticks,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"),
        (0.123456, "0.1235"),
        (-0.5, "−0.5"),
        (2.3056e-5, "2.306·10⁻⁵"),
        (math.nan, "–"),
        (0.0, "0"),
    ],
)
def test_quantities_have_four_digits(value: float, text: str) -> None:
    assert quantity(value) == text


def test_angles_are_milliradians() -> None:
    assert mrad(0.01274) == "12.74"
    assert mrad(0.1126) == "112.6"
    assert mrad(math.nan) == "–"
    assert mrad_interval((0.008, 0.012)) == "8.00 to 12.00"
    assert mrad_interval((0.008, math.nan)) == ""


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (2.04912, 2.13081, "2.049 to 2.131"),
        (-0.0212, -0.0207, "−0.02120 to −0.02070"),
        (1.23e-6, 4.56e-6, "(1.2 to 4.6)·10⁻⁶"),
        (120.0, 3400.0, "120 to 3400"),
        (0.0, 0.031, "0.000 to 0.031"),
        (0.0004066, 0.0121, "0.00041 to 0.012"),
        (-0.0121, -0.0004066, "−0.012 to −0.00041"),
        (4.066e-8, 1.21e-6, "(0.041 to 1.2)·10⁻⁶"),
        (1e-9, 1.21e-6, "(0.001 to 1.2)·10⁻⁶"),
        (0.1, 0.1, "0.1"),
        (math.nan, 1.0, "–"),
    ],
)
def test_intervals_show_two_digits_of_their_width(low: float, high: float, text: str) -> None:
    assert interval(low, high) == text


@given(st.floats(1e-12, 1e3), st.floats(1.0001, 1e9))
def test_an_interval_above_zero_never_seems_to_begin_there(low: float, ratio: float) -> None:
    first = interval(low, low * ratio).lstrip("(").split(" to ")[0]
    assert re.search(r"[1-9]", first.split("·")[0])


def test_changes_are_relative_to_before() -> None:
    assert change(20.0, 15.0) == "−25.0 %"
    assert change(20.0, 21.0) == "+5.0 %"
    assert change(0.0, 1.0) == change(math.nan, 1.0) == "–"


@given(st.floats(1e-6, 1e6))
def test_axes_end_at_a_round_number_just_above(value: float) -> None:
    high = round_up(value)
    assert value <= high * (1 + 1e-9)
    assert high <= 2 * value
    marks = ticks(high)
    assert marks[0] == 0.0
    assert marks[-1] == pytest.approx(high)
    assert 4 <= len(marks) <= 6


@given(st.floats(-1e3, 1e3))
def test_places_stay_on_the_drawing(value: float) -> None:
    assert 0.0 <= Scale(-2.0, 5.0).percent(value) <= 100.0


def test_places_are_in_proportion() -> None:
    assert [Scale(0.0, 40.0).percent(value) for value in (0.0, 10.0, 40.0, 50.0)] == [0.0, 25.0, 100.0, 100.0]
