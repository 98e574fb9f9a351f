# SPDX-License-Identifier: Apache-2.0
"""Version and commit of this program, and versions of the packages that compute for it."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

from bam_core._version import __version__

PACKAGES = ("numpy", "numba", "scipy", "cmaes")
"""What the figures of an identification depend on."""

_GIT_TIMEOUT = 10.0  # s; a repository on a slow network drive leaves the commit out


@cache
def software() -> str:
    """Return name and version of this program, and the commit where it runs from a checkout."""
    commit = commit_of(Path(__file__))
    return f"bam_bench {__version__}" + (f", commit {commit}" if commit else "")


@cache
def package_versions() -> dict[str, str]:
    """Return the version of each of PACKAGES by name."""
    return {name: version(name) for name in PACKAGES}


def commit_of(file: Path) -> str:
    """Return the commit of the checkout that holds a file, with "-dirty" if files differ from it.

    Empty where there is no git, or where no repository tracks the file. So the commit is never that of
    another repository, inside which a virtual environment lies.
    """
    if not _git(file.parent, "ls-files", "--error-unmatch", file.name):
        return ""
    return _git(file.parent, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")


def _git(directory: Path, *words: str) -> str:
    """Return what git prints, empty where it fails."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=_GIT_TIMEOUT,
            env={**outside, "GIT_OPTIONAL_LOCKS": "0"},  # a query does not write to the index
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
