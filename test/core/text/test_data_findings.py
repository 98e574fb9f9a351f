# SPDX-License-Identifier: Apache-2.0
"""Odd and missing data, in words: which logs, how far off, what to do."""

from __future__ import annotations

from pathlib import Path

from bam_core.text.data_findings import (
    DutyMismatch,
    GravityOffZero,
    NoTemperature,
    NoVoltage,
    OffGoals,
    OffHoldingPosition,
)

SOURCE = Path("a.json")


def test_logs_are_named_up_to_three() -> None:
    alone = NoVoltage(logs=("blind",), supplies=(7.4,))
    assert alone.sentence == "blind: no supply voltage was measured. 7.4 V is assumed."
    many = NoVoltage(logs=tuple("abcde"), supplies=(7.4, 12.0))
    assert many.sentence.startswith("a, b, c and 2 more: ")
    assert "7.4 V or 12 V is assumed." in many.sentences
    assert NoVoltage(logs=tuple("ab"), is_all=True, supplies=(7.4,)).where == "All logs"


def test_a_temperature_is_assumed_for_its_effects() -> None:
    both = ("winding_heating", "friction_temperature")
    assert NoTemperature(logs=("a",), assumed=25.0, effects=both).sentences[1:] == (
        "25 °C is assumed.",
        "winding_heating and friction_temperature depend on it.",
    )


def test_a_wrong_gain_has_ratio_and_cure() -> None:
    assert DutyMismatch(logs=("odd",), ratios=(0.5,), kp=400.0).sentence == (
        "odd: recorded duty is 0.5 times that of kp (such as 400). "
        "Correct kp, or fit the effect firmware_gain if the firmware is another one."
    )
    assert " 0.5 to 2 times " in DutyMismatch(logs=tuple("ab"), ratios=(2.0, 0.5), kp=8.0).sentence


def test_a_position_off_its_goals_says_to_which_side() -> None:
    assert "0.30 rad or more below its goals" in OffGoals(source=SOURCE, gap=-0.3).sentence
    assert "0.30 rad or more above its goals" in OffGoals(source=SOURCE, gap=0.3).sentence
    assert "position is -0.12 rad from" in OffHoldingPosition(source=SOURCE, offset=-0.12).sentence


def test_a_zero_beyond_a_fit_has_angle_and_limits() -> None:
    finding = GravityOffZero(source=SOURCE, angle=0.19, low=-0.1, high=0.1)
    assert finding.sentences[:2] == (
        "a.json: gravity pulls the arm towards 0.19 rad instead of 0.",
        "A fit covers a zero_offset from -0.1 to 0.1 rad only.",
    )
