# SPDX-License-Identifier: Apache-2.0
"""Output is whole or not there, and a place that cannot take it is found before the work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import refused

from bam_core.atomic_file import require_directory, require_file, write_text
from bam_core.errors import NotWritable


def refusal(check: Callable[[Path], None], path: Path) -> str:
    with refused(NotWritable, path=str(path)) as caught:
        check(path)
    return caught.value.problem


def test_a_text_replaces_what_was_there_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    write_text(path, "old")
    write_text(path, "θ = 0\n")
    assert path.read_text(encoding="utf-8") == "θ = 0\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_needs_its_directory_but_a_directory_gets_its_parents(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    assert str(tmp_path / "a") in refusal(require_file, path)
    require_directory(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("check", [require_file, require_directory])
def test_a_good_place_is_left_as_it_was(check: Callable[[Path], None], tmp_path: Path) -> None:
    check(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_file_may_be_replaced_and_an_earlier_directory_filled(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    require_file(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "old"
    require_directory(tmp_path)


def test_a_name_without_a_directory_is_in_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    require_file("result.json")
    require_directory("results")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("check", [require_file, require_directory])
def test_no_place_is_below_a_file(check: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refusal(check, tmp_path / "file" / "result")


@pytest.mark.parametrize("check", [require_file, require_directory])
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc, which nobody can write to")
def test_permissions_are_not_believed(check: Callable[[Path], None]) -> None:
    refusal(check, Path("/proc/result"))


def test_a_directory_and_a_device_are_no_files_to_write(tmp_path: Path) -> None:
    assert "directory" in refusal(require_file, tmp_path)
    assert "file" in refusal(require_file, Path("/dev/null"))


def test_a_broken_link_is_no_place_for_a_directory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    refusal(require_directory, tmp_path / "link" / "results")
