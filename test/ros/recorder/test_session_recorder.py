# SPDX-License-Identifier: Apache-2.0
"""Recording against a servo node: bags enough to refit, resumed sessions, every way a run can fail."""

from __future__ import annotations

import math
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from bam_bench.msg import ServoCommands, ServoStates
from bam_bench.srv import SetGains
from rclpy.node import Node
from rosbags.highlevel import AnyReader

from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, UnknownName
from bam_core.recordings import load_recordings
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.gains_hold import HOLD_TIME
from bam_ros.driver.hardware_errors import describe_hardware_errors
from bam_ros.driver.servo_bus import Gains, ServoIdentity
from bam_ros.recorder import RecordingStopped
from bam_ros.recorder.errors import DriverSilent
from bam_ros.recorder.session_recorder import Progress, SessionRecorder, SessionReport
from bam_ros.recorder.waits import Waits
from bam_ros.text.driver_notices import GainsAnswer
from bam_ros.text.recorder_notices import BagSetAside, RunRecorded, RunRepeated, RunsKept, RunSpoiled
from bam_ros.text.spoiled_runs import GainsChanged, Stall
from test.ros.recorder_bench import HURRY, Bench, Operator, directories, running, short, short_session
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros


@pytest.fixture
def bench(ros_domain: int) -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


def record(
    bench: Bench,
    output: Path,
    operator: Operator | None = None,
    *,
    waits: Waits = HURRY,
    **changes: object,
) -> SessionReport:
    recorder = SessionRecorder(bench.node, driver="driver", waits=waits)
    return recorder.record(short_session(**changes), output, operator or Operator())


def test_a_session_becomes_bags_that_can_be_refitted(bench: Bench, tmp_path: Path) -> None:
    operator = Operator()
    report = record(bench, tmp_path, operator)

    names = ["m0.50_l0.100_kp8_sin_sin", "m0.50_l0.100_kp8_lift_and_drop"]
    assert [bag.name for bag in report.bags] == names
    assert (report.recorded, report.resumed, report.dropped) == (2, 0, 0)
    assert operator.loads == [PendulumBench(mass=0.5, length=0.1)]
    assert min(run.states for run in operator.of(RunRecorded)) > 20
    assert bench.bus.gains["joint"] == Gains(kp=8.0, ki=0.0, kd=0.0)
    recordings = {recording.name: recording for recording in load_recordings([tmp_path])}
    assert sorted(recordings) == sorted(names)
    for recording in recordings.values():
        assert (recording.servo, recording.kp, recording.supply_voltage) == ("mx106", 8.0, 15.0)
        assert recording.bench == PendulumBench(mass=0.5, length=0.1)
        assert 0.0 <= recording.time[0] < 0.1
        assert 0.2 < recording.time[-1] < 0.5  # 0.4 s, at the end of which the machine may pause
    drop = recordings[names[1]]
    assert drop.torque_enabled[0]
    assert not drop.torque_enabled[-1]


def test_a_bag_opens_with_any_reader_of_rosbag2(bench: Bench, tmp_path: Path) -> None:
    report = record(bench, tmp_path, scripts=("sin_sin",))
    with AnyReader([report.bags[0]]) as reader:
        topics = {connection.topic: connection.msgcount for connection in reader.connections}
        runs = [
            reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages() if c.topic == "/bench_run"
        ]
    assert set(topics) == {"/bench_run", "/servo_states", "/joint_states", "/servo_commands", "/diagnostics"}
    assert topics["/servo_states"] > 20  # 0.4 s at 100 per second, and the way there
    assert abs(topics["/joint_states"] - topics["/servo_states"]) <= 2
    assert topics["/servo_commands"] == topics["/servo_states"]
    assert len(runs) == 1
    assert (runs[0].session, runs[0].operator_note, runs[0].firmware) == (
        "short",
        "of a test",
        "mx-protocol1",
    )


def test_a_bag_that_is_played_serves_reliable_subscribers_as_the_driver_does(
    bench: Bench, tmp_path: Path
) -> None:
    report = record(bench, tmp_path, scripts=("sin_sin",))
    information = yaml.safe_load((report.bags[0] / "metadata.yaml").read_text())
    topics = information["rosbag2_bagfile_information"]["topics_with_message_count"]
    offered = {
        each["topic_metadata"]["name"]: each["topic_metadata"]["offered_qos_profiles"] for each in topics
    }
    for topic in ("/servo_states", "/joint_states"):
        assert [profile["reliability"] for profile in offered[topic]] == ["reliable"]


