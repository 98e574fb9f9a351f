# SPDX-License-Identifier: Apache-2.0
"""Bags as others leave them: SQLite, compressed, without metadata or definitions, several in one folder."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from mcap.writer import Writer as McapWriter
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from bam_core.errors import Malformed
from bam_core.recordings.bag_files import bags_in, data_files, read_messages
from bam_core.recordings.load import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.robot.load import RunSettings, load_runs
from test.core.recordings.test_plain_bag import BENCH, START, Entry, bench, foreign, same, write
from test.core.refusals import refused

HUMBLE = get_typestore(Stores.ROS2_HUMBLE)
JOINT_STATE = "sensor_msgs/msg/JointState"


def rosbag2(
    path: Path,
    entries: Sequence[Entry],
    storage: StoragePlugin = StoragePlugin.SQLITE3,
    version: int = 8,
    store: Any = HUMBLE,
) -> Path:
    """Write a bag by rosbags; of SQLite, one of version 8 holds no definitions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Writer(path, version=version, storage_plugin=storage) as writer:
        connections: dict[str, Any] = {}
        for topic, kind, moment, message in entries:
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(connections[topic], moment, store.serialize_cdr(message, kind))
    return path


@pytest.fixture
def truth(tmp_path: Path) -> Recording:
    write(tmp_path / "truth" / "run", foreign())
    bench(tmp_path, f"{BENCH}, vin: 12")
    (recording,) = load_recordings([tmp_path / "truth" / "run"])
    return recording


@pytest.mark.parametrize("version", [8, 9])
@pytest.mark.parametrize("named", ["run", "run/run.db3", "."])
@pytest.mark.parametrize("has_metadata", [True, False])
def test_a_bag_in_sqlite_is_read(
    truth: Recording, tmp_path: Path, version: int, named: str, has_metadata: bool
) -> None:
    folder = tmp_path / "old"
    rosbag2(folder / "run", foreign(), version=version)
    if not has_metadata:
        (folder / "run" / "metadata.yaml").unlink()
    (recording,) = load_recordings([folder / named])
    assert recording.name == "run"
    assert same(recording, truth)


def test_a_bag_in_sqlite_that_lost_messages_is_refused(tmp_path: Path) -> None:
    path = rosbag2(tmp_path / "run", foreign())
    database = sqlite3.connect(path / "run.db3")
    database.execute("DELETE FROM messages WHERE id > 300")
    database.commit()
    bench(tmp_path, BENCH)
    with refused(Malformed):
        load_recordings([path])


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE topics",
        "DROP TABLE topics; CREATE VIEW topics AS SELECT 1 AS id, '/a' AS name, 'b' AS type, 'cdr'"
        " AS serialization_format",
        "UPDATE messages SET data = 'text'",
        "UPDATE messages SET timestamp = 'now'",
        "UPDATE messages SET data = zeroblob(12)",
        "UPDATE topics SET serialization_format = 'other'",
    ],
)
def test_a_database_that_is_no_sound_bag_is_one_line(tmp_path: Path, script: str) -> None:
    path = rosbag2(tmp_path / "run", foreign()[:10]) / "run.db3"
    database = sqlite3.connect(path)
    database.executescript(script)
    database.commit()
    with refused(Malformed, path=str(path)):
        read_messages(path, {JOINT_STATE})


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "run.db3"
    path.write_bytes(b"no database at all" * 100)
    with refused(Malformed, path=str(path)):
        read_messages(path, {JOINT_STATE})


def pack(bag: Path, *, rename: bool) -> None:
    """Compress the files of a bag as `ros2 bag record --compression-mode file` does."""
    for file in [*bag.glob("*.mcap"), *bag.glob("*.db3")]:
        Path(f"{file}.zstd").write_bytes(zstandard.ZstdCompressor().compress(file.read_bytes()))
        file.unlink()
        if rename:
            metadata = bag / "metadata.yaml"
            metadata.write_text(metadata.read_text().replace(file.name, f"{file.name}.zstd"))


