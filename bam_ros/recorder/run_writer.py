# SPDX-License-Identifier: Apache-2.0
"""Writing a bag from a thread of its own, so that a slow disk never holds up the bench."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType

from bam_core.errors import NotWritable
from bam_core.recordings.bag_writer import FLUSH_PERIOD, BagTopic, BagWriter

_CLOSE_TIMEOUT = 30.0  # s; a disk that needs longer for what is queued is gone


class RunWriter:
    """One bag and the queue of what still goes into it.

    The constructor returns when the bag is open. As a context manager it completes the bag, or leaves it
    marked as interrupted when an exception passes or `spoil` was called.

    Args:
        directory: of the bag; must not exist.
        topics: topic name to its entry in the bag.
        gains: as of `BagWriter`.

    Raises:
        BamError: the bag cannot be created.
    """

    def __init__(
        self, directory: Path, topics: Mapping[str, BagTopic], gains: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._bag = BagWriter(directory, topics, gains=gains)
        self._directory = directory
        self._queue: queue.SimpleQueue[tuple[str, int, bytes] | bool] = queue.SimpleQueue()
        self._failure: Exception | None = None
        self._complete = True
        self._thread = threading.Thread(target=self._run, name="bag writer", daemon=True)
        self._thread.start()

    def put(self, topic: str, stamp_ns: int, cdr: bytes) -> None:
        """Queue one serialised message; never waits."""
        self._queue.put((topic, stamp_ns, cdr))

    def spoil(self) -> None:
        """Leave the bag marked as interrupted when it ends, whatever else happens."""
        self._complete = False

    def check(self) -> None:
        """Raise NotWritable where the disk has refused something."""
        if self._failure is not None:
            why = getattr(self._failure, "strerror", None) or self._failure
            raise NotWritable(
                self._directory, f"cannot be written ({why})", advice="make room or choose another output"
            )

    def close(self, *, complete: bool) -> None:
        """Write what is queued and end the bag.

        Args:
            complete: False leaves it readable but marked as interrupted.

        Raises:
            NotWritable: something could not be written; the bag is then not marked complete.
        """
        self._queue.put(complete)
        self._thread.join(_CLOSE_TIMEOUT)
        if self._thread.is_alive():
            raise NotWritable(self._directory, "the disk does not answer", advice="choose another output")
        self.check()

    def __enter__(self) -> RunWriter:
        """Give the open writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete the bag; an exception on the way leaves it marked as interrupted."""
        if kind is None:
            self.close(complete=self._complete)
        else:
            try:
                self.close(complete=False)
            except NotWritable as failure:
                raise failure from error

    def _run(self) -> None:
        try:
            complete = self._write_all()
            if complete:
                self._bag.close()
            else:
                self._bag.abandon()
        except Exception as error:  # a full disk most of all; `check` and `close` tell it
            self._failure = error
            with suppress(Exception):
                self._bag.abandon()

    def _write_all(self) -> bool:
        """Write until asked to end; return whether the bag is complete."""
        while True:
            try:
                item = self._queue.get(timeout=FLUSH_PERIOD)
            except queue.Empty:  # the stream pauses: what is there shall be on disk
                self._bag.flush()
                continue
            if isinstance(item, bool):
                return item
            self._bag.write(*item)
