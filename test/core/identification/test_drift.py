# SPDX-License-Identifier: Apache-2.0
"""Drift of units over sessions: the worn unit is named with what has changed, heat is accounted for."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from bam_core.cli import execute
from bam_core.cli.fleet_drift import FILE
from bam_core.errors import BadData, Malformed
from bam_core.identification.drift import find_drift
from bam_core.identification.fleet import unit_files
from bam_core.identification.writing import SUMMARY
from test.core.identification.test_fleet import unit

WEAR, HEAT = 0.15, -0.01


def session(directory: Path, name: str, of: str, temperature: float | None, coulomb: float) -> None:
    """Write the results of one session."""
    unit(directory, name, coulomb=coulomb)
    log = {"unit": of, "temperature": temperature}
    (directory / name / SUMMARY).write_text(json.dumps({"logs": {"a": log, "b": log}}))


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """Two units over eight months; all friction falls with temperature, that of `worn` rises in time."""
    random = np.random.default_rng(0)
    for month in range(1, 9):
        temperature = 30.0 + 10.0 * float(random.random())
        heat = HEAT * (temperature - 30.0)
        for of, wear in (("new", 0.0), ("worn", WEAR)):
            name = f"{of}_2026-{month:02d}-01"
            session(tmp_path / "sessions", name, of, temperature, math.exp(heat + wear * month))
    return tmp_path / "sessions"


def test_the_worn_unit_is_named_with_its_trend(sessions: Path) -> None:
    drift = find_drift(unit_files([sessions]))
    assert drift.per_month
    assert [own.name for own in drift.sessions["new"]][:2] == ["new_2026-01-01", "new_2026-02-01"]
    assert {unit for unit, _ in drift.significant} == {"worn"}
    assert "friction_at_rest" in {name for _, name in drift.significant}
    trend = drift.trends["worn"]["friction_at_rest"]
    assert trend.temperature is not None
    low, _ = trend.time.interval
    # Coulomb friction is a half of friction at rest at first, and more later.
    assert 0.3 * WEAR < trend.time.value < WEAR
    assert low > 0.0
    assert trend.temperature.value < 0.0
    assert trend.span == pytest.approx(212.0 / 30.0)


def test_sessions_without_dates_count_in_their_order(tmp_path: Path) -> None:
    for index in range(6):
        session(tmp_path, f"s{index}", "", None, math.exp(0.3 * index))
    drift = find_drift(unit_files([tmp_path]))
    assert not drift.per_month
    assert list(drift.trends) == [""]
    assert drift.trends[""]["friction_at_rest"].temperature is None
    assert drift.significant


def test_it_is_printed_and_written(sessions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["fleet", str(sessions), "--drift", "--output", str(sessions.parent / "drift")]) == 0
    assert "worn" in capsys.readouterr().out
    written = json.loads((sessions.parent / "drift" / FILE).read_text())
    assert written["per"] == "30 days"
    assert set(written["trends"]) == {"new", "worn"}
    assert written["trends"]["worn"]["friction_at_rest"]["time"]["p"] < 0.05
    assert written["sessions"]["new"][0]["temperature"] is not None


def test_steady_units_have_no_significant_trend(tmp_path: Path) -> None:
    for index in range(4):
        session(tmp_path, f"s{index}", "a", 30.0, 1.0)
    assert execute(["fleet", str(tmp_path), "--drift"]) == 0
    assert find_drift(unit_files([tmp_path])).significant == ()


def test_two_sessions_and_a_damaged_summary_are_refused(tmp_path: Path) -> None:
    for index in range(2):
        session(tmp_path, f"s{index}", "a", 30.0, 1.0)
    with pytest.raises(BadData):
        find_drift(unit_files([tmp_path]))
    (tmp_path / "s0" / SUMMARY).write_text("{")
    with pytest.raises(Malformed):
        find_drift(unit_files([tmp_path]))
