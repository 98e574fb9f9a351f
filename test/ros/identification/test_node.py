# SPDX-License-Identifier: Apache-2.0
"""The node `identification` as clients of its action and its service see it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from bam_bench.action import Identify
from bam_bench.srv import IdentifyModel
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from bam_core.errors import BamError, OutOfRange, Unreadable
from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.uncertainty.tolerances import Tolerances
from bam_core.recordings import load_recordings
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import synthesize
from bam_core.text.output_findings import Unfinished
from bam_ros.identification.node import IdentificationNode
from test.ros.ros_client import SpinningThread, ThreadedActionClient
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros

BRIEF = {
    "logs": ["logs"],
    "servo": "mx106",
    "models": ["m1", "m3"],
    "trials": 100,
    "seed": 3,
    "output": "out",
}
LONG = {**BRIEF, "models": ["m6"], "trials": 1_000_000}


def write_logs(directory: Path) -> None:
    """Write logs of a simulated MX-106 in the format of BAM's recorder."""
    directory.mkdir(parents=True)
    for script in SCRIPTS:
        run = synthesize(load_servo("mx106"), PendulumBench(mass=1.0, length=0.15), script, 8.0)
        entries = [
            {
                "timestamp": float(run.time[i]),
                "position": float(run.position[i]),
                "speed": 0.0,
                "load": 0.0,
                "input_volts": 15.0,
                "temp": 25.0,
                "goal_position": float(run.goal_position[i]),
                "torque_enable": bool(run.torque_enabled[i]),
            }
            for i in range(0, len(run), 3)
        ]
        header = {"mass": 1.0, "length": 0.15, "kp": 8.0, "vin": 15.0, "motor": "mx106", "trajectory": script}
        (directory / f"{script}.json").write_text(json.dumps({**header, "entries": entries}))


class Client:
    """The node on an executor of its own, and a client of its action and service."""

    def __init__(self, directory: Path, **parameters: str) -> None:
        self.directory = directory
        self.context = Context()
        self.context.init()
        values = {"data_directory": str(directory), **parameters}
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        self.server = IdentificationNode(context=self.context, parameter_overrides=overrides)
        self.server.start()
        self.node = Node("client", context=self.context)
        self.action = ThreadedActionClient(self.node, Identify, "identify")
        self.service = self.node.create_client(IdentifyModel, "identify_model")
        executor = MultiThreadedExecutor(num_threads=6, context=self.context)
        self.thread = SpinningThread(executor, self.node, self.server)
        self.feedback: list[tuple[float, Identify.Feedback]] = []

    def wait(self, future: Any, timeout: float = PATIENCE) -> Any:
        wait_for(future.done, timeout, "answer")
        return future.result()

    def send(self, **request: Any) -> Any:
        assert self.action.wait_for_server(PATIENCE)
        return self.wait(self.action.send_goal_async(Identify.Goal(**request), self._on_feedback))

    def call(self, **request: Any) -> IdentifyModel.Response:
        assert self.service.wait_for_service(PATIENCE)
        return self.wait(self.service.call_async(IdentifyModel.Request(**request)))

    def close(self) -> None:
        self.thread.close()
        self.context.try_shutdown()

    def _on_feedback(self, message: Any) -> None:
        self.feedback.append((time.monotonic(), message.feedback))