def test_torque_goes_on_where_the_arm_is_and_off_at_rest(bench: Bench, tmp_path: Path) -> None:
    bench.bus.position[0] = 0.5
    record(bench, tmp_path, scripts=("sin_sin",))
    held = [goal.position[0] for goal in bench.bus.goals if goal.torque_enable[0]]
    assert held[0] == pytest.approx(0.5, abs=0.05)
    assert abs(held[-1]) < 0.01
    assert not bench.bus.torque[0]


def test_complete_runs_are_kept_and_the_others_recorded(bench: Bench, tmp_path: Path) -> None:
    first = record(bench, tmp_path, scripts=("sin_sin",))
    stamp = (first.bags[0] / "metadata.yaml").stat().st_mtime_ns
    operator = Operator()
    second = record(bench, tmp_path, operator)
    assert (second.recorded, second.resumed) == (1, 1)
    assert (first.bags[0] / "metadata.yaml").stat().st_mtime_ns == stamp
    assert operator.of(RunsKept) == [RunsKept(output=tmp_path, complete=1, runs=2)]
    third = record(bench, tmp_path, Operator())
    assert (third.recorded, third.resumed) == (0, 2)


def test_a_stopped_run_is_readable_kept_and_recorded_again(bench: Bench, tmp_path: Path) -> None:
    scripts = (short("sin_sin", 2.0), short("lift_and_drop"))
    session = replace(short_session(), scripts=scripts)
    exchanges: list[int] = []  # so far, whenever the script was seen to run

    def enough(progress: Progress) -> bool:
        if running(progress):
            exchanges.append(len(bench.bus.goals))
        return bool(exchanges) and exchanges[-1] - exchanges[0] > 30

    recorder = SessionRecorder(bench.node, driver="driver", waits=HURRY)
    with pytest.raises(RecordingStopped):
        recorder.record(session, tmp_path, Operator(enough))
    wait_for(lambda: not bench.bus.torque[0], what="torque off")
    name = "m0.50_l0.100_kp8_sin_sin"
    assert directories(tmp_path) == [name]
    assert not (tmp_path / name / "metadata.yaml").exists()
    partial = load_recordings([tmp_path / name])[0]
    assert len(partial) > 20

    operator = Operator()
    assert recorder.record(session, tmp_path, operator).recorded == 2
    assert f"{name}.interrupted-1" in directories(tmp_path)
    (repeated,) = operator.of(RunRepeated)
    assert (repeated.run, repeated.bag.kind) == (name, "interrupted")
    assert repeated.bag.duration == pytest.approx(partial.time[-1], abs=0.1)
    assert operator.of(BagSetAside) == [BagSetAside(run=name, aside=f"{name}.interrupted-1")]
    assert load_recordings([tmp_path / f"{name}.interrupted-1"])[0].sha256 == partial.sha256


def test_bags_of_another_session_are_never_touched(bench: Bench, tmp_path: Path) -> None:
    report = record(bench, tmp_path, scripts=("sin_sin",))
    before = [bag.stat().st_mtime_ns for bag in report.bags]
    with pytest.raises(Conflict, match="supply_voltage 15, not 12"):
        record(bench, tmp_path, supply_voltage=12.0)
    assert [bag.stat().st_mtime_ns for bag in report.bags] == before


def test_every_load_is_asked_for_once_and_in_order(bench: Bench, tmp_path: Path) -> None:
    loads = tuple(PendulumBench(mass=mass, length=0.1) for mass in (0.5, 1.0))
    operator = Operator()
    record(bench, tmp_path, operator, loads=loads, scripts=("sin_sin",))
    assert tuple(operator.loads) == loads
    assert [progress.run.index for progress in operator.shown] == sorted(p.run.index for p in operator.shown)


