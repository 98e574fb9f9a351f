# SPDX-License-Identifier: Apache-2.0
"""Threads: how many simulations use, calls side by side, and limits of BLAS and malloc meanwhile."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from typing import TypeVar

from threadpoolctl import threadpool_limits

R = TypeVar("R")

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h

_threads: ContextVar[int | None] = ContextVar("threads", default=None)

_lock = threading.Lock()
_inside = 0
_limits: list[threadpool_limits] = []


@contextmanager
def simulation_threads(count: int) -> Iterator[None]:
    """Let rollouts that are made or called in this context use no more than so many threads."""
    token = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(token)


def allowed_threads() -> int:
    """Return how many threads rollouts that are made or called here use, if no fewer are asked for."""
    return _threads.get() or available_processors()


def available_processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def side_by_side(
    calls: Sequence[Callable[[], R]], *, stop: Callable[[], None] = lambda: None
) -> Iterator[tuple[int, R]]:
    """Yield the index of every call and what it returned, as they are done.

    Each simulates in its own thread: threads that share simulations wait for each other. One call alone is
    made here, with all processors.

    Args:
        calls: in any number.
        stop: called where one of them fails, or the caller ends early, as at Ctrl-C: lets those that run end
            soon. Those that have not begun are not made.
    """
    threads = min(allowed_threads(), len(calls))
    if threads <= 1:
        yield from ((index, call()) for index, call in enumerate(calls))
        return
    share_freed_memory()
    with ThreadPoolExecutor(threads) as pool:
        with simulation_threads(1):
            indices = {pool.submit(copy_context().run, call): index for index, call in enumerate(calls)}
        try:
            for future in as_completed(indices):
                yield indices[future], future.result()
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


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


@cache
def share_freed_memory() -> None:
    """Let the threads of this process that begin from now on take memory from one place.

    glibc gives each of them a place of its own, up to eight per processor, and what is freed in one is of no
    use in the others: an identification from 350 logs, whose jobs have threads of their own, took 2.1 GB
    where its arrays never take more than 1.4. Other C libraries are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