@pytest.fixture(autouse=True)
def no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Identify without diagnosis and intervals, which take longer than all the rest."""
    for step in ("diagnosed", "estimated"):
        monkeypatch.setattr(f"bam_core.identification.stages.{step}", lambda fits, *_: iter(fits.items()))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("recorded") / "logs"
    write_logs(directory)
    return directory


@pytest.fixture
def client(ros_domain: int, tmp_path: Path, logs: Path) -> Iterator[Client]:
    data = tmp_path / "data"
    (data / "logs").mkdir(parents=True)
    for log in logs.iterdir():
        (data / "logs" / log.name).write_bytes(log.read_bytes())
    client = Client(data)
    yield client
    client.close()


@pytest.mark.long
def test_action_service_and_core_give_the_same_numbers(client: Client) -> None:
    expected = identify(
        load_recordings([client.directory / "logs"]),
        load_servo("mx106"),
        IdentifySettings(models=["m1", "m3"], trials=100, seed=3),
    )
    answer = client.wait(client.send(**BRIEF).get_result_async())
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    response = client.call(**{**BRIEF, "output": "service"})
    for result in (answer.result, response):
        assert result.error_code == result.SUCCESSFUL
        assert result.chosen == expected.chosen
        assert list(result.models) == ["m1", "m3"]
        assert list(result.train_mae) == [fit.train_mae for fit in expected.fits.values()]
        fits = expected.fits.values()
        for name in ("selection_mae", "test_mae"):
            wanted = [math.nan if (error := getattr(fit, name)) is None else error for fit in fits]
            assert list(getattr(result, name)) == pytest.approx(wanted, rel=0, abs=0, nan_ok=True)
        written = Path(result.output)
        assert written.is_relative_to(client.directory)
        assert json.loads((written / "summary.json").read_text())["chosen"] == expected.chosen


@pytest.mark.long
@pytest.mark.parametrize(("search", "ran"), [("", "gauss-newton"), ("cma-es", "cma-es")])
def test_a_request_chooses_the_search_and_the_servo_file_names_it(
    search: str, ran: str, client: Client
) -> None:
    response = client.call(**{**BRIEF, "models": ["m1"], "search": search})
    assert response.error_code == response.SUCCESSFUL, response.message
    assert load_servo(Path(response.output) / "m1.yaml").provenance.method == ran


@pytest.mark.long
def test_effects_are_fitted_that_a_request_names_or_else_the_nodes_parameter(client: Client) -> None:
    def fitted(effects: list[str]) -> tuple[str, ...]:
        response = client.call(**{**BRIEF, "models": ["m1"], "effects": effects})
        assert response.error_code == response.SUCCESSFUL, response.message
        return load_servo(Path(response.output) / "m1.yaml").search.effects

    assert fitted([]) == load_servo("mx106").search.effects
    client.server.set_parameters([Parameter("effects", value=["zero_offset", "command_delay"])])
    assert fitted([]) == ("zero_offset", "command_delay")
    assert fitted(["winding_heating"]) == ("winding_heating",)
    assert fitted(["none"]) == ()


def test_feedback_names_model_evaluation_and_error_at_ten_hertz_at_most(client: Client) -> None:
    handle = client.send(**LONG)
    wait_for(lambda: len(client.feedback) >= 4, what="feedback")
    client.wait(handle.cancel_goal_async())
    client.wait(handle.get_result_async())
    first, last = client.feedback[0][0], client.feedback[-1][0]
    assert len(client.feedback) <= 2 + 10.0 * (last - first)
    counts = [feedback.evaluation for _, feedback in client.feedback]
    assert counts == sorted(counts)
    for _, feedback in client.feedback:
        assert (feedback.model, feedback.evaluations) == ("m6", 1_000_000)
        assert 0.0 < feedback.best_mae < 10.0


def test_cancelling_ends_it_and_leaves_no_file(client: Client, capfd: pytest.CaptureFixture[str]) -> None:
    handle = client.send(**LONG)
    wait_for(lambda: client.feedback, what="feedback")
    assert client.wait(handle.cancel_goal_async()).goals_canceling
    answer = client.wait(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_code == Identify.Result.CANCELED
    assert "cancelled" in answer.result.message
    assert answer.result.message in capfd.readouterr().err
    assert [path.name for path in client.directory.iterdir()] == ["logs"]


@pytest.mark.long
def test_cancelling_keeps_the_models_that_are_finished(client: Client) -> None:
    handle = client.send(**{**LONG, "models": ["all"], "trials": 5000})
    wait_for(lambda: any(each.model == "m2" for _, each in client.feedback), what="the second model")
    client.wait(handle.cancel_goal_async())
    answer = client.wait(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_code == Identify.Result.CANCELED
    output = Path(answer.result.output)
    summary = json.loads((output / "summary.json").read_text())
    assert summary["interrupted"] is True
    kept, left = list(summary["models"]), summary["not_done"]
    assert "m1" in kept
    assert "m6" in left
    assert list(answer.result.models) == kept
    assert list(answer.result.train_mae) == [each["train_mae"] for each in summary["models"].values()]
    assert answer.result.message == str(
        Unfinished(kind="cancelled", directory=output, models=tuple(kept), not_done=tuple(left))
    )


def test_one_identification_runs_at_a_time(client: Client) -> None:
    handle = client.send(**LONG)
    wait_for(lambda: client.feedback, what="feedback")
    aborted = client.wait(client.send(**BRIEF).get_result_async())
    assert aborted.status == GoalStatus.STATUS_ABORTED
    for refused in (aborted.result, client.call(**BRIEF)):
        assert refused.error_code == refused.BUSY
        assert "another one is running" in refused.message
    client.wait(handle.cancel_goal_async())
    client.wait(handle.get_result_async())
    assert client.call(**BRIEF).error_code == IdentifyModel.Response.SUCCESSFUL


def test_closing_the_node_ends_what_runs(client: Client) -> None:
    client.send(**LONG)
    wait_for(lambda: client.feedback, what="feedback")
    client.server.close()
    assert not client.server._busy.locked()
    assert [path.name for path in client.directory.iterdir()] == ["logs"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"logs": ["../elsewhere"]}, ["../elsewhere", "a path below"]),
        ({"logs": ["/etc"]}, ["/etc", "a path below"]),
        ({"logs": ["linked_directory"]}, ["linked_directory", "a path below"]),
        ({"logs": ["with_linked_file"]}, ["with_linked_file/log.json", "a path below"]),
        ({"output": "../out"}, ["../out", "a path below"]),
        ({"output": "/tmp/out"}, ["/tmp/out", "a path below"]),
        ({"output": "linked_directory/out"}, ["linked_directory/out", "a path below"]),
        ({"servo": "../servo.yaml"}, ["../servo.yaml", "a path below"]),
        ({"logs": ["nothing"]}, ["nothing", "does not exist"]),
        ({"servo": "mx107"}, ["mx107", "unknown", "mx106, mx106_2, mx106_current", "did you mean 'mx106'?"]),
        ({"servo": ""}, ["servo: is missing", "mx106, mx106_2, mx106_current"]),
        ({"search": "cmaes"}, ["search 'cmaes': unknown", "cma-es"]),
        ({"effects": ["backlash"]}, ["effect 'backlash': unknown", "arm_backlash"]),
        ({"models": ["m9"]}, ["m9", "m1, m2, m3, m4, m5, m6"]),
        ({"test": "kp=400"}, ["kp=400", "no log to test with"]),
        ({"test": "/etc/passwd"}, ["not a rule"]),
    ],
)
def test_a_request_that_cannot_be_met_is_answered_in_one_line(
    client: Client, changes: dict[str, Any], words: list[str]
) -> None:
    elsewhere = client.directory.parent / "elsewhere"
    write_logs(elsewhere)
    (client.directory / "linked_directory").symlink_to(elsewhere)
    (client.directory / "with_linked_file").mkdir()
    (client.directory / "with_linked_file" / "log.json").symlink_to(elsewhere / "sin_sin.json")
    before = sorted(client.directory.parent.rglob("*"))
    response = client.call(**{**BRIEF, **changes})
    assert response.error_code == response.FAILED
    assert "\n" not in response.message
    for word in words:
        assert word in response.message
    assert sorted(client.directory.parent.rglob("*")) == before


def test_a_data_directory_that_is_none_stops_the_start(ros_domain: int, tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        Client(tmp_path / "nowhere")
    assert caught.value.path == str(tmp_path / "nowhere")


def test_an_unknown_effect_stops_the_start(ros_domain: int, tmp_path: Path) -> None:
    with pytest.raises(BamError, match="effect 'backlash': unknown"):
        Client(tmp_path, effects=["backlash"])


def test_an_unknown_tolerance_stops_the_start(ros_domain: int, tmp_path: Path) -> None:
    with pytest.raises(BamError, match="tolerance 'weight': unknown"):
        Client(tmp_path, tolerances=["mass=0.03", "weight=0.1"])


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("effects", ["zero_offset", "backlash"], ["zero_offset"]),
        ("tolerances", ["mass=0.03", "weight=0.1"], ["mass=0.03"]),
        ("tolerances", ["mass=heavy"], ["mass=0.03,length=0.002"]),
    ],
)
def test_a_value_that_no_request_could_use_is_refused_at_once(
    name: str, wrong: list[str], right: list[str], client: Client
) -> None:
    (answer,) = client.server.set_parameters([Parameter(name, value=wrong)])
    assert not answer.successful
    assert answer.reason.count("\n") == 0
    assert answer.reason
    assert client.server.get_parameter(name).value == [""]
    (answer,) = client.server.set_parameters([Parameter(name, value=right)])
    assert answer.successful


def test_tolerances_of_the_node_are_those_of_the_identification(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Tolerances] = []

    def refuse(_: Any, __: Any, settings: IdentifySettings, **___: Any) -> None:
        given.append(settings.tolerances)
        raise OutOfRange("trials", 3, "more")

    monkeypatch.setattr("bam_ros.identification.node.identify", refuse)
    client.server.set_parameters([Parameter("tolerances", value=["mass=0.03", "length=0.002"])])
    assert "trials" in client.call(**BRIEF).message
    assert given == [Tolerances(mass=0.03, length=0.002)]
