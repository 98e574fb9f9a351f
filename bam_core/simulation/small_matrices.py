# SPDX-License-Identifier: Apache-2.0
"""Linear algebra on matrices so small that the threads of BLAS would mostly wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_inside = 0
_limits: list[threadpool_limits] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS work in the caller's thread, which leaves the other processors to simulations.

    A search takes three times as long without, an analysis of a walk twice, and more on a busy machine. The
    limit holds for the process, so threads may enter and leave in any order: the last one to leave lifts it.
    """
    global _inside
    with _lock:
        _limits.append(
            threadpool_limits(limits=1, user_api="blas")
        )  # libraries loaded since are limited, too
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            while _inside == 0 and _limits:
                _limits.pop().restore_original_limits()
