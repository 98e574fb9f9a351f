# SPDX-License-Identifier: Apache-2.0
"""Bags on the way to disk and after a crash: nothing waits, nothing is lost, nothing is overwritten."""

from __future__ import annotations

import errno
import shutil
import threading
from pathlib import Path

import pytest
from bam_bench.msg import BenchRun, ServoStates
from rclpy.duration import Duration
from rclpy.serialization import serialize_message
from rclpy.time import Time
from std_msgs.msg import Header

from bam_core.errors import Conflict, NotWritable
from bam_core.recordings.bag_writer import BagWriter
from bam_ros.recorder import bag_shelf
from bam_ros.recorder.bench_topics import BenchTopics
from bam_ros.recorder.run_writer import RunWriter
from bam_ros.text.recorder_notices import BrokenBag
from test.ros.recorder_bench import directories, short_session
from test.ros.ros_helpers import PATIENCE, wait_for

TOPICS = BenchTopics(
    states="/servo_states",
    joints="/joint_states",
    commands="/servo_commands",
    configuration="/servo_configuration",
    run="/bench_run",
    diagnostics="/diagnostics",
)
START = 1_700_000_000_000_000_000
SESSION = short_session()
RUN = SESSION.runs()[0]


def states(sequence: int, stamp: int) -> bytes:
    goals = tuple(f"goal_{kind}" for kind in ("position", "velocity", "current", "duty"))
    arrays = ("velocity", "current", "duty", "effort", "voltage", "temperature", *goals)
    message = ServoStates(sequence=sequence, name=["joint"], position=[0.1], torque_enabled=[True])
    message.hardware_error = [0]
    for array in arrays:
        setattr(message, array, [0.0])
    message.header.stamp = Time(nanoseconds=stamp).to_msg()
    return serialize_message(message)


def description(**changes: object) -> bytes:
    fields = {
        "servo": "mx106",
        "joint": "joint",
        "id": 1,
        "script": RUN.script.name,
        "mass": 0.5,
        "length": 0.1,
        "kp": 8.0,
        "supply_voltage": 15.0,
        "duration": Duration(nanoseconds=round(RUN.script.duration * 1e9)).to_msg(),
        "header": Header(stamp=Time(nanoseconds=START).to_msg()),
    }
    return serialize_message(BenchRun(**{**fields, **changes}))


def fill(writer: RunWriter, seconds: float, **changes: object) -> None:
    writer.put("/bench_run", START, description(**changes))
    for index in range(int(seconds * 100) + 1):
        stamp = START + index * 10_000_000
        writer.put("/servo_states", stamp, states(index, stamp))


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    return tmp_path / RUN.name


def broken_bag(bag: Path) -> BrokenBag:
    return bag_shelf.inspect(bag.parent, SESSION, TOPICS.run).broken[RUN.name]


def test_a_complete_bag_is_recognised(bag: Path) -> None:
    with RunWriter(bag, TOPICS.in_bag()) as writer:
        fill(writer, 1.0)
    shelf = bag_shelf.inspect(bag.parent, SESSION, TOPICS.run)
    assert (shelf.complete, shelf.broken) == ({RUN.name}, {})


