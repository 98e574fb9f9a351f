# SPDX-License-Identifier: Apache-2.0
"""``bam fleet``: units side by side on the screen, as JSON and as a picture; bad input is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bam_core.cli import execute
from bam_core.cli.fleet import FILE, PICTURE
from bam_core.errors import Missing, OutOfRange, UnknownName
from bam_core.identification.variation.compared import QUANTITIES
from test.core.identification.test_fleet import unit


@pytest.fixture
def units(tmp_path: Path) -> Path:
    for name in ("a", "b", "c", "d", "e"):
        unit(tmp_path / "units", name)
    unit(tmp_path / "units", "worn", coulomb=4.0)
    return tmp_path / "units"


def test_units_are_compared_and_written(units: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = units.parent / "comparison"
    assert execute(["fleet", str(units), "--output", str(output)]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("a", "worn", str(output / PICTURE)))
    written = json.loads((output / FILE).read_text())
    assert set(written["units"]["worn"]) == set(QUANTITIES)
    assert {outlier["unit"] for outlier in written["outliers"]} == {"worn"}
    assert "friction_at_rest" in written["differing"]
    low, high = written["quantities"]["friction_at_rest"]["spread_interval"]
    assert low <= written["quantities"]["friction_at_rest"]["spread"] <= high
    assert (output / PICTURE).read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_comparison(units: Path) -> None:
    texts = []
    for name in ("one", "two"):
        execute(["fleet", str(units), "--seed", "3", "--output", str(units.parent / name)])
        texts.append((units.parent / name / FILE).read_text())
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], Missing),
        (["{units}", "--model", "m6"], Missing),
        (["{units}", "--model", "m9"], UnknownName),
        (["{units}", "--seed", "-1"], OutOfRange),
    ],
)
def test_bad_input_is_refused(units: Path, words: list[str], expected: type[Exception]) -> None:
    with pytest.raises(expected):
        execute(["fleet", *(word.format(units=units) for word in words)])