def fail_when_running(bench: Bench, tmp_path: Path, failure: object, waits: Waits = HURRY) -> BamError:
    """Record while something fails in mid-script; return why the recorder ends."""

    def strike(progress: object) -> bool:
        if running(progress):
            failure()
        return False

    with pytest.raises(BamError) as caught:
        record(bench, tmp_path, Operator(strike), waits=waits)
    assert directories(tmp_path) == ["m0.50_l0.100_kp8_sin_sin"]
    assert not list(tmp_path.glob("*/metadata.yaml"))
    wait_for(lambda: not bench.bus.torque[0], what="torque off")
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_hardware_error_ends_the_run_by_name(bench: Bench, tmp_path: Path) -> None:
    def overload() -> None:
        bench.bus.errors[0] = ServoStates.ERROR_OVERLOAD

    (line,) = describe_hardware_errors("joint", ServoStates.ERROR_OVERLOAD)
    assert str(fail_when_running(bench, tmp_path, overload)) == line


def test_a_silent_driver_ends_the_run(bench: Bench, tmp_path: Path) -> None:
    def silence() -> None:
        bench.bus.failure = Unavailable("port", "gone", advice="plug it in")

    silent = fail_when_running(bench, tmp_path, silence, replace(HURRY, silence=1.0))
    assert isinstance(silent, DriverSilent)
    assert silent.duration == 1.0


def test_an_arm_out_of_bounds_ends_the_run(bench: Bench, tmp_path: Path) -> None:
    def fly() -> None:
        bench.bus.exchange = throw  # type: ignore[method-assign]

    good = bench.bus.exchange

    def throw(goal: object) -> object:
        sample = good(goal)
        object.__setattr__(sample, "position", (3.0,))
        return sample

    beyond = fail_when_running(bench, tmp_path, fly)
    assert isinstance(beyond, OutOfRange)
    assert "position_limit 2.6" in beyond.expected


@pytest.mark.parametrize("count", [1, 7])
def test_a_run_that_lacks_states_is_recorded_again(bench: Bench, tmp_path: Path, count: int) -> None:
    counter = bench.driver._publish
    lost = iter([True] * count)

    def lossy(sample: object, sequence: int) -> None:
        if bench.bus.goals[-1].position[0] > 0.1 and next(lost, False):
            return
        counter(sample, sequence)

    bench.driver._loop._on_sample = lossy
    operator = Operator()
    report = record(bench, tmp_path, operator, scripts=("sin_sin",))
    if count == 1:
        assert report.dropped == 1
        assert [run.lost for run in operator.of(RunRecorded)] == [1]
        assert directories(tmp_path) == ["m0.50_l0.100_kp8_sin_sin"]
    else:
        assert (report.recorded, report.dropped) == (1, 0)
        (spoiled,) = operator.of(RunSpoiled)
        assert spoiled.problem == Stall(kind="lost_states", amount=7, limit=1)
        assert "m0.50_l0.100_kp8_sin_sin.stalled-1" in directories(tmp_path)


def test_another_commander_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.node.create_publisher(ServoCommands, "servo_commands", 1)
    with pytest.raises(Conflict, match=r"2 nodes publish it: .*/test_recorder"):
        record(bench, tmp_path, waits=replace(HURRY, stale=1.0))


