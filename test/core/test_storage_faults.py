# SPDX-License-Identifier: Apache-2.0
"""A fault at any step that changes files leaves what was there or what was to come, and nothing that stays.

The steps are those of the C library that the process really makes. At each
of them the process is killed (before, or with half of a write done), or the disk is full or read-only from
there on. Killed work is done anew afterwards, which has to go well and to remove what was left.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LEAST_STEPS = {  # fewer, and the steps are not seen any more
    "servo file": 5,
    "bag": 10,
    "bam import": 12,
    "bam report": 5,
}
STATES = {
    "servo file": {"old", "new"},
    "bag": {"none", "interrupted", "new"},
    "bam import": {"none", "some", "new"},  # each bag is there as a whole or not at all
    "bam report": {"old", "new"},
}
SOON = ("servo file", "bag")


@pytest.fixture(scope="session")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that lets steps fail."""
    library = tmp_path_factory.mktemp("faults") / "write_faults.so"
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++17", "-O1", "-fPIC", "-shared"]
    subprocess.run([compiler, *flags, str(HERE / "write_faults.cc"), "-o", str(library), "-ldl"], check=True)
    return library


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=() if case in SOON else pytest.mark.long) for case in STATES]
)
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc, by which files are recognised")
def test_a_fault_at_any_step_leaves_the_old_or_the_new(case: str, faults: Path, tmp_path: Path) -> None:
    path = os.pathsep.join([str(HERE), str(HERE.parent), str(HERE.parents[1])])
    done = subprocess.run(
        [sys.executable, str(HERE / "storage_cases.py"), case, str(tmp_path)],
        env={**os.environ, "LD_PRELOAD": str(faults), "PYTHONPATH": path, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["problems"] == []
    assert found["steps"] >= LEAST_STEPS[case]
    for kind, states in found["states"].items():
        assert sum(states.values()) == found["steps"], kind
        assert set(states) <= STATES[case], kind
    shutil.rmtree(tmp_path)
