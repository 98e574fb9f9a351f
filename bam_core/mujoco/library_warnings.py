# SPDX-License-Identifier: Apache-2.0
"""Takes MuJoCo's warnings, which it prints on standard error and appends to a file MUJOCO_LOG.TXT."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

import mujoco

from bam_core.errors import printable_line

log = logging.getLogger(__name__)

_DIVERGED = "The simulation is unstable"


@contextmanager
def library_warnings() -> Iterator[list[str]]:
    """Give the list of MuJoCo's warnings in this block, in place of what it would print and write.

    Those of other threads come here as well. Where the library is not found, MuJoCo prints as ever.
    """
    lines: list[str] = []
    with _LOCK:
        _add(lines)
    try:
        yield lines
    finally:
        with _LOCK:
            _remove(lines)


@contextmanager
def divergence_reported() -> Iterator[None]:
    """Log MuJoCo's warnings in this block; a simulation that diverges is for the block to report."""
    with library_warnings() as lines:
        yield
    for line in dict.fromkeys(lines):
        if _DIVERGED not in line:
            log.warning("MuJoCo: %s", printable_line(line))


_LOCK = Lock()
_LISTS: list[list[str]] = []  # of blocks that have begun, in all threads
_BEFORE: list[int | None] = []  # MuJoCo's variable before the first of them


@ctypes.CFUNCTYPE(None, ctypes.c_char_p)
def _take(text: bytes) -> None:
    for lines in tuple(_LISTS):
        lines.append(text.decode(errors="replace"))


def _add(lines: list[str]) -> None:
    slot = _slot()
    if slot is not None and not _LISTS:
        _BEFORE[:] = [slot.value]
        slot.value = ctypes.cast(_take, ctypes.c_void_p).value
    _LISTS.append(lines)


def _remove(lines: list[str]) -> None:
    _LISTS[:] = [active for active in _LISTS if active is not lines]
    slot = _slot()
    if slot is not None and not _LISTS:
        slot.value = _BEFORE[0]


@cache
def _slot() -> ctypes.c_void_p | None:
    """Return MuJoCo's variable for a function that takes warnings (`mju_user_warning`)."""
    for path in sorted(Path(mujoco.__file__).parent.glob("*mujoco.*")):
        try:
            return ctypes.c_void_p.in_dll(ctypes.CDLL(str(path)), "mju_user_warning")
        except (OSError, ValueError):
            continue
    return None
