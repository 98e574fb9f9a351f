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

# The torque of a current that a supply of 1 V limits, at a back-EMF of 0.5 V, 1 Ω and 1 N·m/A.
LIMITED_TORQUE = """
from bam_core.gears import _pendulum
torque, _ = _pendulum.motor(100.0, 1.0, 1.0, 0.5, 1.0, 1.0, True)
print(torque, sum(_pendulum.motor.stats.cache_hits.values()))
"""
LIMIT = 0.5


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that nothing was compiled for."""
    target = tmp_path / "home" / "bam_core"
    shutil.copytree(ROOT / "bam_core", target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def run(package: Path, caches: Path | None = None) -> tuple[float, int]:
    """Return the torque, and how often a compiled function was found, in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    environment |= {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"XDG_CACHE_HOME": str(caches or package.parent / "caches")}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED_TORQUE],
        cwd=package.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    torque, found = done.stdout.split()
    return float(torque), int(found)


def replace(path: Path, old: str, new: str, *, age: float) -> None:
    """Change a source and make it look older than it was by so many seconds."""
    text, time = path.read_text(encoding="utf-8"), path.stat().st_mtime - age
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(path, (time, time))


def kept(package: Path) -> list[Path]:
    return sorted(package.rglob("_pendulum.motor-*"))


@pytest.mark.long
def test_what_is_inlined_from_other_files_is_never_that_of_older_sources(package: Path) -> None:
    assert run(package) == (pytest.approx(LIMIT), 0)
    first = kept(package)
    assert len(first) == 2  # an index and a function
    assert run(package) == (pytest.approx(LIMIT), 1)

    law, low, high = package / "simulation" / "law.py", "(-supply - back_emf)", "(supply - back_emf)"
    replace(law, f"{high} / resistance)", f"{high} / resistance / 2.0)", age=0)
    assert run(package) == (pytest.approx(0.25), 0)

    replace(law, f"{low} / resistance", f"{low} / resistance / 2.0", age=86400.0)
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