@pytest.mark.parametrize("storage", [StoragePlugin.SQLITE3, StoragePlugin.MCAP])
@pytest.mark.parametrize("rename", [True, False])
def test_files_that_are_compressed_as_a_whole_are_unpacked(
    truth: Recording, tmp_path: Path, storage: StoragePlugin, rename: bool
) -> None:
    path = rosbag2(tmp_path / "packed" / "run", foreign(), storage)
    pack(path, rename=rename)
    (recording,) = load_recordings([path])
    assert same(recording, truth)
    (file,) = data_files(path)
    (recording,) = load_recordings([file])
    assert recording.name == "run"
    (run,) = load_runs([tmp_path / "packed"], RunSettings(kp=32.0))
    assert run.name == "run"


def test_a_compressed_file_that_expands_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap.zstd"
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress(bytes(100_000_000)))
    with refused(Malformed, path=str(path)):
        read_messages(path, {JOINT_STATE})
    path.write_bytes(b"no zstd")
    with refused(Malformed, path=str(path)):
        read_messages(path, {JOINT_STATE})


def test_a_file_counts_once_beside_its_compressed_copy(tmp_path: Path) -> None:
    path = write(tmp_path / "run", foreign())
    (file,) = path.glob("*.mcap")
    copy = path / f"{file.name}.zstd"
    copy.write_bytes(zstandard.ZstdCompressor().compress(file.read_bytes()))
    assert data_files(path) == [file]
    (path / "metadata.yaml").unlink()
    assert data_files(path) == [file]
    (path / "run_0.db3").write_bytes(b"")  # converted
    assert data_files(path) == [file]


def test_a_bare_file_of_another_recorder_is_read(truth: Recording, tmp_path: Path) -> None:
    file = rosbag2(tmp_path / "bag", foreign(), StoragePlugin.MCAP) / "bag.mcap"
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.move(file, bare / "any name.mcap")
    for path in (bare / "any name.mcap", bare):
        (recording,) = load_recordings([path])
        assert same(recording, truth)


def later(entries: Sequence[Entry], nanoseconds: int) -> list[Entry]:
    """Received later, with the same stamps."""
    return [(topic, kind, moment + nanoseconds, message) for topic, kind, moment, message in entries]


