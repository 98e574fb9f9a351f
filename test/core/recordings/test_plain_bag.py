# SPDX-License-Identifier: Apache-2.0
"""Bags without BenchRun, such as `ros2 bag record` makes: bench.yaml says what hung on which servo."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from mcap.records import Channel, Message, Schema
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from bam_core.errors import BadData, Malformed, Missing, UnknownName, Unsupported
from bam_core.exchange import write_bag
from bam_core.recordings import load_recordings
from bam_core.recordings.bag_repair import repair_bag
from bam_core.recordings.bag_writer import BagTopic, BagWriter
from bam_core.recordings.mcap_messages import read_records
from bam_core.recordings.recording import Recording
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.recording_findings import Interrupted, UnmodelledSettings
from test.core.finding_cases import logged
from test.core.refusals import refused
from test.run_bag import PERIOD, START, RunBag, definition

STORE = get_typestore(Stores.ROS2_JAZZY)
JOINT_STATE, CONFIGURATION = "sensor_msgs/msg/JointState", "bam_bench/msg/ServoConfiguration"
STORE.register(get_types_from_msg(definition(CONFIGURATION), CONFIGURATION))
BENCH = "mass: 0.567, arm_mass: 0.05, length: 0.105, kp: 32, motor: mx106"
DATA = Path(__file__).parents[2] / "data" / "simulated_xl330"

Entry = tuple[str, str, int, Any]  # topic, type, time of reception in ns, message


def bench(directory: Path, text: str) -> None:
    (directory / "bench.yaml").write_text(f"set: {{{text}}}")


def plain(directory: Path, samples: int = 1000) -> tuple[RunBag, Path]:
    """Write what `ros2 bag record` would have of the driver alone."""
    bag = RunBag(samples)
    bag.run = {}
    return bag, bag.write(directory / "run")


def stamp(nanoseconds: int) -> Any:
    time = STORE.types["builtin_interfaces/msg/Time"](sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
    return STORE.types["std_msgs/msg/Header"](stamp=time, frame_id="")


def joint_state(
    topic: str, moment: int, names: list[str], position: Sequence[float], *, stamped: bool = True
) -> Entry:
    message = STORE.types[JOINT_STATE](
        header=stamp(moment if stamped else 0),
        name=names,
        position=np.array(position, dtype=np.float64),
        velocity=np.zeros(0),
        effort=np.zeros(0),
    )
    return topic, JOINT_STATE, moment, message


def configuration(moment: int, **fields: Any) -> Entry:
    message = STORE.types[CONFIGURATION](
        **{
            "name": ["joint"],
            "servo": ["xl330"],
            "id": np.array([1], np.int16),
            "command_interface": ["position"],
            "goal_limit": np.array([np.inf]),
            "position_min": np.array([-3.0]),
            "position_max": np.array([3.0]),
            "demand_limit": np.array([0.8]),
            "unmodelled": [""],
            **fields,
        }
    )
    return "/servo_configuration", CONFIGURATION, moment, message


def write(path: Path, messages: Sequence[Entry], pack: Callable[[bytes], bytes] = bytes) -> Path:
    topics = {
        topic: (kind, STORE.generate_msgdef(kind, ros_version=2)[0], "") for topic, kind, _, _ in messages
    }
    with BagWriter(path, topics) as writer:
        for topic, kind, moment, message in messages:
            writer.write(topic, moment, pack(bytes(STORE.serialize_cdr(message, kind))))
    return path


def foreign(*, command: str = "/joint_command", stamped: bool = True, late: int = 0) -> list[Entry]:
    """Joint states at 100 Hz, goals at 20 Hz from 0.5 s on."""
    messages = []
    for index in range(400):
        moment = START + index * 10_000_000
        messages.append(joint_state("/joint_states", moment, ["joint"], [0.3 * math.sin(0.02 * index)]))
        if index >= 50 and index % 5 == 0:
            goal = 0.31 * math.sin(0.02 * index)
            messages.append(joint_state(command, moment + late, ["joint"], [goal], stamped=stamped))
    return messages


def test_states_of_our_driver_with_a_bench_yaml_are_a_recording(tmp_path: Path) -> None:
    bag, path = plain(tmp_path)
    bench(tmp_path, f"{BENCH}, joint: elbow, vin: 15")
    (recording,) = load_recordings([path])
    assert (recording.name, recording.script) == ("run", "run")
    assert recording.servo == "mx106"
    assert recording.bench == PendulumBench(mass=0.567, arm_mass=0.05, length=0.105)
    assert (recording.kp, recording.supply_voltage, recording.open_loop) == (32.0, 15.0, False)
    on = bag.enabled  # the driver goes on where the run has ended
    assert np.array_equal(recording.position, bag.position[on])
    assert np.array_equal(recording.goal_position, bag.goal[on])
    assert np.allclose(recording.time, np.arange(on.sum()) * PERIOD * 1e-9, atol=1e-9)
    assert recording.torque_enabled.all()
    assert (recording.voltage == 14.8).all()
    assert (recording.duty == 0.25).all()
    assert (recording.temperature == 31.0).all()
    assert {each.field for each in recording.corrections} >= {"mass", "length", "kp", "motor", "vin"}


def test_a_bag_in_a_directory_that_is_searched_is_found_like_any_other(tmp_path: Path) -> None:
    plain(tmp_path)
    bench(tmp_path, f"{BENCH}, joint: elbow")
    (recording,) = load_recordings([tmp_path])
    assert recording.supply_voltage == pytest.approx(14.8)  # as measured


@pytest.mark.parametrize("command", ["/joint_command", "/isaac/joint_commands", "/arm/command"])
@pytest.mark.parametrize("stamped", [True, False])
def test_joint_states_and_commands_of_any_nodes_are_a_recording(
    command: str, stamped: bool, tmp_path: Path
) -> None:
    write(tmp_path / "bag", foreign(command=command, stamped=stamped))
    bench(tmp_path, f"{BENCH}, vin: 12")
    (recording,) = load_recordings([tmp_path])
    assert len(recording) == 350  # from the first goal on
    index = np.arange(50, 400)
    assert np.allclose(recording.position, 0.3 * np.sin(0.02 * index))
    assert np.allclose(recording.goal_position, 0.31 * np.sin(0.02 * (index - index % 5)))
    assert recording.torque_enabled.all()
    assert np.isnan(recording.voltage).all()
    assert np.isnan(recording.velocity).all()


def test_goals_between_two_states_count_from_their_own_stamps_on(tmp_path: Path) -> None:
    write(tmp_path / "bag", foreign(late=4_000_000))
    bench(tmp_path, f"{BENCH}, vin: 12")
    (recording,) = load_recordings([tmp_path])
    time, goals = recording.goals
    assert time[1:4] == pytest.approx([0.044, 0.094, 0.144])  # the first sample is 6 ms after a goal
    assert goals[:3] == pytest.approx(0.31 * np.sin(0.02 * np.array([50, 55, 60])))
    assert recording.goal_position[:6] == pytest.approx(np.append(np.full(5, goals[0]), goals[1]))


def test_the_driver_s_configuration_tells_servo_and_limit_of_demand(tmp_path: Path) -> None:
    write(tmp_path / "bag", [configuration(START), *foreign()])
    (tmp_path / "bench.yaml").write_text(
        "set: {mass: 0.1, length: 0.1, vin: 5}\n"
        "rules: [{where: {motor: xl330}, set: {kp: 400}}, {where: {motor: mx64}, set: {kp: 32}}]"
    )
    (recording,) = load_recordings([tmp_path])
    assert (recording.servo, recording.demand_limit, recording.kp) == ("xl330", 0.8, 400.0)


def test_settings_that_the_model_does_not_have_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "bag", [configuration(START, unmodelled=["slave mode"]), *foreign()])
    bench(tmp_path, f"{BENCH}, vin: 12")
    load_recordings([tmp_path])
    (finding,) = logged(caplog)
    assert isinstance(finding, UnmodelledSettings)
    assert finding.settings == "slave mode"


def test_a_recording_is_the_same_with_and_without_its_description(tmp_path: Path) -> None:
    (first, *_) = load_recordings([DATA])
    source = tmp_path / "told" / "run"
    write_bag(first, source, start_ns=START)
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    messages: list[tuple[str, Message]] = []
    for record in read_records(next(source.glob("*.mcap"))):
        if isinstance(record, Schema):
            schemas[record.id] = record
        elif isinstance(record, Channel):
            channels[record.id] = record
        elif isinstance(record, Message) and not channels[record.channel_id].topic.endswith("bench_run"):
            messages.append((channels[record.channel_id].topic, record))
    kinds = {each.topic: schemas[each.schema_id] for each in channels.values()}
    topics = {topic: BagTopic(kinds[topic].name, kinds[topic].data.decode()) for topic, _ in messages}
    with BagWriter(tmp_path / "plain" / "run", topics) as writer:
        for topic, message in messages:
            writer.write(topic, message.log_time, message.data)
    bench(
        tmp_path / "plain",
        f"mass: {first.bench.mass}, arm_mass: {first.bench.arm_mass}, length: {first.bench.length},"
        f" kp: {first.kp}, motor: {first.servo}, vin: {first.supply_voltage}",
    )
    (recording,) = load_recordings([tmp_path / "plain"])
    (with_description,) = load_recordings([tmp_path / "told"])
    held = np.flatnonzero(with_description.torque_enabled)
    part = slice(held[0], held[-1] + 1)
    for name in ("position", "goal_position", "velocity", "voltage", "duty", "temperature", "torque_enabled"):
        assert np.array_equal(
            getattr(recording, name), getattr(with_description, name)[part], equal_nan=True
        ), name
    assert np.allclose(
        recording.time, with_description.time[part] - with_description.time[part][0], atol=1e-9
    )


# Where bench.yaml is


def test_a_bench_yaml_in_the_bag_counts_most(tmp_path: Path) -> None:
    _, path = plain(tmp_path)
    bench(tmp_path, f"{BENCH}, joint: elbow")
    bench(path, "mass: 0.2")
    (recording,) = load_recordings([path])
    assert recording.bench.mass == 0.2
    assert recording.kp == 32.0


def test_the_joint_of_a_described_run_can_be_set_too(tmp_path: Path) -> None:
    bag = RunBag(samples=600)
    bag.run["joint"] = "wrist"
    path = bag.write(tmp_path / "run")
    with refused(Missing, thing="states of joint 'wrist'"):
        load_recordings([path])
    assert len(load_recordings([path], set_fields=["joint=elbow"])[0]) == 350


# Refused


@pytest.mark.parametrize("left", ["mass", "length", "kp", "motor"])
def test_what_nobody_says_is_named_with_the_file_that_should(left: str, tmp_path: Path) -> None:
    _, path = plain(tmp_path)
    fields = [each for each in f"{BENCH}, joint: elbow".split(", ") if not each.startswith(left)]
    bench(tmp_path, ", ".join(fields))
    with refused(Malformed, path=str(path)) as caught:
        load_recordings([path])
    assert f"nothing sets {left} " in str(caught.value)
    assert "bench.yaml" in str(caught.value)


def test_without_a_bench_yaml_one_is_asked_for(tmp_path: Path) -> None:
    _, path = plain(tmp_path)
    with refused(Malformed, path=str(path)) as caught:
        load_recordings([path])
    assert "write bench.yaml" in str(caught.value)


def test_the_joint_must_be_said_where_there_are_several(tmp_path: Path) -> None:
    _, path = plain(tmp_path)
    bench(tmp_path, BENCH)
    with refused(Missing, thing="joint") as caught:
        load_recordings([path])
    assert str(caught.value).startswith(f"{path}: ")
    assert "shoulder, elbow" in str(caught.value)
    bench(tmp_path, f"{BENCH}, joint: wrist")
    with refused(UnknownName, name="wrist", valid=("elbow", "shoulder")):
        load_recordings([path])


def test_a_supply_that_nobody_measured_must_be_said(tmp_path: Path) -> None:
    write(tmp_path / "bag", foreign())
    bench(tmp_path, BENCH)
    with refused(Missing, thing="vin"):
        load_recordings([tmp_path])


def test_an_inertia_is_for_open_loop_only(tmp_path: Path) -> None:
    write(tmp_path / "bag", foreign())
    bench(tmp_path, f"{BENCH}, vin: 12, inertia: 0.1")
    with refused(Unsupported, thing="inertia"):
        load_recordings([tmp_path])


def test_states_without_goals_are_no_run(tmp_path: Path) -> None:
    write(tmp_path / "bag", [each for each in foreign() if each[0] == "/joint_states"])
    bench(tmp_path, f"{BENCH}, vin: 12")
    with refused(BadData, thing="joints"):
        load_recordings([tmp_path])


def test_goals_of_another_clock_are_named(tmp_path: Path) -> None:
    write(tmp_path / "bag", foreign(late=3_600_000_000_000))
    bench(tmp_path, f"{BENCH}, vin: 12")
    with refused(BadData, thing="joint 'joint'") as caught:
        load_recordings([tmp_path])
    assert "clock" in str(caught.value)


def test_a_run_without_torque_is_named(tmp_path: Path) -> None:
    bag = RunBag(300)
    bag.run = {}
    bag.enabled[:] = False
    path = bag.write(tmp_path / "run")
    bench(tmp_path, f"{BENCH}, joint: elbow")
    with refused(BadData, thing="torque of joint 'elbow'"):
        load_recordings([path])


def test_two_robots_in_one_bag_are_refused_and_what_the_simulator_shows_rviz_is_none(tmp_path: Path) -> None:
    seen = [
        joint_state("/simulator/goal_states", moment, ["joint"], [0.0])
        for _, kind, moment, _ in foreign()
        if kind == JOINT_STATE
    ]
    write(tmp_path / "seen" / "bag", [*foreign(), *seen])
    bench(tmp_path, f"{BENCH}, vin: 12")
    assert len(load_recordings([tmp_path / "seen"])[0]) == 350
    twice = [joint_state("/other/joint_states", START + n * 10**7, ["joint"], [0.0]) for n in range(400)]
    write(tmp_path / "two" / "bag", [*foreign(), *twice])
    with refused(BadData):
        load_recordings([tmp_path / "two"])


# Interrupted


def test_an_interrupted_one_is_read_where_it_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bag = RunBag(samples=1500)
    bag.run = {}
    path = bag.write(tmp_path / "cut", complete=False)
    (file,) = path.glob("*.mcap")
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * 0.4)])
    bench(tmp_path, f"{BENCH}, joint: elbow")
    with caplog.at_level(logging.WARNING):
        (recording,) = load_recordings([path])
    assert np.array_equal(recording.position, bag.position[: len(recording)])
    assert 100 < len(recording) < 750
    findings = {finding.kind: finding for finding in logged(caplog)}
    assert isinstance(findings["cut"], Interrupted)
    assert findings["cut"].duration == pytest.approx(recording.duration)


def same(one: Recording, other: Recording) -> bool:
    return all(
        np.array_equal(getattr(one, field), getattr(other, field))
        for field in ("time", "position", "goal_position", "torque_enabled")
    )


def test_messages_that_rosbag2_compressed_one_by_one_are_unpacked(tmp_path: Path) -> None:
    """As of `ros2 bag record --compression-mode message --compression-format zstd`; a repair unpacks, too."""
    bench(tmp_path, f"{BENCH}, vin: 12")
    plain_bag = write(tmp_path / "plain", foreign())
    packed = write(tmp_path / "packed", foreign(), zstandard.ZstdCompressor().compress)
    repair_bag(packed, tmp_path / "repaired")
    expected, *others = load_recordings([plain_bag, packed, tmp_path / "repaired"])
    assert len(expected) == 350
    assert [same(each, expected) for each in others] == [True, True]


def test_a_compressed_message_that_claims_to_be_huge_is_not_unpacked(tmp_path: Path) -> None:
    frame = zstandard.ZstdCompressor().compress(bytes(2**27))
    path = write(tmp_path / "bag", foreign()[:1], lambda data: frame)
    bench(tmp_path, f"{BENCH}, vin: 12")
    with refused(Malformed, path=str(path / "bag_0.mcap")) as caught:
        load_recordings([path])
    assert "too large" in caught.value.problem


def test_a_map_names_the_topic_of_goals_and_turns_the_joint(tmp_path: Path) -> None:
    write(tmp_path / "bag", foreign(command="/wishes"))
    bench(tmp_path, f"{BENCH}, vin: 12, joint: arm")
    with (tmp_path / "bench.yaml").open("a") as file:
        file.write("\nmap: {topics: {goal: /wishes}, joints: {joint: {name: arm, sign: -1, zero: 0.1}}}\n")
    (recording,) = load_recordings([tmp_path])
    index = np.arange(50, 400)
    assert np.allclose(recording.position, 0.1 - 0.3 * np.sin(0.02 * index))
    assert np.allclose(recording.goal_position, 0.1 - 0.31 * np.sin(0.02 * (index - index % 5)))


def test_a_map_in_degrees_holds_for_all_that_servos_report(tmp_path: Path) -> None:
    bag, path = plain(tmp_path)
    bench(tmp_path, f"{BENCH}, joint: elbow, vin: 15")
    with (tmp_path / "bench.yaml").open("a") as file:
        file.write("\nmap: {joints: {elbow: {sign: -1}}, unit: deg}\n")
    (recording,) = load_recordings([path])
    assert np.allclose(recording.position, -np.radians(bag.position[bag.enabled]))
    assert np.allclose(recording.goal_position, -np.radians(bag.goal[bag.enabled]))
    assert (recording.duty == -0.25).all()
    assert (recording.temperature == 31.0).all()
