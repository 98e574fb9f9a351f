# SPDX-License-Identifier: Apache-2.0
"""Decoded messages of an MCAP file, be it whole or cut short by a killed recorder."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from mcap.exceptions import EndOfFile, InvalidMagic
from mcap.records import Channel, Chunk, Footer, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import StreamReader

from bam_core.errors import Malformed, Unreadable
from bam_core.recordings.mcap_chunks import ChunkReader
from bam_core.recordings.message_decoder import BagContents, Decoder, TypedMessage, uncompressed

GAINS = "bam_bench_gains"
"""Name of the metadata record of a run of a robot with its gains."""


def read_mcap(path: Path, types: Collection[str], file: Path | None = None) -> BagContents:
    """Read all messages of some types, whatever their topics.

    Args:
        path: the ``.mcap`` file, for messages of errors.
        types: message types to decode; others are skipped.
        file: where its bytes are; default `path`.

    Raises:
        FileError: the file is not readable, not MCAP, damaged, or a definition in it does not parse.
    """
    decoder = Decoder(path)
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    messages: list[TypedMessage] = []
    times: list[int] = []
    gains: dict[str, str] = {}
    complete = False
    for record in read_records(path, file):
        if isinstance(record, Schema):
            if record.name in types and record.id not in schemas:
                decoder.define(record.name, record.encoding, record.data)
            schemas[record.id] = record
        elif isinstance(record, Channel):
            channels[record.id] = record
        elif isinstance(record, Message):
            times.append(record.log_time)
            channel = channel_of(path, channels, record)
            name = _type(schemas, channel)
            if name in types:
                what = f"message {record.sequence} on {channel.topic}"
                value = decoder.decode(record.data, name, what)
                messages.append(TypedMessage(channel.topic, name, record.log_time, value))
        elif isinstance(record, Metadata) and record.name == GAINS:
            gains = record.metadata
        elif isinstance(record, Footer):
            complete = True
    return BagContents(
        messages=tuple(messages),
        count=len(times),
        complete=complete,
        topics={channel.topic: _type(schemas, channel) for channel in channels.values()},
        span=(min(times), max(times)) if times else None,
        gains=gains,
    )


def _type(schemas: Mapping[int, Schema], channel: Channel) -> str:
    return schemas[channel.schema_id].name if channel.schema_id in schemas else ""


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


def read_records(path: Path, file: Path | None = None) -> Iterator[McapRecord]:
    """Yield the records of an MCAP file up to its end or, where it is cut short, to the last complete chunk.

    Messages that rosbag2 compressed one by one are unpacked.

    Args:
        path: the ``.mcap`` file, for messages of errors.
        file: where its bytes are; default `path`.

    Raises:
        FileError: the file is not readable, not MCAP, or damaged from here on.
    """
    file = file or path
    try:
        with file.open("rb") as stream:
            yield from _records(path, stream, file.stat().st_size)
    except OSError as error:
        raise Unreadable(path, error) from None


def _records(path: Path, stream: BinaryIO, size: int) -> Iterator[McapRecord]:
    """Records up to the end or, in a file cut short, up to the last complete one."""
    channels: set[int] = set()
    try:
        for record in _unpacked(path, stream, size):
            if isinstance(record, Channel):
                channels.add(record.id)
            elif isinstance(record, Message) and record.channel_id not in channels:
                raise ValueError(f"a message is of channel {record.channel_id}, which is not described")
            if isinstance(record, Message):
                record.data = uncompressed(record.data)
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


def _unpacked(path: Path, stream: BinaryIO, size: int) -> Iterator[McapRecord]:
    """Records of the file and, in the place of each chunk, those in it."""
    exact = _ExactStream(stream, size)
    chunks = ChunkReader(path, size)
    for record in StreamReader(exact, emit_chunks=True, validate_crcs=True).records:  # type: ignore[arg-type]
        if isinstance(record, Chunk):
            yield from chunks.records(record)
        else:
            yield record


class _ExactStream:
    """Distinguishes a file cut short from a damaged one: a read beyond the end is the end of the file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, length: int) -> bytes:
        if length > self._left:
            raise EndOfFile
        self._left -= length
        return self._stream.read(length)
