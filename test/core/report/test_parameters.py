# SPDX-License-Identifier: Apache-2.0
"""Whiskers lie where their interval lies, and what is not known is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.identification.uncertainty.estimates import MAX_RELATIVE_HALF_WIDTH
from bam_core.report import load_results
from bam_core.report.names import words
from bam_core.report.parameters import correlation_cells, not_identifiable, parameter_table
from bam_core.report.results import Estimate, ModelResult, Uncertainty


def estimate(low: float, high: float, *, identifiable: bool = True) -> Estimate:
    return Estimate(low=low, high=high, identifiable=identifiable, trades_with=(), remark="")


@pytest.fixture
def model(results: Path) -> ModelResult:
    return load_results(results).models["m1"]


def with_estimates(model: ModelResult, relative: dict[str, tuple[float, float]]) -> ModelResult:
    """Let parameters have intervals relative to their values."""
    values = model.parameters
    estimates = {
        name: estimate(values[name] * (1 + low), values[name] * (1 + high), identifiable=high < 10)
        for name, (low, high) in relative.items()
    }
    uncertainty = Uncertainty(method="", estimates=estimates, names=(), correlation=np.zeros((0, 0)))
    return replace(model, uncertainty=uncertainty)


def test_whiskers_share_an_axis_as_wide_as_the_widest(model: ModelResult) -> None:
    table = parameter_table(
        with_estimates(model, {"torque_constant": (-0.1, 0.1), "resistance": (-0.2, 0.4)})
    )
    assert table.axis == "40 %"
    whiskers = {row.name: row.whisker for row in table.rows}
    narrow, wide = whiskers["torque_constant"], whiskers["resistance"]
    assert narrow is not None
    assert wide is not None
    assert (narrow.low, narrow.high) == pytest.approx((37.5, 62.5), abs=0.01)
    assert (wide.low, wide.high) == pytest.approx((25.0, 100.0), abs=0.01)
    assert whiskers["armature"] is None


def test_only_what_may_be_zero_is_known_to_be_small(model: ModelResult) -> None:
    relative = {"viscous": (-1.0, 1.0), "coulomb": (-0.6, 0.6), "armature": (-0.1, 0.1)}
    rows = parameter_table(with_estimates(model, relative)).rows
    assert [row.name for row in rows if row.known_small] == ["viscous"]


def test_an_unknown_parameter_does_not_widen_the_axis_but_is_cut(model: ModelResult) -> None:
    relative = {"torque_constant": (-0.1, 0.1), "resistance": (-30.0, 50.0)}
    table = parameter_table(with_estimates(model, relative))
    assert table.axis == "10 %"
    row = table.rows[1]
    assert row.whisker is not None
    assert row.whisker.cut_low
    assert row.whisker.cut_high
    assert not row.identifiable


def test_a_wide_interval_about_a_value_that_is_known_to_be_small_says_so(model: ModelResult) -> None:
    values = model.parameters
    relative = {"torque_constant": (-0.1, 0.1), "viscous": (-1.0, 0.6), "coulomb": (-0.6, 20.0)}
    told = with_estimates(model, relative)
    rows = {row.name: row for row in parameter_table(told).rows}
    assert [name for name in values if rows[name].known_small] == ["viscous"]
    assert rows["viscous"].is_remarked
    assert not rows["coulomb"].identifiable
    assert not rows["torque_constant"].is_remarked


def test_an_interval_is_wide_from_where_identification_calls_it_so(model: ModelResult) -> None:
    for half, known_small in (
        (0.99 * MAX_RELATIVE_HALF_WIDTH, False),
        (1.01 * MAX_RELATIVE_HALF_WIDTH, True),
    ):
        # From zero on, for what surely is not zero is not small.
        rows = parameter_table(with_estimates(model, {"viscous": (-1.0, 2.0 * half - 1.0)})).rows
        assert [row.known_small for row in rows if row.name == "viscous"] == [known_small]


def test_parameters_without_estimates_have_values_and_bounds_only(model: ModelResult) -> None:
    table = parameter_table(replace(model, at_bound=("viscous",), uncertainty=None))
    assert not table.has_intervals
    assert [row.name for row in table.rows] == list(model.parameters)
    assert [row.name for row in table.rows if row.at_bound] == ["viscous"]
    assert not_identifiable(replace(model, uncertainty=None)) == ()


def test_correlations_are_strong_at_both_ends_and_mirror_each_other(complete_results: Path) -> None:
    uncertainty = load_results(complete_results).models["m4"].uncertainty
    assert uncertainty is not None
    rows = dict(correlation_cells(uncertainty))
    names = list(rows)
    assert all(rows[name][i].text == "1" for i, name in enumerate(names))
    last = rows[names[-1]][-2]
    assert (last.text, last.strength, last.negative) == ("−.97", 97, True)
    assert [[cell.text for cell in rows[name]] for name in names] == [
        [rows[other][i].text for other in names] for i in range(len(names))
    ]


def test_a_remark_calls_parameters_what_the_table_calls_them(model: ModelResult) -> None:
    told = replace(
        with_estimates(model, {"resistance": (-30.0, 50.0)}),
        at_bound=("viscous",),
    )
    assert told.uncertainty is not None
    unidentifiable = replace(told.uncertainty.estimates["resistance"], remark="see torque_constant; sin_sin")
    told = replace(told, uncertainty=replace(told.uncertainty, estimates={"resistance": unidentifiable}))
    rows = {row.name: row for row in parameter_table(told).rows}
    assert rows["resistance"].remark == f"see {words('torque_constant')}; sin_sin"
    assert [name for name, row in rows.items() if row.is_remarked] == ["resistance", "viscous"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [("trades", ()), ("insensitive", ("coulomb",))],
)
def test_what_a_parameter_trades_with_is_told_once(
    model: ModelResult, kind: str, told: tuple[str, ...]
) -> None:
    found = with_estimates(model, {"viscous": (-30.0, 50.0)})
    assert found.uncertainty is not None
    estimate = replace(found.uncertainty.estimates["viscous"], remark_kind=kind, trades_with=("coulomb",))
    found = replace(found, uncertainty=replace(found.uncertainty, estimates={"viscous": estimate}))
    (row,) = (row for row in parameter_table(found).rows if row.name == "viscous")
    assert row.trades_with == told
