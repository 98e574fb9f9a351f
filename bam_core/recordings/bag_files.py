# SPDX-License-Identifier: Apache-2.0
"""The files of a bag: MCAP or SQLite, perhaps compressed as a whole, in the order of writing."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import zstandard

from bam_core.errors import BamError, Malformed, Unreadable
from bam_core.recordings.bag_metadata import metadata_files
from bam_core.recordings.bag_writer import METADATA_NAME
from bam_core.recordings.mcap_messages import read_mcap
from bam_core.recordings.message_decoder import BagContents
from bam_core.recordings.sqlite_messages import read_sqlite

MCAP, SQLITE = ".mcap", ".db3"
PACKED = ".zstd"
"""Ending of files of `ros2 bag record --compression-mode file`, behind that of the storage."""

_LARGEST = 8 << 30  # bytes of one file, unpacked
_LARGEST_RATIO = 500  # times the size of the compressed file; see `mcap_chunks`
_SMALL = 64_000_000  # bytes that a file of any size may have, unpacked
_BLOCK = 1 << 20
_PAUSE = 2_000_000_000  # ns between the last message of a file and the first of the next one of the same bag


def storage(path: Path) -> str:
    """Return how a file of a bag is stored, by its name: `MCAP`, `SQLITE`, or nothing."""
    name = path.name.removesuffix(PACKED)
    return next((ending for ending in (MCAP, SQLITE) if name.endswith(ending) and name != ending), "")


def bag_name(path: Path) -> str:
    """Return what a recording is called: the name of its bag directory, or of the file without endings."""
    return path.name if path.is_dir() else path.name.removesuffix(PACKED).removesuffix(storage(path))


def data_files(bag: Path) -> list[Path]:
    """Return the files of a bag (a file or a directory), in order of writing.

    Those that ``metadata.yaml`` names come first; without one those that are there, of MCAP if there are any.
    """
    if not bag.is_dir():
        return [bag] if bag.is_file() and storage(bag) else []
    named = [file for name in metadata_files(bag) for file in _variants(bag / name) if file.is_file()]
    if named:
        return named
    there = [path for path in bag.iterdir() if storage(path) and path.is_file()]
    chosen = [path for path in there if storage(path) == MCAP] or there
    unpacked = {path for path in chosen if path.name.endswith(PACKED)}
    chosen = [path for path in chosen if path not in unpacked or path.with_suffix("") not in chosen]
    return sorted(chosen, key=lambda path: (len(path.name), path.name))


def _variants(path: Path) -> tuple[Path, ...]:
    """Return the places of a file that may have been compressed or unpacked since."""
    bare = path.with_name(path.name.removesuffix(PACKED))
    return (bare,) if bare.is_file() else (bare.with_name(bare.name + PACKED),)


def bags_in(directory: Path) -> list[Path]:
    """Return the bags in a directory: itself, or each of its files where these are several recordings.

    Files without ``metadata.yaml`` belong together where each begins when the one before ends, as those of a
    recorder that splits. Others are recordings that somebody put into one folder.
    """
    files = data_files(directory)
    if len(files) < 2 or (directory / METADATA_NAME).is_file():
        return [directory] if files else []
    spans = []
    for file in files:
        try:
            spans.append(read_messages(file, ()).span)
        except BamError:
            return [directory]  # which is reported where it is read
    known = [span for span in spans if span is not None]
    follows = all(0 <= begin - end <= _PAUSE for (_, end), (begin, _) in pairwise(known))
    return [directory] if follows else files


def read_messages(path: Path, types: Collection[str]) -> BagContents:
    """Read all messages of some types from one file of a bag, whatever their topics.

    Args:
        path: of the file.
        types: message types to decode; others are skipped.

    Raises:
        FileError: the file is not readable, of another storage, damaged, or expands to too much; or a
            definition in it does not parse.
    """
    read = read_sqlite if storage(path) == SQLITE else read_mcap
    if not path.name.endswith(PACKED):
        return read(path, types)
    with _unpacked(path) as file:
        return read(path, types, file)


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """Give a temporary file with what a compressed one holds."""
    with tempfile.NamedTemporaryFile(prefix="bam_", suffix=storage(path)) as output:
        try:
            allowed = min(max(_SMALL, _LARGEST_RATIO * path.stat().st_size), _LARGEST)
            with path.open("rb") as packed:
                for block in zstandard.ZstdDecompressor().read_to_iter(packed, write_size=_BLOCK):
                    allowed -= len(block)
                    if allowed < 0:
                        raise Malformed(
                            path,
                            "expands to too much",
                            expected=f"{_LARGEST_RATIO} times its size at most",
                            advice="if you trust it, unpack it with 'zstd -d'",
                        )
                    output.write(block)
        except OSError as error:
            raise Unreadable(path, error) from None
        except zstandard.ZstdError as error:
            raise Malformed(path, f"is damaged ({error})", advice="copy it again") from None
        output.flush()
        yield Path(output.name)
