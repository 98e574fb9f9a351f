# SPDX-License-Identifier: Apache-2.0
"""The chart of errors: one scale on which everything that it draws has room."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from bam_core.report.errors import error_chart

ERRORS = {"train_mae": 0.01, "selection_mae": 0.011, "test_mae": 0.012, "test_interval": (0.008, 0.013)}


def model(name: str, **changes: Any) -> SimpleNamespace:
    return SimpleNamespace(name=name, parameters={}, verdict="", **{**ERRORS, **changes})


def chart(*models: SimpleNamespace, few: bool = False) -> Any:
    results: Any = SimpleNamespace(
        models={each.name: each for each in models}, chosen=models[0].name, has_few_tests=few
    )
    return error_chart(results)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"train_mae": 0.045}, lambda row: row.train),
        ({"selection_mae": 0.045}, lambda row: row.selection),
        ({"test_mae": 0.045}, lambda row: row.test),
        ({"test_interval": (0.008, 0.045)}, lambda row: row.whisker[1]),
    ],
)
def test_the_largest_number_of_any_model_is_inside_the_scale(changes: Any, place: Any) -> None:
    found = chart(model("m1"), model("m4", **changes))
    assert 80.0 < place(found.rows[1]) < 100.0  # at the end of the scale it would be cut off


def test_places_are_in_proportion_to_errors_from_zero() -> None:
    (row,) = chart(model("m1")).rows
    assert row.whisker is not None
    for place, error in ((row.selection, 0.011), (row.test, 0.012), (row.whisker[0], 0.008)):
        assert place == pytest.approx(error * row.train / 0.01, abs=0.02)


def test_an_interval_over_few_logs_is_not_drawn_and_needs_no_room() -> None:
    wide = {"test_interval": (0.0, 0.5)}
    (row,) = chart(model("m1", **wide), few=True).rows
    assert (row.whisker, row.test_interval) == (None, "")
    assert row.train == chart(model("m1")).rows[0].train


def test_what_is_not_known_has_no_place() -> None:
    (row,) = chart(model("m1", test_mae=math.nan, test_interval=(math.nan, math.nan))).rows
    assert (row.test, row.whisker) == (None, None)
