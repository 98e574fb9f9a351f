# SPDX-License-Identifier: Apache-2.0
"""The study of the search's schedule: one thing changed at a time."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.servo.model import load_servo
from studies.coverage import case_for, record_session
from studies.search_ablation import Entry, main, searched, table
from studies.search_variants import AS_IT_IS, VARIANTS, Variant
from test.core.refusals import require_one_line

CHANGED = [pytest.param(each, id=each.title) for each in VARIANTS if each is not AS_IT_IS]


@pytest.mark.parametrize("variant", CHANGED)
def test_a_variant_changes_one_thing(variant: Variant) -> None:
    changed = [
        field.name
        for field in fields(SearchSchedule)
        if getattr(variant.schedule, field.name) != getattr(DEFAULT_SCHEDULE, field.name)
    ]
    assert [variant.name] == changed or (variant.name, changed) == ("method", [])
    assert (variant.method != AS_IT_IS.method) is (variant.name == "method")


def test_every_field_of_the_schedule_is_changed() -> None:
    assert {field.name for field in fields(SearchSchedule)} <= {each.name for each in VARIANTS}


def test_titles_tell_variants_apart() -> None:
    assert len({each.title for each in VARIANTS}) == len(VARIANTS)


@pytest.mark.long
def test_every_variant_can_search() -> None:
    case = case_for(load_servo("mx106"))
    session = record_session(case, np.random.default_rng(0))[:6]
    for variant in VARIANTS:
        entry = searched(case.servo, session, variant, seed=0, models=["m1", "m4"], trials=400)
        assert 0.0 < entry.train < 0.1
        assert 0 < entry.trials <= 800


def entry(variant: Variant, seed: int, train: float, trials: int = 100) -> Entry:
    return Entry(
        variant=variant.title, servo="a", seed=seed, train=train, test=2.0 * train, trials=trials, seconds=1.0
    )


def test_the_table_compares_within_a_session() -> None:
    other = VARIANTS[1]
    told = table(
        [
            entry(AS_IT_IS, 0, 1.0),
            entry(AS_IT_IS, 1, 5.0),
            entry(other, 0, 1.1, trials=50),
            entry(other, 1, 5.0, trials=50),
        ],
        [AS_IT_IS, other],
    ).splitlines()
    assert told[2].split()[-6:] == ["2", "of", "2", "1.00", "1.00", "1.00"]
    assert told[3].split()[-8:] == ["5.0", "10.0", "1", "of", "2", "1.05", "0.50", "1.00"]


@pytest.mark.long
def test_the_study_prints_a_table_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ablation.json"
    words = [
        "--servos",
        "mx106",
        "--seeds",
        "1",
        "--models",
        "m1",
        "--trials",
        "150",
        "--only",
        "cold_approaches",
    ]
    assert main([*words, "--json", str(file)]) == 0
    names = [each["variant"] for each in json.loads(file.read_text())]
    assert names[0] == "nothing"
    assert names[1:] == ["cold_approaches: 2", "cold_approaches: 16"]
    assert "cold_approaches" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--servos", "mx1066"], "did you mean"),
        (["--seeds", "0"], "at least 1"),
        (["--trials", "49"], "at least 50"),
        (["--every", "1"], "from 2 to 12"),
        (["--json", "/proc/x/c.json"], "/proc/x"),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    require_one_line(main, words, told, capsys)
