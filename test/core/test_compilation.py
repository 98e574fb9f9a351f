# SPDX-License-Identifier: Apache-2.0
"""Compiled functions are kept for later processes, but never for other sources than those they inline."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A current in A that a supply of 1 V limits, at a back-EMF of 0.5 V and 1 Ω that has warmed by 1 K.
LIMITED_CURRENT = """
import numpy as np
from bam_core.mujoco import _law
current = _law._limited(np.ones(26), np.ones((7, 1)), np.ones((15, 1)), 0, 100.0, 0.5)
print(current, sum(_law._limited.stats.cache_hits.values()))
"""
LIMIT = 0.5 / 1.00393


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that nothing was compiled for."""
    target = tmp_path / "home" / "bam_core"
    shutil.copytree(ROOT / "bam_core", target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def run(package: Path, caches: Path | None = None) -> tuple[float, int]:
    """Return the current, and how often a compiled function was found, in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    environment |= {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"XDG_CACHE_HOME": str(caches or package.parent / "caches")}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED_CURRENT],
        cwd=package.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    current, found = done.stdout.split()
    return float(current), int(found)


def replace(path: Path, old: str, new: str, *, age: float) -> None:
    """Change a source and make it look older than it was by so many seconds."""
    text, time = path.read_text(encoding="utf-8"), path.stat().st_mtime - age
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(path, (time, time))


def kept(package: Path) -> list[Path]:
    return sorted(package.rglob("_law._limited-*"))


@pytest.mark.long
def test_what_is_inlined_from_other_files_is_never_that_of_older_sources(package: Path) -> None:
    assert run(package) == (pytest.approx(LIMIT), 0)
    first = kept(package)
    assert len(first) == 2  # an index and a function
    assert run(package) == (pytest.approx(LIMIT), 1)

    replace(package / "servo" / "motor.py", "COPPER_COEFFICIENT = 3.93e-3", "COPPER_COEFFICIENT = 1.0", age=0)
    assert run(package) == (pytest.approx(0.25), 0)

    low = "(-supply - back_emf) / resistance"
    replace(package / "simulation" / "law.py", f"{low})", f"{low}) / 2.0", age=86400.0)
    assert run(package) == (pytest.approx(0.25), 0)
    assert run(package) == (pytest.approx(0.25), 1)

    assert len(kept(package)) == 2  # those of other sources are gone
    assert not set(kept(package)) & set(first)


@pytest.mark.long
def test_an_installation_that_nobody_may_write_to_is_compiled_into_the_users_cache(package: Path) -> None:
    for folder in {path.parent for path in package.rglob("*.py")}:
        (folder / "__pycache__").write_text("no directory\n")
    assert run(package) == (pytest.approx(LIMIT), 0)
    assert run(package) == (pytest.approx(LIMIT), 1)
    nowhere = package / "servo" / "motor.py"  # no directory either
    assert run(package, caches=nowhere) == (pytest.approx(LIMIT), 0)
