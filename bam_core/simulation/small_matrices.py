# SPDX-License-Identifier: Apache-2.0
"""Linear algebra on matrices so small that the threads of BLAS would mostly wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_inside = 0
_limits: threadpool_limits | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS work in the caller's thread, which leaves the other processors to simulations.

    A search takes three times as long without, an analysis of a walk twice, and more on a busy machine. The
    limit holds for the process, so threads may enter and leave in any order: the last one to leave lifts it.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = threadpool_limits(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()
