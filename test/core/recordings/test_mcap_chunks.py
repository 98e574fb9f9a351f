# SPDX-License-Identifier: Apache-2.0
"""A file cannot expand to more than the memory, whatever its headers say."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from pathlib import Path

import lz4.frame
import pytest
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.records import Channel, Chunk, Message
from mcap.writer import CompressionType, Writer

from bam_core.errors import Malformed
from bam_core.recordings.bag_files import read_messages
from bam_core.recordings.bag_repair import repair_bag
from bam_core.recordings.mcap_chunks import LARGEST_CHUNK
from bam_core.recordings.mcap_messages import read_records
from test.core.refusals import refused

ZEROS = 30_000_000
COMPRESSED = {
    "zstd": zstandard.ZstdCompressor().compress,
    "zstd that does not tell its size": zstandard.ZstdCompressor(write_content_size=False).compress,
    "lz4": lz4.frame.compress,
}
each_compression = pytest.mark.parametrize("how", COMPRESSED)


def chunk(content: bytes, how: str, *, said: int | None = None) -> Chunk:
    return Chunk(
        compression=how.split()[0],
        data=COMPRESSED[how](content),
        message_start_time=0,
        message_end_time=0,
        uncompressed_crc=zlib.crc32(content),
        uncompressed_size=len(content) if said is None else said,
    )


def message(data: bytes = b"") -> bytes:
    builder = RecordBuilder()
    Channel(id=1, topic="/a", message_encoding="cdr", metadata={}, schema_id=0).write(builder)
    Message(channel_id=1, log_time=1, data=data, publish_time=1, sequence=0).write(builder)
    return bytes(builder.end())


def file_of(place: Path, chunks: Sequence[Chunk]) -> Path:
    """Write a file of such chunks; it ends without an index, as that of an interrupted recorder."""
    stream = io.BytesIO()
    Writer(stream).start("ros2")
    builder = RecordBuilder()
    for each in chunks:
        each.write(builder)
    path = place / "bag.mcap"
    path.write_bytes(stream.getvalue() + builder.end())
    return path


def messages_in(path: Path) -> list[Message]:
    return [each for each in read_records(path) if isinstance(each, Message)]


@each_compression
def test_a_chunk_that_says_it_is_larger_than_any_of_a_recorder(tmp_path: Path, how: str) -> None:
    path = file_of(tmp_path, [chunk(message(), how, said=LARGEST_CHUNK + 1)])
    with refused(Malformed, path=str(path)):
        messages_in(path)
    with refused(Malformed, path=str(path)):
        repair_bag(path, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@each_compression
@pytest.mark.parametrize("said", [0, 1000, ZEROS + 1000])
def test_a_chunk_that_holds_other_than_it_says(tmp_path: Path, how: str, said: int) -> None:
    path = file_of(tmp_path, [chunk(message() + bytes(ZEROS), how, said=said)])
    with refused(Malformed, path=str(path)):
        messages_in(path)


def test_chunks_that_are_small_enough_and_too_many(tmp_path: Path) -> None:
    one = chunk(message(bytes(ZEROS)), "zstd")
    assert len(messages_in(file_of(tmp_path, [one, one]))) == 2
    path = file_of(tmp_path, [one] * 3)
    with refused(Malformed, path=str(path)):
        messages_in(path)


def test_a_chunk_of_zeros_holds_no_records(tmp_path: Path) -> None:
    path = file_of(tmp_path, [chunk(bytes(ZEROS), "zstd")])
    with refused(Malformed, path=str(path)):
        messages_in(path)


@each_compression
def test_messages_before_a_chunk_that_is_too_large_are_left(tmp_path: Path, how: str) -> None:
    path = file_of(tmp_path, [chunk(message(), how), chunk(b"", how, said=2**40)])
    found = repair_bag(path, tmp_path / "new")
    assert found.messages == 1
    assert "expands" in found.problem


@pytest.mark.parametrize("compression", CompressionType)
def test_chunks_of_every_compression_are_read(tmp_path: Path, compression: CompressionType) -> None:
    path = tmp_path / "bag.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream, compression=compression, chunk_size=10_000)
        writer.start("ros2")
        channel = writer.register_channel("/a", "cdr", 0)
        for number in range(1000):
            writer.add_message(channel, number, bytes(1000), number, number)
        writer.finish()
    assert [each.sequence for each in messages_in(path)] == list(range(1000))
    assert read_messages(path, ()).complete
