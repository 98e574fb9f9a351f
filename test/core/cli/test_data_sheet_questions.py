# SPDX-License-Identifier: Apache-2.0
"""Values of data sheets are read in their units."""

from __future__ import annotations

import math

import pytest

from bam_core.cli.data_sheet_questions import SHEET
from bam_core.errors import (
    WrongValue,
)

QUESTIONS = {question.option: question for question in SHEET}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4.9", 4.9),
        ("4.9 N·m", 4.9),
        ("4.9Nm", 4.9),
        ("4.9 N.m", 4.9),
        ("50 kg.cm", 4.903325),
        ("50 kgf·cm", 4.903325),
        ("50kg-cm", 4.903325),
        ("4.1Nm", 4.1),
        ("4900 mNm", 4.9),
        ("490 N.cm", 4.9),
    ],
)
def test_torques_are_read_in_the_units_of_data_sheets(text: str, value: float) -> None:
    assert QUESTIONS["stall-torque"].value(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7.85", 7.85),
        ("75 rpm", 2.5 * math.pi),
        ("75 RPM", 2.5 * math.pi),
        ("450 deg/s", 2.5 * math.pi),
        ("0.133 s/60deg", math.pi / 3 / 0.133),
        ("0.133sec/60°", math.pi / 3 / 0.133),
    ],
)
def test_speeds_are_read_in_the_units_of_data_sheets(text: str, value: float) -> None:
    assert QUESTIONS["no-load-speed"].value(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("voltage", "12V", 12.0),
        ("voltage", "7.4 V", 7.4),
        ("stall-current", "2.3 A", 2.3),
        ("stall-current", "2300mA", 2.3),
    ],
)
def test_supplies_and_currents_are_read_with_their_units(option: str, text: str, value: float) -> None:
    assert QUESTIONS[option].value(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "abc", "12 V", "-3", "0", "inf", "1e999"])
def test_what_is_no_positive_number_is_refused(text: str) -> None:
    with pytest.raises(WrongValue) as caught:
        QUESTIONS["stall-current"].value(text)
    assert (caught.value.thing, caught.value.value) == ("--stall-current", text)
