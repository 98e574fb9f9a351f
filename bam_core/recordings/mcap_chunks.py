# SPDX-License-Identifier: Apache-2.0
"""Chunks of MCAP files, decompressed to no more than is allowed, whatever their headers claim."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import lz4.frame
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, McapRecord, Message, Schema

from bam_core.errors import Malformed

LARGEST_CHUNK = 256_000_000
"""Bytes of a chunk: recorders end one after 1 to 4 MB, or after a message that is larger."""

# What all compressed chunks of a file may hold together. A kilobyte of zstd can stand for 30 MB. States of a
# robot of 40 joints that does not move at all take 1/90 (recorder) to 1/250 (large chunks, best compression).
_SMALL_FILE = 64_000_000  # bytes, for files of any size
_LARGEST_RATIO = 500  # times the size of the file


class ChunkReader:
    """Decompresses the chunks of one file.

    Args:
        path: of the file.
        size: of the file, bytes.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._allowed = max(_SMALL_FILE, _LARGEST_RATIO * size)  # bytes that are left

    def records(self, chunk: Chunk) -> Iterator[McapRecord]:
        """Yield the records in a chunk.

        Raises:
            Malformed: the chunk is larger than allowed.
            ValueError: it is damaged, or holds another number of bytes than in its header.
            Exception: whatever else decompressors and parser make of damaged bytes.
        """
        data = self._decompressed(chunk) if chunk.compression else chunk.data
        if chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
            raise ValueError("the checksum of a chunk is wrong")
        stream = ReadDataStream(BytesIO(data))
        while stream.count < len(data):
            opcode, length = stream.read1(), stream.read8()
            if length > len(data) - stream.count:
                raise ValueError("a record is longer than its chunk")
            if opcode == Opcode.MESSAGE:
                yield Message.read(stream, length)
            elif opcode == Opcode.CHANNEL:
                yield Channel.read(stream)
            elif opcode == Opcode.SCHEMA:
                yield Schema.read(stream)
            elif opcode == 0:
                raise ValueError("a record has opcode 0")
            else:  # of a later version of the format
                stream.read(length)

    def _decompressed(self, chunk: Chunk) -> bytes:
        """Return what is in a chunk: exactly as many bytes as in its header, if that is allowed."""
        size = chunk.uncompressed_size
        self._allowed -= size
        if size > LARGEST_CHUNK or self._allowed < 0:
            raise Malformed(
                self._path,
                f"a chunk expands to {size / 1e6:.0f} MB",
                expected=f"at most {LARGEST_CHUNK / 1e6:.0f} MB, and all chunks of a file at most"
                f" {_SMALL_FILE / 1e6:.0f} MB or {_LARGEST_RATIO} times its size",
                advice="if you trust it, write it anew without compression ('rosbags-convert')",
            )
        if chunk.compression == "zstd":
            decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_CHUNK)
            data = decompressor.stream_reader(chunk.data).read(size + 1)
        elif chunk.compression == "lz4":
            data = lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
        else:
            raise ValueError(f"a chunk is compressed by {chunk.compression!r}")
        if len(data) != size:
            than = "more" if len(data) > size else "less"
            raise ValueError(f"a chunk holds {than} than the {size} bytes in its header")
        return data
