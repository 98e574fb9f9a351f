# SPDX-License-Identifier: Apache-2.0
"""Bags: recordings, runs of robots, and what a repair makes of damaged ones.

An input is an MCAP or SQLite file, perhaps compressed as a whole, in which the fuzzer changes bytes. Chunks
have no CRC, so that changes within them reach the messages. A bag that a repair has written can be read, and
holds no more messages than it says.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import zstandard

from bam_core.recordings.bag import read_bag
from bam_core.recordings.bag_repair import damage, repair_bag
from bam_core.recordings.header_corrections import Rule
from bam_core.robot.bag_run import read_bag_run
from test.fuzz.target import FILES, Target, attempt, file, folder

_HEADER = (Rule(set={"mass": 0.5, "length": 0.1, "kp": 32.0, "motor": "mx106", "vin": 15.0}, source="--set"),)


def check(data: bytes) -> None:
    kind, content = (data[0] if data else 0) % 6, data[1:]
    path = file({4: "bag.db3", 5: "bag.mcap.zstd"}.get(kind, "bag.mcap"), content)
    match kind:
        case 0:
            recording = attempt(lambda: read_bag(path))
        case 1:
            recording = attempt(lambda: read_bag(path, rules=_HEADER))
        case 2 | 4 | 5:
            recording = None
            run = attempt(lambda: read_bag_run(path))
            assert run is None or np.all(np.isfinite(run.position))
        case _:
            recording = None
            _repair(path)
    if recording is not None:
        assert np.all(np.isfinite(recording.position))
        assert np.all(np.diff(recording.time) > 0.0)


def _repair(path: Path) -> None:
    attempt(lambda: damage(path))
    output = folder() / "repaired"
    shutil.rmtree(output, ignore_errors=True)
    found = attempt(lambda: repair_bag(path, output))
    if found is not None:
        assert found.messages > 0
        assert not damage(output), "a repaired bag is damaged"


@cache
def seeds() -> tuple[bytes, ...]:
    """Return whole, interrupted and foreign bags of a few messages."""
    from test.run_bag import RunBag

    found = []
    with tempfile.TemporaryDirectory() as place:
        for number, complete in enumerate((True, False)):
            bag = RunBag(samples=6)
            bag.stamps = bag.stamps + 252 * 2_000_000
            bag.commands = [(int(bag.stamps[0]), 0.1)]
            directory = bag.write(Path(place) / f"bag{number}", complete=complete)
            data = _plain(next(directory.glob("*.mcap")))
            found += [bytes((kind,)) + data for kind in range(4)]
        found += [each[: len(each) * 2 // 3] for each in found[:4]]
        bag = RunBag(samples=6)
        bag.run = {}
        bag.stamps = bag.stamps + 252 * 2_000_000
        data = _plain(next(bag.write(Path(place) / "foreign").glob("*.mcap")))
        found += [bytes((kind,)) + data for kind in range(4)]
        found += [b"\x04" + _sqlite(Path(place)), b"\x05" + zstandard.ZstdCompressor().compress(data)]
    return tuple(found)


def _sqlite(place: Path) -> bytes:
    """Return a bag of some joint states and goals in SQLite, without definitions."""
    from test.core.recordings.test_bag_files import foreign, rosbag2

    return (rosbag2(place / "sqlite", foreign()[48:53]) / "sqlite.db3").read_bytes()


def _plain(path: Path) -> bytes:
    """Return a file with the same messages, without compression and checks."""
    from mcap.reader import make_reader
    from mcap.writer import CompressionType, IndexType, Writer

    copy = path.with_suffix(".plain")
    with path.open("rb") as stream, copy.open("wb") as target:
        reader = make_reader(stream)
        writer = Writer(
            target,
            compression=CompressionType.NONE,
            enable_crcs=False,
            enable_data_crcs=False,
            index_types=IndexType.NONE,
            repeat_channels=False,
            repeat_schemas=False,
            use_chunking=True,
            use_statistics=False,
            use_summary_offsets=False,
        )
        writer.start("ros2")
        schemas: dict[int, int] = {}
        channels: dict[int, int] = {}
        for schema, channel, message in reader.iter_messages():
            if schema.id not in schemas:
                text = b"\n".join(line.split(b"#")[0].rstrip() for line in schema.data.splitlines())
                schemas[schema.id] = writer.register_schema(schema.name, schema.encoding, text)
            if channel.id not in channels:
                channels[channel.id] = writer.register_channel(
                    channel.topic, "cdr", schemas[schema.id], channel.metadata
                )
            writer.add_message(
                channels[channel.id], message.log_time, message.data, message.publish_time, message.sequence
            )
        writer.finish()
    return copy.read_bytes()


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_core.recordings.bag",
        "bam_core.recordings.plain_bag",
        "bam_core.recordings.bag_repair",
        "bam_core.recordings.bag_writer",
        "bam_core.recordings.array_goals",
        "bam_core.recordings.bag_files",
        "bam_core.recordings.mcap_messages",
        "bam_core.recordings.message_decoder",
        "bam_core.recordings.sqlite_messages",
        "bam_core.recordings.trajectory_goals",
        "bam_core.recordings.joint_series",
        "bam_core.recordings.recording",
        "bam_core.robot.bag_run",
        "mcap.stream_reader",
        "mcap.data_stream",
        "mcap.records",
    ),
    longest=9000,
    runs=FILES,
)
