# SPDX-License-Identifier: Apache-2.0
"""What a launch gives its nodes to read is there while it lives, and gone however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bam_ros.launching.memory_file import memory_file

LAUNCH = """\
import sys
from bam_ros.launching.memory_file import memory_file
print(memory_file("text"), flush=True)
sys.stdin.read()
"""
READ = "import os, sys; path, = sys.argv[1:]; print(os.path.isfile(path), open(path).read())"


def test_another_process_reads_it_as_a_file() -> None:
    path, other = memory_file("γ: 1\n" * 10_000), memory_file("other")
    assert path.is_file()  # which launch asserts
    read = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", READ, str(path)], capture_output=True, check=True
    )
    assert read.stdout.decode() == "True " + "γ: 1\n" * 10_000 + "\n"
    assert (path.read_text(encoding="utf-8")[:5], other.read_text()) == ("γ: 1\n", "other")


def test_nobody_can_write_what_would_be_lost() -> None:
    path = memory_file("text")
    with pytest.raises(PermissionError):  # as RViz opens the file that it saves
        path.write_text("other")
    with pytest.raises(PermissionError), path.open("r+b", buffering=0) as file:
        file.write(b"more")
    assert path.read_text() == "text"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_behind(end: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as launch:
        assert launch.stdout is not None
        path = Path(launch.stdout.readline().strip())
        assert path.read_text() == "text"
        launch.send_signal(end)
    assert not path.exists()
