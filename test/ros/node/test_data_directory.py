# SPDX-License-Identifier: Apache-2.0
"""Paths in requests stay below one directory, whatever they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import BamError, OutOfRange
from bam_ros.node.data_directory import confined


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    inside = tmp_path / "data"
    (inside / "logs").mkdir(parents=True)
    (inside / "out").symlink_to(tmp_path)
    (inside / "circle").symlink_to(inside / "circle")
    (inside / "loop").symlink_to("logs")
    (tmp_path / "data_of_others").mkdir()
    return inside


@pytest.mark.parametrize("path", ["logs", "logs/../logs", "", ".", "new/file.yaml", "loop", "..."])
def test_paths_below_it_are_taken(directory: Path, path: str) -> None:
    assert confined(directory, path, "logs").is_relative_to(directory)


def test_absolute_paths_below_it_are_taken(directory: Path) -> None:
    assert confined(directory, str(directory / "logs"), "logs") == directory / "logs"


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "logs/../../x",
        "/",
        "/etc/passwd",
        "out",
        "out/x",
        "../data_of_others",
        "x" * 300,
        "x/" * 5000,
        "a\0b",
        "circle",
        "circle/x",
    ],
)
def test_others_are_refused_in_one_line(directory: Path, path: str) -> None:
    with pytest.raises(OutOfRange) as caught:
        confined(directory, path, "logs")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 5000


@given(
    st.lists(
        st.sampled_from(["..", ".", "a", "out", "logs", "loop", "circle", "", "\0", "x" * 300]), max_size=8
    )
)
def test_no_combination_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    directory = tmp_path_factory.getbasetemp() / "confined" / "data"
    if not directory.exists():
        (directory / "logs").mkdir(parents=True)
        (directory / "out").symlink_to(directory.parent)
        (directory / "circle").symlink_to(directory / "circle")
        (directory / "loop").symlink_to("logs")
    try:
        found = confined(directory, "/".join(parts), "logs")
    except BamError:
        return
    assert found.resolve().is_relative_to(directory)
