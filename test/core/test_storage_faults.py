# SPDX-License-Identifier: Apache-2.0
"""A writer that is killed at any step leaves the old file or the new one, and nothing that stays."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

OLD, NEW = "old\n", "new\n" * 50_000
# Kills itself before the n-th step that touches the disk: to open for writing, write, rename, remove.
WRITER = """
import os, pathlib, signal, sys
import bam_core.atomic_file as atomic_file

path, at = sys.argv[1], int(sys.argv[2])
steps = 0

def step(*_):
    global steps
    steps += 1
    if steps == at:
        os.kill(os.getpid(), signal.SIGKILL)

def hook(event, arguments):
    writes = event == "open" and arguments[1] in ("w", "wb", "xb", "x")
    if writes or event in ("os.rename", "os.remove", "os.mkdir"):
        step()

class Slow(pathlib.PosixPath):
    def write_bytes(self, content):
        with self.open("wb", buffering=0) as file:
            for start in range(0, len(content), 40_000):
                step()
                file.write(content[start : start + 40_000])

atomic_file.Path = Slow
sys.addaudithook(hook)
atomic_file.write_text(path, "new\\n" * 50_000)
print(steps)
"""


def write(path: Path, at: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(at)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("existed", [True, False])
def test_kill_at_every_step_leaves_the_old_file_or_the_new_one(tmp_path: Path, existed: bool) -> None:
    path = tmp_path / "servo.yaml"
    whole = write(tmp_path / "count" / "servo.yaml", 0)
    steps = int(whole.stdout)
    assert steps >= 7  # opened, five times written, renamed
    found = set()
    for at in range(1, steps + 1):
        path.unlink(missing_ok=True)
        if existed:
            path.write_text(OLD)
        killed = write(path, at)
        content = path.read_text() if path.exists() else None
        assert content in (OLD if existed else None, NEW)
        if killed.returncode == -signal.SIGKILL:
            found.add(content)
    assert OLD in found or None in found
    # What the killed writers have left is removed by the next one.
    assert write(path, 0).returncode == 0
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["servo.yaml"]


def test_a_disk_that_is_full_is_one_line_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "servo.yaml"
    path.write_text(OLD)
    program = (
        "import resource, sys\n"
        "from bam_core.atomic_file import write_text\n"
        "from bam_core.errors import BamError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: write_text(sys.argv[1], 'new' * 50_000)\n"
        "except BamError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("\n") == 1
    assert "cannot be written" in done.stdout
    assert path.read_text() == OLD
    assert [each.name for each in tmp_path.iterdir()] == ["servo.yaml"]