def test_a_finished_bag_that_lost_messages_since_is_not_complete(bag: Path) -> None:
    with RunWriter(bag, TOPICS.in_bag()) as writer:
        fill(writer, 5.0)
    data = next(bag.glob("*.mcap"))
    data.write_bytes(data.read_bytes()[: data.stat().st_size // 8])
    shelf = bag_shelf.inspect(bag.parent, SESSION, TOPICS.run)
    assert shelf.complete == frozenset()
    broken = shelf.broken[RUN.name]
    assert broken.kind == "cut_short"
    assert broken.messages < broken.expected == 502


def test_an_interrupted_bag_tells_how_far_it_came(bag: Path) -> None:
    writer = RunWriter(bag, TOPICS.in_bag())
    fill(writer, 3.2)
    writer.close(complete=False)
    broken = broken_bag(bag)
    assert broken.kind == "interrupted"
    assert broken.duration == pytest.approx(3.2)


def test_a_bag_that_holds_nothing_yet_is_interrupted(bag: Path) -> None:
    RunWriter(bag, TOPICS.in_bag()).close(complete=False)
    bag_shelf.set_aside(bag)
    bag.mkdir()
    assert broken_bag(bag) == BrokenBag(kind="no_state")


def test_a_damaged_bag_is_told_apart(bag: Path) -> None:
    with RunWriter(bag, TOPICS.in_bag()) as writer:
        fill(writer, 1.0)
    file = next(bag.glob("*.mcap"))
    data = bytearray(file.read_bytes())
    chunk = data.index(b"\x28\xb5\x2f\xfd")  # where zstd data begins
    data[chunk + 200 : chunk + 264] = bytes(64)
    file.write_bytes(data)
    broken = broken_bag(bag)
    assert broken.kind == "unreadable"
    assert str(file) in broken.reason


def test_bags_of_another_session_are_counted_and_those_set_aside_are_not(bag: Path) -> None:
    with RunWriter(bag, TOPICS.in_bag()) as writer:
        fill(writer, 1.0)
    shutil.copytree(bag, bag.with_name("of_another_session"))
    shutil.copytree(bag, bag.with_name(f"{bag.name}.stalled-1"))
    (bag.parent / "notes").mkdir()
    shelf = bag_shelf.inspect(bag.parent, SESSION, TOPICS.run)
    assert (shelf.complete, shelf.others) == ({RUN.name}, 1)


def test_a_bag_of_another_bench_stops_everything(bag: Path) -> None:
    with RunWriter(bag, TOPICS.in_bag()) as writer:
        fill(writer, 1.0)
    with pytest.raises(Conflict, match=r"another bench \(/bench_run, not /left/bench_run\)"):
        bag_shelf.inspect(bag.parent, SESSION, "/left/bench_run")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("servo", "mx64", "servo 'mx64', not 'mx106'"),
        ("mass", 0.7, "mass 0.7, not 0.5"),
        ("kp", 16.0, "kp 16, not 8"),
        ("script", "up_and_down", "script 'up_and_down', not 'sin_sin'"),
    ],
)
def test_a_bag_of_another_run_stops_everything(bag: Path, field: str, value: object, said: str) -> None:
    with RunWriter(bag, TOPICS.in_bag()) as writer:
        fill(writer, 1.0, **{field: value})
    with pytest.raises(Conflict) as caught:
        bag_shelf.inspect(bag.parent, SESSION, TOPICS.run)
    assert said in caught.value.problem


def test_nothing_is_overwritten_when_set_aside(bag: Path) -> None:
    for _ in range(3):
        bag.mkdir()
        bag_shelf.set_aside(bag)
    assert directories(bag.parent) == [f"{RUN.name}.interrupted-{number}" for number in (1, 2, 3)]


def test_a_slow_disk_holds_nobody_up(bag: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = threading.Event()
    write = BagWriter.write

    written: list[object] = []

    def slow(self: BagWriter, *message: object) -> None:
        assert stuck.wait(PATIENCE)
        written.append(message)
        write(self, *message)  # type: ignore[arg-type]

    monkeypatch.setattr(BagWriter, "write", slow)
    writer = RunWriter(bag, TOPICS.in_bag())
    fill(writer, 10.0)
    assert written == []  # the disk is stuck, and whoever records has gone on
    stuck.set()
    writer.close(complete=True)
    assert bag_shelf.inspect(bag.parent, SESSION, TOPICS.run).complete == {RUN.name}


def test_a_full_disk_is_told_and_the_bag_not_called_complete(
    bag: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: BagWriter, *message: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    writer = RunWriter(bag, TOPICS.in_bag())
    fill(writer, 0.1)
    monkeypatch.setattr(BagWriter, "write", full)
    fill(writer, 0.1)
    with pytest.raises(NotWritable, match="No space left on device") as caught:
        writer.close(complete=True)
    assert caught.value.path == str(bag)
    with pytest.raises(NotWritable):
        writer.check()
    assert not (bag / "metadata.yaml").exists()


def test_a_stream_that_pauses_is_on_disk_soon(bag: Path) -> None:
    writer = RunWriter(bag, TOPICS.in_bag())
    fill(writer, 0.5)

    def is_on_disk() -> bool:
        broken = bag_shelf.inspect(bag.parent, SESSION, TOPICS.run).broken.get(RUN.name)
        return broken is not None and broken.duration == pytest.approx(0.5)

    wait_for(is_on_disk, 3.0, "flush")
    writer.close(complete=True)


def test_an_exception_leaves_the_bag_marked_as_interrupted(bag: Path) -> None:
    def fail() -> None:
        with RunWriter(bag, TOPICS.in_bag()) as writer:
            fill(writer, 0.2)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    broken = broken_bag(bag)
    assert broken.kind == "interrupted"
    assert broken.duration == pytest.approx(0.2)