@pytest.mark.parametrize("apart", [0, 3_600_000_000_000])
def test_files_in_a_folder_that_do_not_follow_each_other_are_recordings_of_their_own(
    tmp_path: Path, apart: int
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for number in range(3):
        entries = later(foreign()[: 440 - 10 * number], number * apart)
        file = rosbag2(tmp_path / f"bag{number}", entries, StoragePlugin.MCAP) / f"bag{number}.mcap"
        shutil.move(file, folder / f"run_{number}.mcap")
    bench(tmp_path, f"{BENCH}, vin: 12")
    assert [recording.name for recording in load_recordings([folder])] == ["run_0", "run_1", "run_2"]
    assert len(load_runs([folder], RunSettings(kp=32.0))) == 3
    assert len(load_runs([tmp_path], RunSettings(kp=32.0))) == 3


def test_files_that_a_recorder_has_split_are_one_recording(truth: Recording, tmp_path: Path) -> None:
    folder = tmp_path / "split"
    folder.mkdir()
    entries = foreign()
    for number, part in enumerate((entries[:200], entries[200:300], entries[300:])):
        file = rosbag2(tmp_path / f"part{number}", part, StoragePlugin.MCAP) / f"part{number}.mcap"
        shutil.move(file, folder / f"run_{number}.mcap")
    assert bags_in(folder) == [folder]
    (recording,) = load_recordings([folder])
    assert same(recording, truth)


def mcap(path: Path, entries: Sequence[Entry], encoding: str, definition: bytes) -> Path:
    """An MCAP file whose types are defined in another way."""
    with path.open("wb") as stream:
        writer = McapWriter(stream)
        writer.start()
        schemas: dict[str, int] = {}
        channels: dict[str, int] = {}
        for topic, kind, moment, message in entries:
            if kind not in schemas:
                schemas[kind] = writer.register_schema(name=kind, encoding=encoding, data=definition)
            if topic not in channels:
                channels[topic] = writer.register_channel(topic, "cdr", schemas[kind])
            data = bytes(HUMBLE.serialize_cdr(message, kind))
            writer.add_message(channels[topic], log_time=moment, data=data, publish_time=moment)
        writer.finish()
    return path


IDL_PARTS = {
    "builtin_interfaces/msg/Time": "struct Time { int32 sec; uint32 nanosec; };",
    "std_msgs/msg/Header": "struct Header { builtin_interfaces::msg::Time stamp; string frame_id; };",
    JOINT_STATE: "struct JointState { std_msgs::msg::Header header; sequence<string> name;"
    " sequence<double> position; sequence<double> velocity; sequence<double> effort; };",
}


def idl() -> bytes:
    """Definitions as recorders write them for types of packages that are written in IDL."""
    parts = []
    for name, struct in IDL_PARTS.items():
        package = name.split("/")[0]
        parts.append("=" * 80 + f"\nIDL: {name}\n" + f"module {package} {{ module msg {{ {struct} }}; }};\n")
    return "".join(parts).encode()


@pytest.mark.parametrize(("encoding", "definition"), [("ros2idl", idl()), ("ros2msg", b""), ("", b"")])
def test_definitions_may_be_idl_or_absent(
    truth: Recording, tmp_path: Path, encoding: str, definition: bytes
) -> None:
    path = mcap(tmp_path / "run.mcap", foreign(), encoding, definition)
    (recording,) = load_recordings([path])
    assert same(recording, truth)


@pytest.mark.parametrize(("encoding", "definition"), [("ros2idl", b"struct {"), ("protobuf", b"x")])
def test_definitions_that_nobody_reads_are_one_line(tmp_path: Path, encoding: str, definition: bytes) -> None:
    path = mcap(tmp_path / "run.mcap", foreign()[:3], encoding, definition)
    with refused(Malformed, path=str(path)):
        read_messages(path, {JOINT_STATE})


STATE = "control_msgs/msg/JointTrajectoryControllerState"
POINT = "trajectory_msgs/JointTrajectoryPoint"


@pytest.mark.parametrize(
    "fields", [("reference", "feedback", "error", "output"), ("desired", "actual", "error")]
)
def test_a_controllers_state_is_decoded_without_its_definition(tmp_path: Path, fields: Sequence[str]) -> None:
    store = get_typestore(Stores.ROS2_HUMBLE)
    lines = ["std_msgs/Header header", "string[] joint_names", *(f"{POINT} {field}" for field in fields)]
    store.register(get_types_from_msg("\n".join(lines) + "\n", STATE))
    empty = np.zeros(0)
    duration = store.types["builtin_interfaces/msg/Duration"](sec=0, nanosec=0)

    def point(value: float) -> Any:
        kind = store.types["trajectory_msgs/msg/JointTrajectoryPoint"]
        return kind(np.array([value]), empty, empty, empty, duration)

    stamp = store.types["builtin_interfaces/msg/Time"](sec=1, nanosec=0)
    header = store.types["std_msgs/msg/Header"](stamp=stamp, frame_id="base")
    message = store.types[STATE](header, ["a"], *(point(float(k)) for k in range(len(fields))))
    path = rosbag2(tmp_path / "run", [("/controller_state", STATE, START, message)], store=store)
    (read,) = read_messages(path / "run.db3", {STATE}).messages
    assert [getattr(read.value, field).positions[0] for field in fields] == list(range(len(fields)))


def test_a_type_that_nobody_knows_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    path = rosbag2(tmp_path / "run", foreign()[:3]) / "run.db3"
    database = sqlite3.connect(path)
    database.execute("UPDATE topics SET type = 'my_robot/msg/Goals'")
    database.commit()
    with refused(Malformed, path=str(path)) as caught:
        read_messages(path, {"my_robot/msg/Goals"})
    assert "my_robot/msg/Goals" in caught.value.problem
