# SPDX-License-Identifier: Apache-2.0
"""Output is whole or not there, and a place that cannot take it is found before the work."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bam_core.errors import NotWritable
from bam_core.files.atomic_file import LEFT_AFTER, require_directory, require_file, scratch, write_text
from test.core.refusals import refused


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


GONE = 2**22 + 1  # above the largest process number that Linux gives


@pytest.mark.parametrize(
    ("process", "age", "stays"),
    [
        (GONE, 2.0 * LEFT_AFTER, False),
        (GONE, 0.1 * LEFT_AFTER, True),  # of another machine or container that is still writing
        (os.getpid(), 2.0 * LEFT_AFTER, True),
    ],
    ids=["ended and old", "elsewhere", "at work"],
)
@pytest.mark.parametrize("directory", [False, True])
def test_what_a_killed_process_left_is_removed_once_it_is_old(
    process: int, age: float, stays: bool, directory: bool, tmp_path: Path
) -> None:
    left = tmp_path / f".file.txt.{process}.tmp"
    (left.mkdir if directory else left.touch)()
    os.utime(left, (time.time() - age,) * 2)
    write_text(tmp_path / "file.txt", "new")
    assert left.exists() == stays


def test_other_files_that_are_hidden_and_old_stay(tmp_path: Path) -> None:
    other = [tmp_path / name for name in (f".other.txt.{GONE}.tmp", ".file.txt.bak.tmp", f".file.txt.{GONE}")]
    for path in other:
        path.touch()
        os.utime(path, (0.0, 0.0))
    write_text(tmp_path / "file.txt", "new")
    assert all(path.exists() for path in other)


def test_two_containers_with_the_same_process_number_write_under_different_names(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with scratch(path) as first, scratch(path) as second:
        first.write_text("first")
        second.write_text("second")
        second.replace(path)
        assert path.read_text() == "second"
        first.replace(path)
    assert [each.name for each in tmp_path.iterdir()] == ["file.txt"]
    assert path.read_text() == "first"


def test_a_file_needs_its_directory_but_a_directory_gets_its_parents(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    assert str(tmp_path / "a") in refusal(require_file, path)
    require_directory(path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_a_directory_is_named_once(tmp_path: Path) -> None:
    file = tmp_path / "results"
    file.touch()
    with refused(NotWritable, path=str(file), problem="is a file"):
        require_directory(file)
    with refused(NotWritable, path=str(file / "new"), problem=f"{file} is a file"):
        require_directory(file / "new")


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
