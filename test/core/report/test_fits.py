# SPDX-License-Identifier: Apache-2.0
"""Curves survive their packing, and a hundred logs stay small."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.report import load_results
from bam_core.report.fits import packed_fits, typical_log
from test.core.report_cases import multiplied


def unpacked(curve: list[Any]) -> np.ndarray[Any, Any]:
    scale, text = curve
    values: np.ndarray[Any, Any] = scale * np.frombuffer(base64.b64decode(text), "<i2")
    return values


def test_curves_come_back(results: Path) -> None:
    loaded = load_results(results)
    data = json.loads(packed_fits(loaded))
    assert data["models"] == ["m1", "m4", "m6"]
    assert set(data["logs"]) == set(loaded.logs)
    for name, log in data["logs"].items():
        curves = loaded.trajectories[name]
        np.testing.assert_allclose(unpacked(log["time"]), curves.time, atol=2e-4)
        np.testing.assert_allclose(unpacked(log["measured"]), curves.measured, atol=1e-4)
        np.testing.assert_allclose(unpacked(log["goal"]), curves.goal, atol=1e-4)
        for model, residual in log["residual"].items():
            difference = curves.simulated[model] - curves.measured
            np.testing.assert_allclose(unpacked(residual), difference, atol=1e-4 * np.abs(difference).max())


def test_what_is_left_over_agrees_with_the_error_that_is_told(results: Path) -> None:
    loaded = load_results(results)
    data = json.loads(packed_fits(loaded))
    for name, log in data["logs"].items():
        told = loaded.best.per_log[name]
        drawn = np.abs(unpacked(log["residual"][loaded.chosen])).mean()
        assert np.isclose(drawn, told, rtol=0.05, atol=5e-4)


def test_a_model_with_a_predictive_distribution_has_a_band_around_its_curve(results: Path) -> None:
    loaded = load_results(results)
    banded = {
        name: replace(curves, bands={"m6": (curves.simulated["m6"] - 0.02, curves.simulated["m6"] + 0.03)})
        for name, curves in loaded.trajectories.items()
    }
    data = json.loads(packed_fits(replace(loaded, trajectories=banded)))
    for name, log in data["logs"].items():
        ((model, ends),) = log["band"].items()
        assert model == "m6"
        low, high = map(unpacked, ends)
        left = banded[name].simulated[model] - banded[name].measured
        assert np.allclose(low, left - 0.02, atol=1e-3)
        assert np.allclose(high, left + 0.03, atol=1e-3)


def test_stretches_without_torque_are_told(results: Path) -> None:
    data = json.loads(packed_fits(load_results(results)))
    released = {name: log["released"] for name, log in data["logs"].items()}
    dropped = [name for name in released if "lift_and_drop" in name]
    assert dropped
    for name, stretches in released.items():
        if name in dropped:
            ((start, end),) = stretches
            assert 1.9 < start < 2.1 < 5.9 < end
        else:
            assert stretches == []


def test_a_hundred_logs_are_thinned_and_none_is_left_out(results: Path) -> None:
    loaded = load_results(multiplied(results, 100))
    text = packed_fits(loaded)
    data = json.loads(text)
    assert len(data["logs"]) == 100
    assert len(text) < 1_500_000
    for name, log in data["logs"].items():
        time = unpacked(log["time"])
        assert 400 <= len(time) <= 600
        assert np.isclose(time[-1], loaded.trajectories[name].time[-1], atol=1e-3)


def test_no_text_can_end_the_element_that_holds_the_data(results: Path) -> None:
    loaded = load_results(results)
    evil = "</script><script>alert(1)</script><!--&amp;"
    renamed = {evil: next(iter(loaded.trajectories.values()))}
    text = packed_fits(replace(loaded, trajectories=renamed))
    assert "<" not in text
    assert list(json.loads(text)["logs"]) == [evil]


def test_the_first_log_shown_is_one_of_the_test_of_middling_error(results: Path) -> None:
    loaded = load_results(results)
    name = typical_log(loaded)
    assert loaded.logs[name].set == "test"
    assert typical_log(replace(loaded, trajectories={})) == ""


def test_a_model_that_runs_away_is_left_out_of_that_log(results: Path) -> None:
    loaded = load_results(results)
    name, curves = next(iter(loaded.trajectories.items()))
    lost = replace(curves, simulated={**curves.simulated, "m1": np.full(len(curves.time), np.nan)})
    data = json.loads(packed_fits(replace(loaded, trajectories={**loaded.trajectories, name: lost})))
    assert set(data["logs"][name]["residual"]) == {"m4", "m6"}
