# SPDX-License-Identifier: Apache-2.0
"""Output that appears whole or not at all, in places that are tried out before the work."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bam_core.errors import NotWritable

LEFT_AFTER = 3600.0
"""Age at which a hidden file counts as left by a process that was killed, s; no write takes so long."""


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file under a temporary sibling name, then rename it; parents are created.

    Raises:
        BamError: it cannot be written; what was there before is untouched.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file as `write_text` does.

    Raises:
        BamError: it cannot be written; what was there before is untouched.
    """
    path = Path(path)
    with _refusing(path), scratch(path) as temporary:
        temporary.write_bytes(content)
        temporary.replace(path)


@contextmanager
def scratch(path: Path, place: Path | None = None) -> Iterator[Path]:
    """Give a hidden name under which a file or directory is made that shall take the place of another one.

    What is left of that name at the end is removed, and first what processes have left that were killed
    between. Other machines and containers may write the same file at once: their process numbers show
    nothing here, so that only what is old is taken for left.

    Args:
        path: that is to be written.
        place: directory of the hidden name; None: beside the path. It is created where it is not there.

    Raises:
        OSError: the place cannot be written to, or the caller raised it.
    """
    place = path.parent if place is None else place
    place.mkdir(parents=True, exist_ok=True)
    _remove_left(path.name, place)
    temporary = place / f".{path.name}.{os.getpid()}.{secrets.token_hex(3)}.tmp"
    try:
        yield temporary
    finally:
        _remove(temporary)


def _remove_left(name: str, place: Path) -> None:
    """Remove what processes that were killed while they wrote this file have left of it."""
    for left in place.glob(f".{glob.escape(name)}.*.tmp"):
        process = left.name.removeprefix(f".{name}.").partition(".")[0]
        if process.isdigit() and not Path("/proc", process).exists() and _age(left) > LEFT_AFTER:
            _remove(left)


def _age(path: Path) -> float:
    """Return how long ago a file was changed, s; 0 where it has gone meanwhile."""
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return 0.0


def _remove(path: Path) -> None:
    """Remove a file or a directory, where it is there and lets itself be removed."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def require_file(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written, before time is spent on its content.

    Its directory must be there: for a single file, one that is not is more likely a slip of the keyboard.

    Raises:
        BamError: it is a directory or a device, its directory does not exist, or may not be written to.
    """
    path = Path(path)
    with _refusing(path):
        if path.exists() and not path.is_file():
            kind = "a directory" if path.is_dir() else "no regular file"
            raise NotWritable(
                path, f"is {kind}", expected="the name of a file to write", advice="choose another name"
            )
        if not path.parent.is_dir():
            raise NotWritable(
                path,
                f"there is no directory {path.parent}",
                expected="one to write into",
                advice="create it or correct the path",
            )
        _try_out(path.parent)


def require_directory(path: str | os.PathLike[str]) -> None:
    """Check that a directory can be filled, or created with its parents, before time is spent on that.

    Raises:
        BamError: the path is a file, or lies where nothing may be written.
    """
    path = Path(path)
    with _refusing(path):
        existing = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
        if not existing.is_dir():
            which = "" if existing == path else f"{existing} "
            raise NotWritable(path, f"{which}is a file", expected="a directory for results")
        _try_out(existing)


def _try_out(directory: Path) -> None:
    """Create something: permissions do not show file systems that are read-only, full or special."""
    with scratch(directory / "tried_out") as attempt:
        attempt.mkdir()


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritable(path, error) from None
