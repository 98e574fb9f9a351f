# SPDX-License-Identifier: Apache-2.0
"""Calls side by side: each has a thread, and all end when one fails or the caller does."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from bam_core.simulation.threads import allowed_threads, side_by_side, simulation_threads

PATIENCE = 60.0  # s that a thread may wait for a processor


def test_each_call_has_one_thread_and_one_call_alone_has_all() -> None:
    with simulation_threads(2):
        assert dict(side_by_side([allowed_threads] * 4)) == {0: 1, 1: 1, 2: 1, 3: 1}
        assert dict(side_by_side([allowed_threads])) == {0: 2}
        assert dict(side_by_side([])) == {}


@pytest.mark.parametrize("leaves", [False, True])
def test_calls_end_where_one_fails_or_the_caller_leaves(leaves: bool) -> None:
    """As at Ctrl-C: what runs is told to stop, what has not begun is not made."""
    stopped, begun = threading.Event(), threading.Semaphore(0)
    made: list[int] = []

    def call(index: int) -> int:
        made.append(index)
        if index == 0:
            begun.acquire(timeout=PATIENCE)  # the other one runs
            if leaves:
                return index
            raise ZeroDivisionError
        begun.release()
        assert stopped.wait(PATIENCE)
        return index

    with simulation_threads(2):
        results = side_by_side([partial(call, index) for index in range(6)], stop=stopped.set)
        if leaves:
            assert next(results) == (0, 0)
            results.close()
        else:
            with pytest.raises(ZeroDivisionError):
                list(results)
    assert stopped.is_set()
    assert len(made) <= 3


ARENAS = """
import ctypes, sys
import numpy as np
from bam_core.simulation.threads import simulation_threads
from bam_core.simulation.threads import side_by_side

def arenas():
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
    libc.fclose.argtypes = [ctypes.c_void_p]
    file = libc.fopen(sys.argv[1].encode(), b"w")
    libc.malloc_info(0, file)
    libc.fclose(file)
    return open(sys.argv[1]).read().count("<heap nr=")

before = arenas()
with simulation_threads(4):
    for _ in range(3):
        list(side_by_side([lambda: [np.ones(1000) for _ in range(1000)]] * 8))
print(arenas() - before)
"""


@pytest.mark.long
def test_what_one_thread_frees_others_can_use(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ARENAS, str(tmp_path / "info.xml")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"
