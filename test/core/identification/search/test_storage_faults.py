# SPDX-License-Identifier: Apache-2.0
"""A fault at any step that changes files leaves what was there or what was to come, and nothing that stays.

The steps are those of the C library that the process really makes, SQLite's and matplotlib's as well. At each
of them the process is killed (before, or with half of a write done), or the disk is full or read-only from
there on. Killed work is done anew afterwards, which has to go well and to remove what was left.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parents[2]
ROOT = Path(__file__).parents[4]


class Expected(NamedTuple):
    """What trials of a case must come to."""

    states: set[str]
    """That may be there after a fault."""
    steps: int
    """At least; fewer, and the steps are not seen any more."""
    program: str = "test.core.storage_result_cases"


CASES = {
    "servo file": Expected({"old", "new"}, 5, "test.core.storage_file_cases"),
    "bag": Expected({"none", "interrupted", "new"}, 10, "test.core.storage_file_cases"),
    "bam import": Expected({"none", "some", "new"}, 12),  # each bag is there as a whole or not at all
    "bam report": Expected({"old", "new"}, 5),
    "bam identify": Expected({"none", "new"}, 20),
    "bam identify, replaced": Expected({"old", "refused", "new"}, 40),
    "new study": Expected({"none", "interrupted", "new"}, 100),
    "study": Expected({"interrupted", "new"}, 20),  # never without a job that was acknowledged
}
SOON = ("servo file", "bag")
"""Tried at every step in `make test`; a trial of the others takes a second and more."""
LONG = 0 if os.environ.get("BAM_EVERY_STEP") else 12
"""Steps at which `make test-long` tries the others, evenly chosen; 0: all, which takes half an hour."""


@pytest.fixture(scope="session")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that lets steps fail."""
    library = tmp_path_factory.mktemp("faults") / "write_faults.so"
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++17", "-O1", "-fPIC", "-shared"]
    subprocess.run([compiler, *flags, str(HERE / "write_faults.cc"), "-o", str(library), "-ldl"], check=True)
    return library


@pytest.mark.parametrize(
    ("case", "most"),
    [
        *[(case, 0) for case in SOON],
        *[pytest.param(case, LONG, marks=pytest.mark.long) for case in CASES if case not in SOON],
    ],
)
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc, by which files are recognised")
def test_a_fault_at_any_step_leaves_the_old_or_the_new(
    case: str, most: int, faults: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", CASES[case].program, case, str(tmp_path), str(most)],
        cwd=ROOT,
        env={**os.environ, "LD_PRELOAD": str(faults), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    record_property("steps", found["steps"])
    record_property("states", found["states"])
    assert found["problems"] == []
    assert found["steps"] >= CASES[case].steps
    for kind, states in found["states"].items():
        assert sum(states.values()) == found["tried"], kind
        assert set(states) <= CASES[case].states, kind
    assert "refused" not in found["states"]["disk full"]  # nothing that needs room is left for the last
    shutil.rmtree(tmp_path)
