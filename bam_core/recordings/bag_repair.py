# SPDX-License-Identifier: Apache-2.0
"""Bags whose recorder was interrupted, or that were damaged, made whole with what is left of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mcap.records import Channel, Footer, Message, Schema

from bam_core.errors import BadData, BamError, Malformed, Unreadable
from bam_core.recordings.bag_files import MCAP, data_files
from bam_core.recordings.bag_metadata import promised_messages
from bam_core.recordings.bag_writer import METADATA_NAME, BagTopic, BagWriter, hash_of_type
from bam_core.recordings.header_corrections import NAME as BENCH_NAME
from bam_core.recordings.mcap_messages import channel_of, read_records

_MESSAGE_ENCODING = "cdr"  # of ROS 2


@dataclass(frozen=True, kw_only=True)
class RepairedBag:
    """What a repair found.

    Attributes:
        messages: count of those that are left.
        topics: count of theirs.
        duration: s from the first message to the last.
        problem: why the bag was not whole, in words.
    """

    messages: int
    topics: int
    duration: float
    problem: str


def find_bags(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return bags under some paths, each once: ``.mcap`` files, bag directories, or directories with such.

    Raises:
        Unreadable: a path does not exist.
        Malformed: a path is no bag, or holds none.
    """
    result: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_file() and _files(path):
            bags = [path]
        elif path.is_dir():
            bags = [path] if _files(path) else sorted({path.parent for path in path.rglob("*.mcap")})
        elif path.exists():
            raise Malformed(path, "is no bag", expected=".mcap or its directory", advice="leave it out")
        else:
            raise Unreadable(path, "does not exist", advice="check the path")
        if not bags:
            raise Malformed(path, "holds no bag", expected="*.mcap files in it", advice="check the path")
        result.update(dict.fromkeys(bags))
    return list(result)


def damage(bag: Path) -> str:
    """Return why a bag is not whole, in words; empty: it is.

    Args:
        bag: a ``.mcap`` file, or a bag directory.

    Raises:
        BamError: nothing of it can be read.
    """
    contents = [_Contents(file) for file in _files(bag)]
    for file in contents:
        for _ in file.messages():
            pass
    problems = [f"{file.path.name} {file.problem}" for file in contents if file.problem]
    try:
        promised = promised_messages(bag)
        if promised is None and bag.is_dir():
            problems.append(f"{METADATA_NAME} is missing")
        elif promised is not None and (count := sum(file.count for file in contents)) < promised:
            problems.append(f"{count} of {promised} messages are there")
    except Malformed as error:
        problems.append(f"{METADATA_NAME} {error.problem}")
    return "; ".join(problems)


def repair_bag(bag: Path, output: Path) -> RepairedBag:
    """Write a whole bag with every message of a bag that can be read.

    A chunk that is cut off or damaged ends what is read of its file. Topics, types and times of reception
    stay; a bag of several files becomes one file. A bench.yaml in the bag, or the nearest one
    above it, is copied into the new one.

    Args:
        bag: a ``.mcap`` file, or a bag directory.
        output: directory of the new bag; must not exist.

    Raises:
        BadData: no message is left.
        BamError: a file is no MCAP file, or cannot be read; the directory cannot be written.
    """
    problem = damage(bag)
    contents = [_Contents(file) for file in _files(bag)]
    topics: dict[str, BagTopic] = {}
    for file in contents:
        for channel, schema, _ in file.messages():
            if channel.topic not in topics:
                topics[channel.topic] = _topic(channel, schema)
    if not topics:
        raise BadData(str(bag), "no message is left in it", advice="record the run again")
    first, last, count = 0, 0, 0
    with BagWriter(output, topics) as writer:
        for file in contents:
            for channel, _, message in file.messages():
                writer.write(channel.topic, message.log_time, message.data)
                first = min(first, message.log_time) if count else message.log_time
                last, count = max(last, message.log_time), count + 1
    above = (place / BENCH_NAME for place in (bag, *bag.absolute().parents))
    if bench := next((path for path in above if path.is_file()), None):
        shutil.copy(bench, output)
    return RepairedBag(messages=count, topics=len(topics), duration=(last - first) * 1e-9, problem=problem)


def _files(bag: Path) -> list[Path]:
    """Return the files of a bag that can be written anew: MCAP, not compressed as a whole."""
    return [file for file in data_files(bag) if file.suffix == MCAP]


class _Contents:
    """Messages of a file up to where it can be read.

    Attributes:
        path: of the file.
        problem: what is wrong with it, once `messages` has ended; empty: nothing.
        count: of messages, likewise.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.count = 0

    def messages(self) -> Iterator[tuple[Channel, Schema | None, Message]]:
        """Yield messages with channel and schema; raises BamError where there is no MCAP file."""
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        self.problem, self.count = "is cut off", 0
        try:
            for record in read_records(self.path):
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    channels[record.id] = record
                elif isinstance(record, Message):
                    channel = channel_of(self.path, channels, record)
                    if channel.message_encoding == _MESSAGE_ENCODING:
                        self.count += 1
                        yield channel, schemas.get(channel.schema_id), record
                elif isinstance(record, Footer):
                    self.problem = ""
        except Malformed as error:
            if not self.count:
                raise
            self.problem = error.problem


def _topic(channel: Channel, schema: Schema | None) -> BagTopic:
    definition = schema.data.decode("utf-8", "replace") if schema is not None else ""
    topic = BagTopic(
        type=schema.name if schema is not None else "",
        definition=definition,
        qos=channel.metadata.get("offered_qos_profiles", ""),
        encoding=schema.encoding if schema is not None else "ros2msg",
        type_hash=channel.metadata.get("topic_type_hash"),
    )
    if topic.type_hash is None:
        try:
            topic = topic._replace(type_hash=hash_of_type(topic))
        except BamError:  # a definition in another language, or none
            topic = topic._replace(type_hash="")
    return topic
