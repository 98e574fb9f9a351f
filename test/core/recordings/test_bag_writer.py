# SPDX-License-Identifier: Apache-2.0
"""A bag is readable by everyone, and what was written survives the writer."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import yaml
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader

from bam_core.errors import BadData, NotWritable
from bam_core.recordings.bag_files import read_messages
from bam_core.recordings.bag_writer import FLUSH_PERIOD, BagWriter
from test.core.refusals import refused

TOPICS = {"/chatter": ("std_msgs/msg/UInt64", "uint64 data\n", "")}
QOS = """- history: keep_last
  depth: 5
  reliability: best_effort
  durability: volatile
  deadline: {sec: 9223372036, nsec: 854775807}
  lifespan: {sec: 9223372036, nsec: 854775807}
  liveliness: automatic
  liveliness_lease_duration: {sec: 9223372036, nsec: 854775807}
  avoid_ros_namespace_conventions: false
"""


def cdr(number: int) -> bytes:
    return b"\x00\x01\x00\x00" + number.to_bytes(8, "little")


def write_bag(directory: Path, numbers: range, qos: str = "") -> None:
    kind, definition, _ = TOPICS["/chatter"]
    with BagWriter(directory, {"/chatter": (kind, definition, qos)}) as bag:
        for number in numbers:
            bag.write("/chatter", 10**18 + number, cdr(number))


def test_any_rosbag2_reader_gives_back_what_was_written(tmp_path: Path) -> None:
    write_bag(tmp_path / "run", range(2000), QOS)
    with AnyReader([tmp_path / "run"]) as reader:
        (connection,) = reader.connections
        assert (connection.topic, connection.msgtype) == ("/chatter", "std_msgs/msg/UInt64")
        assert connection.ext.offered_qos_profiles[0].depth == 5
        values = [
            (stamp - 10**18, reader.deserialize(raw, connection.msgtype).data)
            for connection, stamp, raw in reader.messages()
        ]
    assert values == [(n, n) for n in range(2000)]


def test_the_mcap_file_carries_index_statistics_and_the_bags_own_metadata(tmp_path: Path) -> None:
    write_bag(tmp_path / "run", range(100), QOS)
    with (tmp_path / "run" / "run_0.mcap").open("rb") as stream:
        reader = make_reader(stream)
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        assert summary.statistics.message_count == 100
        assert summary.chunk_indexes
        (channel,) = summary.channels.values()
        assert channel.metadata["offered_qos_profiles"] == QOS
        assert channel.metadata["topic_type_hash"].startswith("RIHS01_")
        assert reader.get_header().profile == "ros2"
        (record,) = reader.iter_metadata()
        inside = yaml.safe_load(record.metadata["serialized_metadata"])
    outside = yaml.safe_load((tmp_path / "run" / "metadata.yaml").read_text())
    assert inside == outside["rosbag2_bagfile_information"]


def test_metadata_has_the_fields_that_rosbag2_requires(tmp_path: Path) -> None:
    write_bag(tmp_path / "run", range(7))
    information = yaml.safe_load((tmp_path / "run" / "metadata.yaml").read_text())[
        "rosbag2_bagfile_information"
    ]
    assert information["version"] == 9
    assert information["storage_identifier"] == "mcap"
    assert information["relative_file_paths"] == ["run_0.mcap"]
    assert information["starting_time"] == {"nanoseconds_since_epoch": 10**18}
    assert information["duration"] == {"nanoseconds": 6}
    assert information["message_count"] == 7
    (topic,) = information["topics_with_message_count"]
    assert topic["message_count"] == 7
    assert set(topic["topic_metadata"]) == {
        "name",
        "type",
        "serialization_format",
        "offered_qos_profiles",
        "type_description_hash",
    }
    assert topic["topic_metadata"]["offered_qos_profiles"] == []
    assert information["files"][0]["path"] == "run_0.mcap"


def test_an_empty_bag_is_a_bag(tmp_path: Path) -> None:
    write_bag(tmp_path / "run", range(0))
    with AnyReader([tmp_path / "run"]) as reader:
        assert reader.message_count == 0


def test_a_bag_is_never_overwritten(tmp_path: Path) -> None:
    write_bag(tmp_path / "run", range(1))
    with refused(NotWritable, path=str(tmp_path / "run")):
        BagWriter(tmp_path / "run", TOPICS)


def test_a_definition_that_does_not_parse_is_named_and_leaves_no_directory(tmp_path: Path) -> None:
    with refused(BadData, thing="definition of pkg/msg/Odd"):
        BagWriter(tmp_path / "run", {"/odd": ("pkg/msg/Odd", "other/Missing field\n", "")})
    assert not (tmp_path / "run").exists()


def test_an_exception_leaves_a_readable_bag_that_is_marked_as_interrupted(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "run", TOPICS) as bag:
        bag.write("/chatter", 1, cdr(1))
        bag.__exit__(RuntimeError, RuntimeError(), None)
    assert not (tmp_path / "run" / "metadata.yaml").exists()
    contents = read_messages(tmp_path / "run" / "run_0.mcap", {"std_msgs/msg/UInt64"})
    assert [message.value.data for message in contents.messages] == [1]


WRITER = """
import os, signal, sys
from types import SimpleNamespace
from bam_core.recordings import bag_writer

now = 0.0  # s; a message every millisecond
bag_writer.time = SimpleNamespace(monotonic=lambda: now)
bag = bag_writer.BagWriter(sys.argv[1], {"/chatter": ("std_msgs/msg/UInt64", "uint64 data\\n", "")})
for number in range(1500):
    now = 1e-3 * number
    bag.write("/chatter", 10**9 + 10**6 * number, b"\\0\\1\\0\\0" + number.to_bytes(8, "little"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_kill_minus_nine_loses_less_than_a_second(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "run")]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL
    contents = read_messages(tmp_path / "run" / "run_0.mcap", {"std_msgs/msg/UInt64"})
    assert not contents.complete
    assert [message.value.data for message in contents.messages] == list(range(len(contents.messages)))
    assert 1500 - len(contents.messages) < 1000 * 1.1 * FLUSH_PERIOD
