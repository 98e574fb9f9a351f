# SPDX-License-Identifier: Apache-2.0
"""What is fuzzed: a function of bytes with the properties that every input must keep.

No input may hang (`HANG`), take more memory than `MEMORY`, or raise anything but a `BamError` whose message
is one line that prints. `run.py` searches for inputs that break this, guided by coverage; `corpus/` keeps
those that did, and some that go far into the code. `make test` replays them.
"""

from __future__ import annotations

import importlib
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from bam_core.errors import BamError

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
MEMORY = 1 << 30
"""Bytes that the process may have with everything that an input makes it take."""
HANG = 60.0
"""Time of the processor after which an input counts as one that hangs, s."""
_LONGEST_LINE = 5000

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Target:
    """Something that takes what others send or write.

    Attributes:
        check: raises where an input breaks a property; returns how many packets it has decided on, where an
            input carries any number of them; None where it is one packet or file.
        seeds: inputs to begin with, from which others are made.
        modules: whose coverage guides the search; none that numba compiles.
        longest: bytes of an input.
        runs: how many packets or files `make fuzz` tries.
    """

    check: Callable[[bytes], int | None]
    seeds: Callable[[], Iterable[bytes]]
    modules: tuple[str, ...]
    longest: int = 4096
    runs: int


PACKETS, FILES = 1_000_000, 100_000
"""What to try of targets that take packets and messages, and of those that read files."""


def target_names() -> list[str]:
    """Return the names of all targets: those of their files."""
    return sorted(path.stem for path in (HERE / "targets").glob("[a-z]*.py"))


def load_target(name: str) -> Target:
    """Import the target of this name."""
    found: Target = importlib.import_module(f"test.fuzz.targets.{name}").TARGET
    return found


def attempt(work: Callable[[], T]) -> T | None:
    """Return what the work returns; None where it raises a BamError, which must be one line that prints."""
    try:
        with _composed_log_lines():
            return work()
    except BamError as error:
        _require_one_line(type(error).__name__, str(error))
        return None


def _require_one_line(kind: str, line: str) -> None:
    assert line.isprintable(), f"{kind} is not one line that prints: {line[:200]!r}"
    assert 0 < len(line) <= _LONGEST_LINE, f"{kind} has {len(line)} characters"
    assert ": " in line, f"{kind} does not say of what it is: {line[:200]!r}"


@cache
def folder() -> Path:
    """Return a directory for the files of this process, in memory where there is such a place."""
    memory = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(prefix="bam_fuzz_", dir=memory if memory.is_dir() else None))
    import atexit

    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def file(name: str, data: bytes) -> Path:
    """Write an input as a file."""
    path = folder() / name
    path.write_bytes(data)
    return path


class _Composer(logging.Handler):
    """Composes log lines, which may fail, and drops them."""

    def emit(self, record: logging.LogRecord) -> None:
        assert record.getMessage()


_LOG, _COMPOSER = logging.getLogger("bam_core"), _Composer()


@contextmanager
def _composed_log_lines() -> Iterator[None]:
    """Compose and drop the log lines of what is inside; those of the tests that follow are as before."""
    before = _LOG.propagate
    _LOG.addHandler(_COMPOSER)
    _LOG.propagate = False
    try:
        yield
    finally:
        _LOG.removeHandler(_COMPOSER)
        _LOG.propagate = before
