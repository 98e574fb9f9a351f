# SPDX-License-Identifier: Apache-2.0
"""Calls that do not depend on each other, each in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import TypeVar

from bam_core.simulation.memory import share_freed_memory
from bam_core.simulation.rollout import allowed_threads, simulation_threads

R = TypeVar("R")


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