def test_an_unknown_joint_is_told_with_those_there_are(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(UnknownName) as caught:
        record(bench, tmp_path, joint="elbow")
    assert (caught.value.name, caught.value.valid) == ("elbow", ("joint",))


def test_a_missing_driver_is_told_with_how_to_start_one(bench: Bench, tmp_path: Path) -> None:
    waits = replace(HURRY, discovery=0.5)
    bench.driver.trigger_deactivate()
    with pytest.raises(Unavailable, match="inactive"):
        record(bench, tmp_path, waits=waits)
    recorder = SessionRecorder(bench.node, driver="nobody", waits=waits)
    start = re.escape(f"{sys.executable} -m bam_ros.dynamixel.node --ros-args -p port:=")
    running = f"those that run: .*{bench.driver.get_name()}"
    with pytest.raises(Unavailable, match=f"'nobody': .*{running}.* {start}"):
        recorder.record(short_session(), tmp_path, Operator())
    assert not directories(tmp_path)


def test_a_driver_that_starts_together_with_the_recorder_is_waited_for(bench: Bench, tmp_path: Path) -> None:
    bench.driver.trigger_deactivate()
    began = time.monotonic()

    def start_late(progress: Progress) -> bool:
        if not bench.driver._loop and time.monotonic() - began > 1.0:
            bench.driver.trigger_activate()
        return False

    waits = replace(HURRY, discovery=0.3, startup=PATIENCE)
    recorder = SessionRecorder(bench.node, driver="driver", starts_with_driver=True, waits=waits)
    report = recorder.record(short_session(scripts=("sin_sin",)), tmp_path, Operator(start_late))
    assert report.recorded == 1


def test_a_driver_that_waits_for_its_device_is_waited_for_beyond_its_time_to_start(
    bench: Bench, tmp_path: Path
) -> None:
    bench.driver.trigger_deactivate()
    bench.driver.trigger_cleanup()
    began = time.monotonic()

    def find_device(progress: Progress) -> bool:
        if not bench.driver._loop and time.monotonic() - began > 1.0:
            bench.driver.trigger_configure()
            bench.driver.trigger_activate()
        return False

    waits = replace(HURRY, discovery=0.1, startup=0.3)
    recorder = SessionRecorder(bench.node, driver="driver", starts_with_driver=True, waits=waits)
    report = recorder.record(short_session(scripts=("sin_sin",)), tmp_path, Operator(find_device))
    assert report.recorded == 1


def test_another_servo_than_the_sessions_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.bus.servos = [ServoIdentity(servo="xl330", id=1)]
    bench.driver._publish_configuration(bench.bus)
    with pytest.raises(Conflict, match=r"mx106, .* xl330"):
        record(bench, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert not any(any(goal.torque_enable) for goal in bench.bus.goals)


def test_a_gain_that_no_run_could_have_is_refused_before_the_first_one(bench: Bench, tmp_path: Path) -> None:
    bench.bus.servos = [ServoIdentity(servo="mx106", id=1)]
    bench.driver._publish_configuration(bench.bus)
    with pytest.raises(OutOfRange) as caught:
        record(bench, tmp_path, gains=(8.0, 300.0))
    assert caught.value.value == [300.0]
    assert list(tmp_path.iterdir()) == []
    assert not any(any(goal.torque_enable) for goal in bench.bus.goals)


def test_the_load_is_hung_with_torque_off(bench: Bench, tmp_path: Path) -> None:
    commands = bench.node.create_publisher(ServoCommands, "servo_commands", 1)
    wait_for(lambda: commands.get_subscription_count() == 1, what="the driver")

    def hold() -> bool:
        commands.publish(ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[0.0]))
        return bench.bus.torque[0]

    wait_for(hold, what="torque on")
    bench.node.destroy_publisher(commands)

    class Careful(Operator):
        def mount_load(self, progress: Progress) -> None:
            assert not bench.bus.torque[0]
            super().mount_load(progress)

    operator = Careful()
    record(bench, tmp_path, operator, scripts=("sin_sin",))
    assert operator.loads


def test_gains_that_the_servo_does_not_take_are_refused(bench: Bench, tmp_path: Path) -> None:
    bench.bus.set_gains = lambda name, gains: Gains(kp=254.0, ki=0.0, kd=0.0)  # type: ignore[method-assign]
    with pytest.raises(BamError, match="kp 8: joint: kp 254"):
        record(bench, tmp_path)


def test_a_client_that_sets_gains_during_a_run_is_refused(bench: Bench, tmp_path: Path) -> None:
    foreign = bench.node.create_client(SetGains, "driver/set_gains")
    answers: list[SetGains.Response] = []
    holders: list[str] = []
    wait_for(foreign.service_is_ready, what="the driver")

    def meddle(progress: Progress) -> bool:
        if running(progress):
            holders.append(bench.driver._servo_services.gains_hold.holder)
            future = foreign.call_async(SetGains.Request(name="joint", kp=32.0))
            wait_for(future.done, what="answer")
            answers.append(future.result())
        return False

    report = record(bench, tmp_path, Operator(meddle), scripts=("sin_sin",))
    assert answers
    assert not any(answer.success for answer in answers)
    held, wanted = (8.0, 0.0, 0.0), (32.0, 0.0, 0.0)
    refused = GainsAnswer(joint="joint", held=held, wanted=wanted, holder=holders[0], hold_time=HOLD_TIME)
    assert answers[0].message == str(refused)
    assert bench.bus.gains["joint"] == Gains(kp=8.0, ki=0.0, kd=0.0)
    assert (report.recorded, load_recordings(report.bags)[0].kp) == (1, 8.0)

    def is_free() -> bool:
        future = foreign.call_async(SetGains.Request(name="joint", kp=32.0))
        wait_for(future.done, what="answer")
        return bool(future.result().success)

    wait_for(is_free, what="gains that may be set after the recording")


def test_a_run_whose_gains_changed_all_the_same_is_recorded_again(bench: Bench, tmp_path: Path) -> None:
    changes = iter([Gains(kp=32.0, ki=0.0, kd=0.0)])

    def dip(progress: Progress) -> bool:
        if running(progress):
            bench.bus.gains["joint"] = next(changes, bench.bus.gains["joint"])
        return False

    operator = Operator(dip)
    report = record(bench, tmp_path, operator, scripts=("sin_sin",))
    assert report.recorded == 1
    name = "m0.50_l0.100_kp8_sin_sin"
    assert {name, f"{name}.changed-1"} <= set(directories(tmp_path))
    assert not (tmp_path / f"{name}.changed-1" / "metadata.yaml").exists()
    (changed,) = (run.problem for run in operator.of(RunSpoiled))
    assert isinstance(changed, GainsChanged)
    assert "joint: kp 32" in changed.answer
    assert [recording.name for recording in load_recordings([tmp_path])] == [name]


def test_gains_that_somebody_sets_before_every_run_end_the_session(bench: Bench, tmp_path: Path) -> None:
    bench.bus.read_gains = lambda name: Gains(kp=32.0, ki=0.0, kd=0.0)  # type: ignore[method-assign]
    with pytest.raises(Conflict, match="joint: kp 32"):
        record(bench, tmp_path)
    assert not any(any(goal.torque_enable) for goal in bench.bus.goals)


def test_two_servos_share_a_bus(ros_domain: int, tmp_path: Path) -> None:
    bench = Bench(names=("other", "joint"), period=4e-3)
    try:
        report = record(bench, tmp_path, scripts=("sin_sin",))
        assert len(load_recordings(report.bags)[0]) > 20
        assert not any(goal.torque_enable[0] for goal in bench.bus.goals)
        assert all(math.isnan(goal.position[0]) for goal in bench.bus.goals)
    finally:
        bench.close()


def test_nothing_is_left_running(bench: Bench, tmp_path: Path) -> None:
    record(bench, tmp_path, scripts=("sin_sin",))
    assert not {"bench link", "bag writer"} & {thread.name for thread in threading.enumerate()}


def test_a_driver_in_a_namespace_is_recorded_from_its_topics_there(ros_domain: int, tmp_path: Path) -> None:
    bench = Bench(namespace="left")
    try:
        recorder = SessionRecorder(bench.node, driver="left/driver", waits=HURRY)
        report = recorder.record(short_session(scripts=("sin_sin",)), tmp_path, Operator())
        assert (report.recorded, report.dropped) == (1, 0)
        with AnyReader([report.bags[0]]) as reader:
            topics = {connection.topic for connection in reader.connections if connection.msgcount}
        assert {"/left/bench_run", "/left/servo_states", "/left/servo_commands"} <= topics
        assert load_recordings(report.bags)[0].kp == 8.0
        again = SessionRecorder(bench.node, driver="/left/driver", waits=HURRY)
        report = again.record(short_session(scripts=("sin_sin",)), tmp_path, Operator())
        assert (report.recorded, report.resumed) == (0, 1)
    finally:
        bench.close()


def test_another_recorder_of_the_same_name_is_named(bench: Bench, tmp_path: Path) -> None:
    other = Node("test_recorder_link", context=bench.context)
    try:
        other.create_publisher(ServoCommands, "servo_commands", 1)
        with pytest.raises(Conflict) as caught:
            record(bench, tmp_path, waits=replace(HURRY, stale=1.0))
    finally:
        other.destroy_node()
    assert caught.value.thing == "/servo_commands"
    assert caught.value.problem.count("/test_recorder_link") == 2
