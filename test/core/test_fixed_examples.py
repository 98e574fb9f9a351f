# SPDX-License-Identifier: Apache-2.0
"""`make test` draws the same examples in every run, whatever ran before; `make test-random` draws others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
from hypothesis import given, settings
from hypothesis import strategies as st
{imports}

@given(st.floats(-9.0, 9.0), st.integers(0, 1000))
@settings(max_examples=200)
def test_draws(real, whole):
    print("drawn", real, whole)
"""


def drawn(directory: Path, *options: str, imports: str = "") -> list[str]:
    """Return what a test draws in a process of its own that has loaded other modules."""
    file = directory / "test_draws.py"
    file.write_text(TEST.format(imports=imports))
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "test.conftest", str(file), *options]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=directory, env={"PYTHONPATH": str(root)}
    )
    return [line for line in done.stdout.splitlines() if "drawn" in line]


@pytest.mark.long
def test_draws_are_the_same_whatever_was_loaded_before(tmp_path) -> None:
    first = drawn(tmp_path)
    assert len(first) == 200
    assert (
        drawn(tmp_path, imports="import bam_core.servo.friction, bam_core.recordings.trajectories") == first
    )


@pytest.mark.long
def test_random_ones_differ(tmp_path) -> None:
    assert drawn(tmp_path, "--hypothesis-profile=random") != drawn(tmp_path)


@pytest.mark.long
def test_rounds_draw_anew(tmp_path) -> None:
    found = drawn(tmp_path, "--hypothesis-profile=random", "--rounds=2")
    assert len(found) == 400
    assert found[:200] != found[200:]
