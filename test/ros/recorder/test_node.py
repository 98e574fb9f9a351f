# SPDX-License-Identifier: Apache-2.0
"""The action `record` and the service `~/load_mounted` as a client of the recorder sees them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from bam_bench.action import Record
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from bam_core.errors import OutOfRange, Unreadable
from bam_core.recordings.run_end import seconds_of
from bam_core.recordings.trajectories import SCRIPTS
from bam_ros.node.data_directory import confined
from bam_ros.recorder import node
from bam_ros.recorder.node import RecorderNode
from bam_ros.recorder.session_file import load_session
from bam_ros.text.recorder_notices import LoadWanted, RecorderBusy, SessionRecorded
from test.ros.recorder_bench import HURRY, Bench, directories, short
from test.ros.ros_client import ThreadedActionClient
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros

SESSION = """\
servo: mx106
supply_voltage: 15.0
loads: [{mass: 0.5, length: 0.1}]
gains: [8]
scripts: [sin_sin]
approach_speed: 3.0
pause_limit: 10.0
"""


class Client:
    """A recorder node on a bench, and a client of its action."""

    def __init__(self, bench: Bench, directory: Path, **parameters: Any) -> None:
        self.bench = bench
        self.session = directory / "session.yaml"
        self.session.write_text(SESSION)
        self.output = directory / "bags"
        self.directory = directory
        parameters = {"data_directory": str(directory), **parameters}
        self.recorder = RecorderNode(waits=HURRY, **bench.parameters(driver="driver", **parameters))
        bench.spin(self.recorder)
        self.action = ThreadedActionClient(bench.node, Record, "record")
        self.mounted = bench.node.create_client(Trigger, "recorder/load_mounted")
        self.feedback: list[Record.Feedback] = []

    def wait(self, future: Any, timeout: float = PATIENCE) -> Any:
        wait_for(future.done, timeout, "answer")
        return future.result()

    def send(self, **changes: str) -> Any:
        assert self.action.wait_for_server(PATIENCE)
        goal = Record.Goal(**{"session_file": str(self.session), "output": str(self.output), **changes})
        return self.wait(self.action.send_goal_async(goal, self._on_feedback))

    def load_mounted(self) -> Trigger.Response:
        assert self.mounted.wait_for_service(PATIENCE)
        return self.wait(self.mounted.call_async(Trigger.Request()))

    def wait_for_state(self, state: int) -> Record.Feedback:
        wait_for(lambda: self.feedback and self.feedback[-1].state == state, what=f"state {state}")
        return self.feedback[-1]

    def _on_feedback(self, message: Any) -> None:
        self.feedback.append(message.feedback)


@pytest.fixture
def client(ros_domain: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr("bam_ros.recorder.session_file.script", lambda name: short(name, 0.8))
    bench = Bench()
    client = Client(bench, tmp_path)
    yield client
    bench.close()


def test_a_goal_asks_for_the_load_then_records(client: Client) -> None:
    handle = client.send()
    asked = client.wait_for_state(Record.Feedback.STATE_WAITING_FOR_LOAD)
    assert (asked.mass, asked.arm_mass, asked.length) == (0.5, 0.0, 0.1)
    assert client.load_mounted().success
    answer = client.wait(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.error_code == Record.Result.SUCCESSFUL
    assert (answer.result.recorded, answer.result.resumed, answer.result.dropped) == (1, 0, 0)
    assert answer.result.bags == [str(client.output / "m0.50_l0.100_kp8_sin_sin")]
    assert answer.result.message == str(SessionRecorded(output=client.output, recorded=1))
    ran = [feedback for feedback in client.feedback if feedback.state == Record.Feedback.STATE_RUNNING]
    assert (ran[-1].run, ran[-1].runs, seconds_of(ran[-1].duration)) == (1, 1, 0.8)
    assert max(seconds_of(feedback.elapsed) for feedback in ran) > 0.3
    assert not client.load_mounted().success


def test_the_log_names_the_call_that_says_that_the_load_hangs(
    client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    handle = client.send()
    client.wait_for_state(Record.Feedback.STATE_WAITING_FOR_LOAD)
    wanted = LoadWanted(mass=0.5, arm_mass=0.0, length=0.1, service="/recorder/load_mounted")
    assert str(wanted) in capfd.readouterr().err
    client.wait(handle.cancel_goal_async())
    client.wait(handle.get_result_async())


def test_feedback_comes_at_ten_hertz_at_most(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    period, readings = 0.03, itertools.count()  # s from one reading of the clock to the next
    monkeypatch.setattr(node, "time", SimpleNamespace(monotonic=lambda: period * next(readings)))
    handle = client.send()
    client.wait_for_state(Record.Feedback.STATE_WAITING_FOR_LOAD)
    client.load_mounted()
    client.wait(handle.get_result_async())
    assert 1 < len(client.feedback) <= 1 + 10.0 * period * next(readings)


def test_cancelling_releases_the_servo_and_marks_the_bag(client: Client) -> None:
    handle = client.send()
    client.wait_for_state(Record.Feedback.STATE_WAITING_FOR_LOAD)
    client.load_mounted()
    wait_for(lambda: seconds_of(client.feedback[-1].elapsed) > 0.0, what="the script")
    assert client.wait(handle.cancel_goal_async()).goals_canceling
    answer = client.wait(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_code == Record.Result.CANCELED
    assert "cancelled" in answer.result.message
    wait_for(lambda: not client.bench.bus.torque[0], what="torque off")
    assert directories(client.output) == ["m0.50_l0.100_kp8_sin_sin"]
    assert not list(client.output.glob("*/metadata.yaml"))


def test_cancelling_ends_waiting_for_a_load(client: Client) -> None:
    handle = client.send()
    client.wait_for_state(Record.Feedback.STATE_WAITING_FOR_LOAD)
    client.wait(handle.cancel_goal_async())
    assert client.wait(handle.get_result_async()).status == GoalStatus.STATUS_CANCELED
    assert not client.output.exists()


def test_a_second_goal_is_told_why_it_is_aborted(client: Client) -> None:
    first = client.send()
    client.wait_for_state(Record.Feedback.STATE_WAITING_FOR_LOAD)
    answer = client.wait(client.send().get_result_async())
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.message == str(RecorderBusy())
    assert answer.result.error_code == Record.Result.BUSY
    client.wait(first.cancel_goal_async())
    assert client.wait(first.get_result_async()).status == GoalStatus.STATUS_CANCELED
    answer = client.wait(client.send(session_file="none.yaml").get_result_async())
    with pytest.raises(Unreadable) as missing:
        load_session(client.directory / "none.yaml")
    assert answer.result.message == str(missing.value)


def test_of_two_goals_at_the_same_moment_one_is_recorded(client: Client) -> None:
    assert client.action.wait_for_server(PATIENCE)
    other = ThreadedActionClient(client.bench.node, Record, "record")
    assert other.wait_for_server(PATIENCE)
    goal = Record.Goal(session_file=str(client.session), output=str(client.output))
    for _ in range(5):
        sent = [each.send_goal_async(goal) for each in (client.action, other)]
        answers = [client.wait(future).get_result_async() for future in sent]
        wait_for(lambda ends=answers: any(end.done() for end in ends), what="the abort of one")
        (recorded,) = (
            client.wait(future) for future, answer in zip(sent, answers, strict=True) if not answer.done()
        )
        client.wait(recorded.cancel_goal_async())
        ends = {client.wait(answer).status for answer in answers}
        assert ends == {GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED}


def test_bad_goals_are_answered_in_one_line(client: Client) -> None:
    for changes, said in (
        ({"session_file": "none.yaml"}, "none.yaml: cannot be read"),
        ({"session_file": ""}, "session_file: is missing"),
        ({"session_file": "mx160"}, "did you mean 'mx106'?"),
        ({"session_file": "a" * 5000}, "session 'aaa"),
        ({"session_file": "/etc/passwd"}, "session_file: is '/etc/passwd' (expected a path below"),
        ({"session_file": "../session.yaml"}, "session_file: is '../session.yaml' (expected a path below"),
        ({"output": "/tmp/bags"}, "output: is '/tmp/bags' (expected a path below"),
        ({"output": "a" * 5000}, "(expected a path below"),
        ({"output": ""}, "output: is missing"),
    ):
        answer = client.wait(client.send(**changes).get_result_async())
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert said in answer.result.message
        assert "\n" not in answer.result.message


def test_parameters_changed_later_are_confined_as_goals_are(client: Client) -> None:
    client.recorder.set_parameters([Parameter("output", value="/tmp/bags")])
    answer = client.wait(client.send(output="").get_result_async())
    with pytest.raises(OutOfRange) as outside:
        confined(client.directory, "/tmp/bags", "output")
    assert answer.result.message == str(outside.value)


def test_a_goal_names_a_session_of_this_package_or_one_of_the_data_directory(client: Client) -> None:
    """Neither is refused for its place; the second has another servo than the bench."""
    for name, text in (("mx106", ""), ("mine", SESSION.replace("gains: [8]", "gains: [0.5, none]"))):
        if text:
            (client.directory / f"{name}.yaml").write_text(text)
        answer = client.wait(client.send(session_file=name, output="/tmp/bags").get_result_async())
        with pytest.raises(OutOfRange) as outside:
            confined(client.directory, "/tmp/bags", "output")
        expected = f"{client.directory / name}.yaml: gains" if text else str(outside.value)
        assert answer.result.message.startswith(expected)


def test_the_end_of_the_node_releases_the_servo(client: Client) -> None:
    client.send()
    client.wait_for_state(Record.Feedback.STATE_WAITING_FOR_LOAD)
    client.load_mounted()
    wait_for(lambda: seconds_of(client.feedback[-1].elapsed) > 0.0, what="the script")
    client.recorder.close()
    wait_for(lambda: not client.bench.bus.torque[0], what="torque off")
    assert not list(client.output.glob("*/metadata.yaml"))


def test_scripts_of_this_test_are_short() -> None:
    assert math.isinf(short("sin_sin").release_time)
    assert replace(SCRIPTS["sin_sin"], duration=0.4) == short("sin_sin")
