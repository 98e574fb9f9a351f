# SPDX-License-Identifier: Apache-2.0
"""A rosbag2 directory with MCAP storage that survives ``kill -9`` of its writer."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple

import yaml
from mcap.writer import Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from bam_core._version import __version__
from bam_core.errors import BadData, Malformed, NotWritable
from bam_core.files.yaml_file import parse_yaml
from bam_core.recordings.mcap_messages import GAINS

FLUSH_PERIOD = 0.3
"""At most this long [s] does a written message wait before it is handed to the operating system."""

METADATA_NAME = "metadata.yaml"
"""Written last: a bag directory without it was interrupted."""

_METADATA_VERSION = 9  # rosbag2 of ROS 2 Jazzy


class BagTopic(NamedTuple):
    """What a bag holds about one topic."""

    type: str
    """Message type, such as "bam_bench/msg/ServoStates"."""
    definition: str
    """Complete definition, as ``bam_core.recordings.message_definition`` gives it."""
    qos: str = ""
    """Offered QoS profiles, the YAML list that rosbag2 writes; empty: not known."""
    encoding: str = "ros2msg"
    """Language of the definition."""
    type_hash: str | None = None
    """As ROS 2 computes it, "RIHS01_..."; empty: not known; None: computed from the definition."""


class BagWriter:
    """Writes serialised messages into ``<directory>/<name>_0.mcap`` and, when closed, ``metadata.yaml``.

    The MCAP chunk in progress is completed and handed to the operating system every ``flush_period`` seconds
    while messages arrive, so a process that dies without warning loses no more than that; ``flush`` does it
    at once, for streams that pause. (Nothing here waits for the disk: a power failure can lose what the
    operating system had not stored yet.) Not thread-safe.

    Args:
        directory: must not exist yet; its parents are created.
        topics: topic name to ``BagTopic`` (or its first three strings).
        flush_period: s.
        gains: "kp", "ki", "kd" -> in words of `servo.gains`, for bags whose topics do not have them.

    Raises:
        NotWritable: the directory exists or cannot be created.
        BadData: a definition does not parse.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        topics: Mapping[str, BagTopic | tuple[str, str, str]],
        *,
        flush_period: float = FLUSH_PERIOD,
        gains: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.directory = Path(directory).absolute()
        self._topics = {name: BagTopic(*topic) for name, topic in topics.items()}
        self._hashes = {
            topic.type: hash_of_type(topic) if topic.type_hash is None else topic.type_hash
            for topic in self._topics.values()
        }
        self._flush_period = flush_period
        self._counts = dict.fromkeys(self._topics, 0)
        self._first = self._last = 0
        try:
            self.directory.mkdir(parents=True)
        except FileExistsError:
            raise NotWritable(
                self.directory,
                "exists already (bags are not overwritten)",
                advice="remove it or take another name",
            ) from None
        except OSError as error:
            raise NotWritable(self.directory, error, advice="choose a directory you may write to") from None
        self.path = self.directory / f"{self.directory.name}_0.mcap"
        try:
            self._stream = self.path.open("xb")
        except OSError as error:
            raise NotWritable(self.path, error, advice="make room or choose another directory") from None
        self._open = True
        self._writer = Writer(self._stream)
        self._writer.start(profile="ros2", library=f"bam_bench {__version__}")
        self._channels = self._register()
        if gains:
            self._writer.add_metadata(GAINS, dict(gains))
        self._flushed = time.monotonic()

    def write(self, topic: str, stamp_ns: int, cdr: bytes) -> None:
        """Append one message.

        Args:
            topic: one of those given when the bag was opened.
            stamp_ns: time of reception [ns since the epoch], what ``ros2 bag play`` goes by.
            cdr: the serialised message with its encapsulation header, as ``rclpy`` gives it.

        Raises:
            KeyError: the topic was not declared.
            OSError: the disk is full or gone.
        """
        channel = self._channels[topic]
        count = self._counts[topic]
        self._writer.add_message(channel, stamp_ns, cdr, publish_time=stamp_ns, sequence=count)
        self._counts[topic] = count + 1
        self._first = min(self._first, stamp_ns) if self._first else stamp_ns
        self._last = max(self._last, stamp_ns)
        if time.monotonic() - self._flushed >= self._flush_period:
            self.flush()

    def flush(self) -> None:
        """Complete the chunk in progress and hand it to the operating system."""
        self._writer.flush()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write the index and ``metadata.yaml``: the recording is complete. Idempotent.

        Raises:
            OSError: the disk is full or gone; the bag is then marked as interrupted.
        """
        if not self._open:
            return
        self._open = False
        information = self._information()
        with self._stream:
            self._writer.add_metadata("rosbag2", {"serialized_metadata": _dump(information)})
            self._writer.finish()
        text = _dump({"rosbag2_bagfile_information": information})
        temporary = self.directory / f".{METADATA_NAME}.tmp"
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.directory / METADATA_NAME)

    def abandon(self) -> None:
        """Close the file without ``metadata.yaml``: readable, but marked as interrupted. Idempotent.

        What the disk refuses is left out: that it is full was reported before.
        """
        if self._open:
            self._open = False
            with suppress(OSError), self._stream:
                self._writer.finish()

    def __enter__(self) -> BagWriter:
        """Give the open writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close; an exception on the way leaves the bag marked as interrupted."""
        if kind is None:
            self.close()
        else:
            self.abandon()

    def _register(self) -> dict[str, int]:
        schemas: dict[str, int] = {}
        channels: dict[str, int] = {}
        for name, topic in self._topics.items():
            if topic.type not in schemas:
                schemas[topic.type] = self._writer.register_schema(
                    topic.type, topic.encoding, topic.definition.encode()
                )
            about = {
                "offered_qos_profiles": topic.qos,
                "topic_type_hash": self._hashes[topic.type],
            }
            channels[name] = self._writer.register_channel(name, "cdr", schemas[topic.type], about)
        return channels

    def _information(self) -> dict[str, Any]:
        """What rosbag2 keeps about a bag, in its own order of fields."""
        duration = {"nanoseconds": self._last - self._first}
        start = {"nanoseconds_since_epoch": self._first}
        count = sum(self._counts.values())
        return {
            "version": _METADATA_VERSION,
            "storage_identifier": "mcap",
            "duration": duration,
            "starting_time": start,
            "message_count": count,
            "topics_with_message_count": [
                {
                    "topic_metadata": {
                        "name": name,
                        "type": topic.type,
                        "serialization_format": "cdr",
                        "offered_qos_profiles": _profiles(topic.qos),
                        "type_description_hash": self._hashes[topic.type],
                    },
                    "message_count": self._counts[name],
                }
                for name, topic in self._topics.items()
            ],
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [self.path.name],
            "files": [
                {
                    "path": self.path.name,
                    "starting_time": dict(start),
                    "duration": dict(duration),
                    "message_count": count,
                }
            ],
            "custom_data": None,
            "ros_distro": os.environ.get("ROS_DISTRO", "jazzy"),
        }


@lru_cache(maxsize=64)
def hash_of_type(topic: BagTopic) -> str:
    """Return the hash of a topic's type, "RIHS01_..."; raises BadData where its definition does not parse."""
    store = get_typestore(Stores.EMPTY)
    try:
        store.register(get_types_from_msg(topic.definition, topic.type))
        return store.hash_rihs01(topic.type)
    except Exception as error:  # rosbags raises whatever its parser meets
        raise BadData(
            f"definition of {topic.type}",
            f"does not parse ({error})",
            advice="give the complete text with every type it contains",
        ) from error


def _profiles(text: str) -> Any:
    """Return QoS profiles as metadata keep them; none where a bag of another program has no valid YAML."""
    try:
        return parse_yaml(text, Path("offered_qos_profiles")) or []
    except Malformed:
        return []


def _dump(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False, default_flow_style=False)
