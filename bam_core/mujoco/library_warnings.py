# SPDX-License-Identifier: Apache-2.0
"""Takes MuJoCo's warnings, which it prints on standard error and appends to a file MUJOCO_LOG.TXT."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mujoco

_Handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


@contextmanager
def library_warnings() -> Iterator[list[str]]:
    """Give the list of MuJoCo's warnings in this block, in place of what it would print and write.

    Other threads' warnings come here as well. Where the library is not found, MuJoCo prints as ever.
    """
    told: list[str] = []
    slot = _slot()
    if slot is None:
        yield told
        return
    handler = _Handler(lambda text: told.append(text.decode(errors="replace")))
    before = slot.value
    slot.value = ctypes.cast(handler, ctypes.c_void_p).value
    try:
        yield told
    finally:
        slot.value = before


def _slot() -> ctypes.c_void_p | None:
    """Return MuJoCo's variable for a function that takes warnings (`mju_user_warning`)."""
    for path in sorted(Path(mujoco.__file__).parent.glob("*mujoco.*")):
        try:
            return ctypes.c_void_p.in_dll(ctypes.CDLL(str(path)), "mju_user_warning")
        except (OSError, ValueError):
            continue
    return None
