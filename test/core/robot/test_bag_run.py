# SPDX-License-Identifier: Apache-2.0
"""Runs of robots in bags, of our nodes and of others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from rosbags.typesys import Stores, get_typestore

from bam_core.errors import BadData, Malformed
from bam_core.recordings.bag_writer import BagWriter
from bam_core.robot.bag_run import read_bag_run
from bam_core.robot.load import RunSettings, load_runs
from test.core.finding_cases import logged
from test.core.refusals import refused
from test.run_bag import PERIOD, START, RunBag

STORE = get_typestore(Stores.ROS2_JAZZY)
JOINT_STATE, TRAJECTORY = "sensor_msgs/msg/JointState", "trajectory_msgs/msg/JointTrajectory"


def header(nanoseconds: int) -> object:
    stamp = STORE.types["builtin_interfaces/msg/Time"](sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
    return STORE.types["std_msgs/msg/Header"](stamp=stamp, frame_id="")


def joint_state(moment: int, names: list[str], position: list[float]) -> object:
    empty = np.zeros(0)
    return STORE.types[JOINT_STATE](
        header=header(moment),
        name=names,
        position=np.array(position, dtype=np.float64),
        velocity=empty,
        effort=empty,
    )


def trajectory(moment: int, names: list[str], position: list[float]) -> object:
    empty = np.zeros(0)
    point = STORE.types["trajectory_msgs/msg/JointTrajectoryPoint"](
        positions=np.array(position, dtype=np.float64),
        velocities=empty,
        accelerations=empty,
        effort=empty,
        time_from_start=STORE.types["builtin_interfaces/msg/Duration"](sec=0, nanosec=0),
    )
    return STORE.types[TRAJECTORY](header=header(moment), joint_names=names, points=[point])


def write(
    path: Path, messages: list[tuple[str, str, int, object]], gains: Mapping[str, str] = MappingProxyType({})
) -> Path:
    """Write (topic, type, time in ns, message)."""
    topics = {topic: (kind, STORE.generate_msgdef(kind, ros_version=2)[0]) for topic, kind, _, _ in messages}
    with BagWriter(path, {topic: (*each, "") for topic, each in topics.items()}, gains=gains) as writer:
        for topic, kind, moment, message in messages:
            writer.write(topic, moment, bytes(STORE.serialize_cdr(message, kind)))
    return path


def foreign(path: Path, *, command: str = "/arm/commands", twice: bool = False) -> Path:
    """A bag of a robot with other nodes: states at 100 Hz, goals at 20 Hz and half a period later."""
    messages = []
    for k in range(100):
        moment = START + k * 10**7
        messages.append(
            ("/arm/joint_states", JOINT_STATE, moment, joint_state(moment, ["a", "b"], [k, 2 * k]))
        )
        if twice:
            messages.append(("/other/joint_states", JOINT_STATE, moment, joint_state(moment, ["a"], [0.0])))
        if k % 5 == 0:
            moment += 5 * 10**6
            kind, make = (JOINT_STATE, joint_state) if "command" in command else (TRAJECTORY, trajectory)
            messages.append((command, kind, moment, make(moment, ["b", "a"], [10.0 * k, 5.0 * k])))
    return write(path, messages)


def test_goals_and_positions_of_servo_states_are_read(tmp_path: Path) -> None:
    bag = RunBag(samples=500).write(tmp_path / "squat_kp32")
    run = read_bag_run(bag)
    assert run.joints == ("shoulder", "elbow")
    assert run.goal_position.shape == run.position.shape == (len(run.time), 2)
    assert np.diff(run.time) == pytest.approx(1e-9 * PERIOD, abs=1e-6)
    assert run.supply_voltage is not None
    assert load_runs([tmp_path])[0].kp == 32.0


def test_goals_between_two_states_have_their_own_times(tmp_path: Path) -> None:
    run = read_bag_run(foreign(tmp_path / "bag"))
    time, goals = run.goals_of("a")
    assert time[0] == 0.0
    assert goals[0] == 0.0  # the one that was given half a period before the first sample
    assert np.diff(time[1:]) == pytest.approx(0.05)
    assert time[1] == pytest.approx(0.045)  # between samples 4 and 5
    assert goals[1:4].tolist() == [25.0, 50.0, 75.0]
    assert run.goal_position[4:6, 0].tolist() == [0.0, 25.0]


@pytest.mark.parametrize("command", ["/arm/commands", "/arm/joint_trajectory"])
def test_joint_states_and_the_goals_that_were_sent_are_read(command: str, tmp_path: Path) -> None:
    run = read_bag_run(foreign(tmp_path / "bag", command=command))
    assert run.joints == ("a", "b")
    assert run.time[0] == 0.0
    first = round(run.position[0, 0])  # the first sample after the first goal
    assert first == 1
    assert np.array_equal(run.position[:, 1], 2.0 * run.position[:, 0])
    sample = 30
    newest = 5 * ((first + sample - 1) // 5)  # a goal is in force half a period after its state
    assert run.goal_position[sample] == pytest.approx([5.0 * newest, 10.0 * newest])


def contract(path: Path, rule: str = "", gains: Mapping[str, str] = MappingProxyType({})) -> Path:
    """A bag whose goals are on a topic of its own, with a bench.yaml in it."""
    angles = 0.4 * np.sin(0.03 * np.arange(300))
    messages = []
    for k, angle in enumerate(angles):
        moment = START + k * 10**7
        lag = angles[max(k - 5, 0)]
        names = ["shoulder_pan", "elbow"]
        messages.append(("/js", JOINT_STATE, moment, joint_state(moment, names, [lag, 0.5 * lag])))
        messages.append(
            ("/my/commands", JOINT_STATE, moment, joint_state(moment, names, [angle, 0.5 * angle]))
        )
    write(path, messages, gains)
    (path / "bench.yaml").write_text(rule or "{}")
    return path


def test_a_map_and_gains_of_bench_yaml_hold_for_a_bag(tmp_path: Path) -> None:
    rule = (
        "map: {topics: {goal: /my/commands}, unit: rad, time_unit: us,"
        " joints: {shoulder_pan: {name: Rotation, sign: -1, zero: 0.1}}}\n"
        "kp: {elbow: 32, Rotation: 16}\nkd: {elbow: 8}\n"
    )
    (run,) = load_runs([contract(tmp_path / "bag", rule)])
    assert run.joints == ("Rotation", "elbow")
    assert (run.kp, run.kd) == (
        {"Rotation": 16.0, "elbow": 32.0},
        {"Rotation": 0.0, "elbow": 8.0},
    )
    assert run.position[:, 0] == pytest.approx(-(2.0 * run.position[:, 1] - 0.1))
    assert run.goal_position[:, 0] == pytest.approx(-(2.0 * run.goal_position[:, 1] - 0.1))
    assert run.time[-1] == pytest.approx(2.99)


def test_gains_that_a_bag_carries_hold_for_the_joints_of_the_map(tmp_path: Path) -> None:
    rule = "map: {topics: {goal: /my/commands}, joints: {shoulder_pan: Rotation}}\nkp: {elbow: 24}\n"
    gains = {"kp": "shoulder_pan=16,elbow=32", "kd": "shoulder_pan=0.25,elbow=8", "ki": "0"}
    (run,) = load_runs([contract(tmp_path / "bag", rule, gains)])
    assert run.kp == {"Rotation": 16.0, "elbow": 24.0}  # a bench.yaml corrects the bag
    assert (run.kd, run.ki) == ({"Rotation": 0.25, "elbow": 8.0}, 0.0)


def test_two_robots_in_one_bag_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="/arm/joint_states, /other/joint_states"):
        read_bag_run(foreign(tmp_path / "bag", twice=True))


def test_a_bag_without_goals_is_refused(tmp_path: Path) -> None:
    moments = [START + k * 10**7 for k in range(5)]
    messages = [("/joint_states", JOINT_STATE, each, joint_state(each, ["a"], [0.0])) for each in moments]
    with refused(Malformed, path=str(tmp_path / "bag")):
        load_runs([write(tmp_path / "bag", messages)], RunSettings(kp=1.0))


def test_a_map_names_topics_joints_signs_and_the_unit_but_no_clock(tmp_path: Path) -> None:
    foreign(tmp_path / "bag", command="/my/wishes_command_stream")
    with refused(BadData):
        load_runs([tmp_path / "bag"], RunSettings(kp=16.0))
    (tmp_path / "bench.yaml").write_text(
        "map: {topics: {goal: /my/wishes_command_stream}, joints: {b: {name: lift, sign: -1, zero: 1.0}},"
        " unit: deg, time_unit: ms}\n"
    )
    (run,) = load_runs([tmp_path / "bag"], RunSettings(kp=16.0))
    plain = read_bag_run(foreign(tmp_path / "plain"))
    assert run.joints == ("a", "lift")
    assert run.time == pytest.approx(plain.time)
    assert run.goal_position[:, 1] == pytest.approx(1.0 - np.radians(plain.goal_position[:, 1]))
    assert run.position[:, 0] == pytest.approx(np.radians(plain.position[:, 0]))


def test_a_bag_that_is_cut_short_is_read_as_far_as_it_goes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = foreign(tmp_path / "bag")
    whole = read_bag_run(path)
    assert not logged(caplog)
    (file,) = path.glob("*.mcap")
    file.write_bytes(file.read_bytes()[:-300])  # its index and what follows
    assert len(read_bag_run(path).time) == len(whole.time)
    assert [finding.kind for finding in logged(caplog)] == ["cut"]
    file.write_bytes(file.read_bytes()[:200])
    cut = "is cut short, without positions and goals of one joint in what is left"
    with refused(Malformed, path=str(path), problem=cut):
        read_bag_run(path)


def test_goals_by_another_clock_than_positions_are_refused(tmp_path: Path) -> None:
    messages = []
    for number in range(200):
        moment = START + number * PERIOD
        messages.append(
            ("/joint_states", JOINT_STATE, moment, joint_state(number * PERIOD + 1, ["a"], [0.0]))
        )
        messages.append(("/arm/commands", JOINT_STATE, moment, joint_state(moment, ["a"], [0.1])))
    path = write(tmp_path / "bag", messages)
    with refused(BadData, thing=f"{path}, stamps"):
        read_bag_run(path)
