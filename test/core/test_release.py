# SPDX-License-Identifier: Apache-2.0
"""Every file says the same version, and `make release` refuses what is not ready."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import bam_core

import release  # isort: skip

ROOT = Path(__file__).parents[2]
VERSION = bam_core.__version__


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that say the version."""
    for name in release.versions():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def git(**answers: str):
    """A stand-in for git that answers by the first word of its arguments."""
    clean = {"status": "", "branch": "main", "tag": ""}
    return lambda *words: {**clean, **answers}[words[0]]


def test_all_files_say_one_version_and_the_changelog_has_its_date() -> None:
    assert set(release.versions().values()) == {VERSION}
    assert release.released_version() == VERSION


@pytest.mark.parametrize("name", release.versions())
def test_a_file_with_another_version_is_named(tree: Path, name: str) -> None:
    file = tree / name
    file.write_text(file.read_text().replace(VERSION, "9.9.9"))
    with pytest.raises(release.NotReadyError, match=r"9\.9\.9"):
        release.released_version(tree)


@pytest.mark.parametrize("dated", ["", " - unreleased", " - 2026-13-01"])
def test_a_version_without_a_date_is_not_released(tree: Path, dated: str) -> None:
    (tree / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{VERSION}]{dated}\n")
    with pytest.raises(release.NotReadyError, match=r"CHANGELOG\.md: .* has no date"):
        release.released_version(tree)


def test_a_clean_tree_on_main_without_a_tag_is_released() -> None:
    release.require_releasable_commit(VERSION, git())


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({"status": " M setup.py"}, "setup.py: is not committed"),
        ({"status": "?? new.py"}, "new.py: is not committed"),
        ({"branch": "other"}, "branch other"),
        ({"branch": ""}, "branch none"),
        ({"tag": f"v{VERSION}"}, f"tag v{VERSION}: exists"),
    ],
)
def test_a_commit_that_is_not_ready_is_refused(answers: dict[str, str], told: str) -> None:
    with pytest.raises(release.NotReadyError, match=told):
        release.require_releasable_commit(VERSION, git(**answers))
