# SPDX-License-Identifier: Apache-2.0
"""Functions that other threads want run in the thread of a loop, between two exchanges."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, TypeVar

from bam_core.errors import Unavailable

T = TypeVar("T")


class LoopRequests:
    """A queue of functions with the futures of what they return."""

    def __init__(self) -> None:
        self._queue: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    def put(self, function: Callable[[], T]) -> Future[T]:
        """Queue a function; from any thread."""
        future: Future[T] = Future()
        self._queue.append((function, future))
        return future

    def serve(self) -> None:
        """Run all functions that wait; called in the loop's thread."""
        while self._queue:
            function, future = self._queue.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except Exception as error:
                future.set_exception(error)

    def refuse(self) -> None:
        """Answer functions that no loop will run; several threads may find the same ones."""
        while self._queue:
            try:
                _, future = self._queue.popleft()
                future.set_exception(
                    Unavailable(
                        "bus",
                        "not active (the servo loop is stopped)",
                        advice="activate the node and ask again",
                    )
                )
            except (IndexError, InvalidStateError):
                continue
