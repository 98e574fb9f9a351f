# SPDX-License-Identifier: Apache-2.0
"""Version and commit of the program: those of its own checkout, and of no repository around it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bam_core._version import __version__
from bam_core.identification.software import commit_of, package_versions, software

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git; apt install git")


def git(directory: Path, *words: str) -> str:
    command = ["git", "-C", str(directory), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that the only commit of a repository tracks."""
    git(tmp_path, "init", "--quiet")
    path = tmp_path / "package" / "a.py"
    path.parent.mkdir()
    path.write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "a")
    return path


@needs_git
def test_a_file_has_the_commit_of_its_repository_and_says_where_it_differs(file: Path) -> None:
    commit = git(file.parent, "rev-parse", "HEAD")[:12]
    assert commit_of(file) == commit
    file.write_text("2\n")
    assert commit_of(file) == f"{commit}-dirty"


@needs_git
def test_a_repository_that_does_not_track_the_file_has_no_say(file: Path) -> None:
    other = file.with_name("b.py")
    other.write_text("1\n")
    assert commit_of(other) == ""


@needs_git
def test_without_git_there_is_no_commit(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert commit_of(file) == ""


def test_software_is_named_with_its_version() -> None:
    assert software().startswith(f"bam_bench {__version__}")
    assert all(package_versions().values())
