# SPDX-License-Identifier: Apache-2.0
"""Decoded messages of an MCAP file, be it whole or cut short by a killed recorder.

Types come from the schemas in the file itself, so neither ROS 2 nor the message packages are needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import zstandard
from mcap.exceptions import EndOfFile, InvalidMagic
from mcap.records import Channel, Chunk, Footer, McapRecord, Message, Schema
from mcap.stream_reader import StreamReader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from bam_core.errors import Malformed, Unreadable
from bam_core.recordings.mcap_chunks import ChunkReader
from bam_core.recordings.message_fields import missing_field

_COMPRESSED = b"\x28\xb5\x2f\xfd"  # a zstd frame; a message in CDR begins with 0
_LARGEST_MESSAGE = 2**26  # [B] unpacked; more than any state of joints, and soon refused


class TypedMessage(NamedTuple):
    """One message of a bag."""

    topic: str
    """Its topic, with the namespace it was recorded under."""
    type: str
    """Message type, such as "bam_bench/msg/ServoStates"."""
    log_time: int
    """Time of reception [ns since the epoch]."""
    value: Any
    """The decoded message; arrays are numpy arrays."""


@dataclass(frozen=True, kw_only=True)
class McapContents:
    """What could be read of an MCAP file."""

    messages: tuple[TypedMessage, ...]
    """In the order of writing."""
    count: int
    """Of messages read, those of other types included."""
    complete: bool
    """False: the file ends before its footer, everything up to the last complete chunk is here."""


def read_messages(path: Path, types: Collection[str]) -> McapContents:
    """Read all messages of some types, whatever their topics.

    Args:
        path: the ``.mcap`` file.
        types: message types to decode; others are skipped.

    Raises:
        FileError: the file is not readable, not MCAP, damaged, or a definition in it does not parse.
    """
    store = _store(())
    known: dict[str, bytes] = {}
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    messages: list[TypedMessage] = []
    count = 0
    complete = False
    for record in read_records(path):
        if isinstance(record, Schema):
            if record.name in types and record.id not in schemas:
                known[record.name] = _definition(path, record)
                store = _parsed(path, known)
                _require_fields(path, store, record.name)
            schemas[record.id] = record
        elif isinstance(record, Channel):
            channels[record.id] = record
        elif isinstance(record, Message):
            count += 1
            channel = channel_of(path, channels, record)
            name = schemas[channel.schema_id].name if channel.schema_id in schemas else ""
            if name in types:
                value = _deserialise(path, store, record, name, channel.topic)
                messages.append(TypedMessage(channel.topic, name, record.log_time, value))
        elif isinstance(record, Footer):
            complete = True
    return McapContents(messages=tuple(messages), count=count, complete=complete)


def channel_of(path: Path, channels: Mapping[int, Channel], message: Message) -> Channel:
    """Return the channel of a message; raises Malformed where the file has not described it before."""
    channel = channels.get(message.channel_id)
    if channel is None:
        raise Malformed(
            path,
            f"is damaged (a message of channel {message.channel_id}, which it has not described)",
            advice="restore it from a backup or record the run again",
        )
    return channel


def read_records(path: Path) -> Iterator[McapRecord]:
    """Yield the records of an MCAP file up to its end or, where it is cut short, to the last complete chunk.

    Messages that rosbag2 compressed one by one are unpacked.

    Args:
        path: the ``.mcap`` file.

    Raises:
        FileError: the file is not readable, not MCAP, or damaged from here on.
    """
    try:
        with path.open("rb") as stream:
            yield from _records(path, stream)
    except OSError as error:
        raise Unreadable(path, error) from None


def _records(path: Path, stream: BinaryIO) -> Iterator[McapRecord]:
    """Records up to the end or, in a file cut short, up to the last complete one."""
    channels: set[int] = set()
    try:
        for record in _unpacked(path, stream):
            if isinstance(record, Channel):
                channels.add(record.id)
            elif isinstance(record, Message) and record.channel_id not in channels:
                raise ValueError(f"a message is of channel {record.channel_id}, which is not described")
            if isinstance(record, Message) and record.data.startswith(_COMPRESSED):
                record.data = _unpacked_message(record.data)
            yield record
    except EndOfFile:
        return
    except Malformed:
        raise
    except InvalidMagic:
        raise Malformed(
            path, "does not begin like an MCAP file", advice="give a bag recorded with MCAP storage"
        ) from None
    except Exception as error:  # whatever its parser and the decompressors make of damaged bytes
        what = " ".join(str(error).split()) or type(error).__name__
        raise Malformed(
            path, f"is damaged ({what})", advice="restore it from a backup or record the run again"
        ) from error


def _unpacked_message(data: bytes) -> bytes:
    """Return a message that `ros2 bag record --compression-mode message` compressed.

    Told by its first bytes, not by metadata.yaml, which an interrupted bag does not have.
    """
    if zstandard.frame_content_size(data) > _LARGEST_MESSAGE:
        raise ValueError("a compressed message is too large")
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=_LARGEST_MESSAGE)


def _unpacked(path: Path, stream: BinaryIO) -> Iterator[McapRecord]:
    """Records of the file and, in the place of each chunk, those in it."""
    size = path.stat().st_size
    exact = _ExactStream(stream, size)
    chunks = ChunkReader(path, size)
    for record in StreamReader(exact, emit_chunks=True, validate_crcs=True).records:  # type: ignore[arg-type]
        if isinstance(record, Chunk):
            yield from chunks.records(record)
        else:
            yield record


class _ExactStream:
    """Tells a file cut short from a damaged one: a read beyond the end is the end of the file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, length: int) -> bytes:
        if length > self._left:
            raise EndOfFile
        self._left -= length
        return self._stream.read(length)


def _definition(path: Path, schema: Schema) -> bytes:
    if schema.encoding != "ros2msg":
        raise Malformed(
            path,
            f"{schema.name} is described as '{schema.encoding}'",
            expected="ros2msg",
            advice="record with message definitions in .msg form",
        )
    return bytes(schema.data)


def _parsed(path: Path, definitions: Mapping[str, bytes]) -> Any:
    """Return what decodes messages of these types; the last of them is new."""
    try:
        return _store(tuple(definitions.items()))
    except Exception as error:  # rosbags raises whatever its parser meets
        raise Malformed(
            path,
            f"the definition of {list(definitions)[-1]} in it does not parse",
            advice="record the run again",
        ) from error


def _require_fields(path: Path, store: Any, name: str) -> None:
    if problem := missing_field(store.fielddefs, name):
        raise Malformed(
            path, problem, expected="the type as bam_bench and ROS 2 define it", advice="record the run again"
        )


@lru_cache(maxsize=64)
def _store(definitions: tuple[tuple[str, bytes], ...]) -> Any:
    """Return what decodes messages of these types: parsing them takes longer than reading a short bag."""
    store = get_typestore(Stores.EMPTY)
    for name, definition in definitions:
        store.register(get_types_from_msg(definition.decode(), name))
    return store


def _deserialise(path: Path, store: Any, message: Message, name: str, topic: str) -> Any:
    try:
        return store.deserialize_cdr(message.data, name)
    except Exception as error:  # rosbags raises whatever its generated code meets
        raise Malformed(
            path, f"message {message.sequence} on {topic} is not a {name}", advice="record the run again"
        ) from error
