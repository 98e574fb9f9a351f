# SPDX-License-Identifier: Apache-2.0
"""Units and sessions are named by headers, by bench.yaml, or by directories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bam_core.errors import Missing, WrongValue
from bam_core.recordings.labels import by_label
from bam_core.recordings.load import load_usable
from test.core.identification_cases import xl330_logs

FILES = sorted(xl330_logs().glob("*.json"))[:4]


def tree(root: Path, *units: str) -> Path:
    for unit, file in zip(units, FILES, strict=False):
        (root / unit).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / unit)
    return root


def names(root: Path, label: str = "unit") -> dict[str, int]:
    groups = by_label(load_usable([root]), label, [root])
    assert all(getattr(run, label) in name for name, group in groups.items() for run in group.recordings)
    return {name: len(group.recordings) for name, group in groups.items()}


def test_directories_name_units(tmp_path: Path) -> None:
    assert names(tree(tmp_path, "b/monday", "a", "b/tuesday")) == {"a": 1, "b": 2}


def test_a_bench_yaml_names_them_before_directories_do(tmp_path: Path) -> None:
    tree(tmp_path, "a", "b")
    (tmp_path / "b" / "bench.yaml").write_text("set: {unit: 7, session: monday}")
    assert names(tmp_path) == {"7": 1, "a": 1}


def test_sessions_of_one_name_are_of_their_units(tmp_path: Path) -> None:
    tree(tmp_path, "a", "b", "b")
    (tmp_path / "bench.yaml").write_text("set: {session: monday}")
    assert names(tmp_path, "session") == {"monday": 3}
    for unit in ("a", "b"):
        (tmp_path / unit / "bench.yaml").write_text(f"set: {{unit: {unit}}}")
    assert names(tmp_path, "session") == {"a_monday": 1, "b_monday": 2}


def test_an_option_names_all(tmp_path: Path) -> None:
    loaded = load_usable([tree(tmp_path, "a", "b")], set_fields=["unit=b3"])
    assert {run.unit for run in loaded.recordings} == {"b3"}


def test_what_has_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Missing):
        names(tree(tmp_path, "."))


def test_a_name_that_no_directory_can_have_is_refused(tmp_path: Path) -> None:
    tree(tmp_path, "a")
    (tmp_path / "bench.yaml").write_text("set: {unit: ../b}")
    with pytest.raises(WrongValue):
        names(tmp_path)
