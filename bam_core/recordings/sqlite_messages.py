# SPDX-License-Identifier: Apache-2.0
"""Decoded messages of a bag in SQLite (``.db3``), the storage of ROS 2 up to Humble.

Bags of Humble hold no definitions of their types: those of ROS 2 are known.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from urllib.parse import quote

from bam_core.errors import BamError, Malformed, Unreadable
from bam_core.recordings.message_decoder import LARGEST_MESSAGE, BagContents, Decoder, TypedMessage

_TABLES = ("topics", "messages")
_DEFINITIONS = "message_definitions"
_MOST_STEPS = 20_000  # millions of SQLite's virtual machine: a schema may hold expressions that never end
_BACKUP = "restore it from a backup or record the run again"


def read_sqlite(path: Path, types: Collection[str], file: Path | None = None) -> BagContents:
    """Read all messages of some types, whatever their topics.

    Args:
        path: the ``.db3`` file, for messages of errors.
        types: message types to decode; others are skipped.
        file: where its bytes are; default `path`.

    Raises:
        FileError: the file is not readable, no bag, damaged, or a type's definition is not known.
    """
    file = file or path
    try:
        with file.open("rb") as stream:
            stream.read(1)
    except OSError as error:
        raise Unreadable(path, error) from None
    try:
        with closing(_connected(file)) as connection:
            return _contents(path, connection, types)
    except BamError:
        raise
    except Exception as error:  # whatever SQLite, and what decodes its texts, make of damaged bytes
        raise Malformed(path, f"is damaged ({error})", advice=_BACKUP) from None


def _connected(file: Path) -> sqlite3.Connection:
    place = quote(str(file.resolve()))
    connection = sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True)
    connection.execute("PRAGMA trusted_schema=OFF")
    steps = count()
    connection.set_progress_handler(lambda: next(steps) > _MOST_STEPS, 1_000_000)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _contents(path: Path, connection: sqlite3.Connection, types: Collection[str]) -> BagContents:
    tables = {
        name
        for name, text in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        if str(text).upper().startswith("CREATE TABLE")  # not a virtual one
    }
    if not tables.issuperset(_TABLES):
        raise Malformed(
            path, "is no bag", expected=f"a database of rosbag2, with {' and '.join(_TABLES)}", advice=_BACKUP
        )
    topics = {
        number: (str(name), str(kind), str(form))
        for number, name, kind, form in connection.execute(
            "SELECT id, name, type, serialization_format FROM topics"
        )
    }
    decoder = Decoder(path)
    if _DEFINITIONS in tables:
        for name, language, text in connection.execute(
            f"SELECT topic_type, encoding, encoded_message_definition FROM {_DEFINITIONS}"
        ):
            if name in types and language in ("ros2msg", "ros2idl"):
                decoder.define(str(name), str(language), text)
    messages, times = [], []
    for index, (number, moment, data) in enumerate(_rows(connection)):
        topic, kind, form = topics.get(number, ("", "", ""))
        if not (isinstance(moment, int) and (data is None or isinstance(data, bytes))):
            raise Malformed(path, f"is damaged (message {index})", advice=_BACKUP)
        times.append(moment)
        if kind not in types:
            continue
        if data is None:
            raise Malformed(path, f"message {index} on {topic} is too large", advice=_BACKUP)
        if form != "cdr":
            raise Malformed(
                path, f"has messages on {topic} as '{form}'", expected="cdr", advice="record the run again"
            )
        value = decoder.decode(data, kind, f"message {index} on {topic}")
        messages.append(TypedMessage(topic, kind, moment, value))
    return BagContents(
        messages=tuple(messages),
        count=len(times),
        complete=True,
        topics={topic: kind for topic, kind, _ in topics.values()},
        span=(min(times), max(times)) if times else None,
    )


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[object, object, object]]:
    """Give topic, time and data of each message, in the order of writing; None for data that are too long."""
    yield from connection.execute(
        "SELECT topic_id, timestamp, CASE WHEN length(data) <= ? THEN data END FROM messages ORDER BY id",
        (LARGEST_MESSAGE,),
    )
