# SPDX-License-Identifier: Apache-2.0
"""Output that appears whole or not at all, in places that are tried out before the work."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bam_core.errors import NotWritable


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
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with _refusing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_orphans(path)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _remove_orphans(path: Path) -> None:
    """Remove what processes that were killed while they wrote this file have left of it."""
    for orphan in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        process = orphan.name.removesuffix(".tmp").rpartition(".")[2]
        if process.isdigit() and int(process) != os.getpid() and not Path("/proc", process).exists():
            orphan.unlink(missing_ok=True)


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
            raise NotWritable(path, f"{existing} is a file", expected="a directory for results")
        _try_out(existing)


def _try_out(directory: Path) -> None:
    """Create something: permissions do not tell of file systems that are read-only, full or special."""
    with tempfile.TemporaryDirectory(prefix=".", suffix=".tmp", dir=directory):
        pass


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritable(path, error) from None
