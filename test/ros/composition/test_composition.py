# SPDX-License-Identifier: Apache-2.0
"""Driver, recorder and others in one process: each is itself, and the end of one is the end of all."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from bam_bench.msg import ServoCommands, ServoStates
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import GetParameters
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from bam_core.errors import BamError, Conflict, Missing, UnknownName
from bam_core.recordings.bag_files import read_messages
from bam_ros.composition.main import MODULES, main, programs
from bam_ros.driver.servo_node import STATE_QOS
from bam_ros.dynamixel.port_errors import explain_port_error
from bam_ros.node.running_node import NodeProgram
from test.ros.one_run import SESSION
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import (
    LATE,
    LONGEST_COMMAND_TIMEOUT,
    PATIENCE,
    VirtualServos,
    client_maker,
    wait_for,
)

MakeVirtual = Callable[..., VirtualServos]
Process = subprocess.Popen[str]
Start = Callable[..., Process]

COMPOSITION = ["-m", "bam_ros.composition.main"]
WITH_FRAGILE = """
import sys
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Empty
from bam_ros.dynamixel.node import PROGRAM
from bam_ros.node.process import run_nodes
from bam_ros.node.running_node import NodeProgram

class Fragile(Node):
    def __init__(self):
        super().__init__("fragile")
        self.create_subscription(Empty, "break", self.fail, 1)

    def fail(self, message):
        raise ZeroDivisionError

    def start(self):
        pass

    def close(self):
        pass

several, first, *arguments = sys.argv[1:]
executor = MultiThreadedExecutor if several == "True" else SingleThreadedExecutor
fragile = NodeProgram(about=PROGRAM.about, make_node=lambda stop: Fragile(), make_executor=executor)
nodes = [fragile, PROGRAM] if first == "True" else [PROGRAM, fragile]
sys.exit(run_nodes(nodes, arguments, name="test", usage=""))
"""
"""A driver beside a node that fails when it is told to."""


class Client(RosClient):
    """Commands the servo of a namespace and listens to it, in the test's own process."""

    def __init__(self, domain: int, namespace: str = "") -> None:
        super().__init__(domain)
        self.states: list[ServoStates] = []
        self.node.create_subscription(ServoStates, f"{namespace}/servo_states", self.states.append, STATE_QOS)
        self._commands = self.node.create_publisher(ServoCommands, f"{namespace}/servo_commands", 1)
        self.failure = self.node.create_publisher(Empty, f"{namespace}/break", 1)

    def hold(self, virtual: VirtualServos, position: float = 0.2) -> None:
        """Command until torque is on and the driver follows."""

        def follows() -> bool:
            self._commands.publish(
                ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[position])
            )
            goal = self.states[-1].goal_position[0]
            return virtual.get("torque_enable") == 1 and abs(goal - position) < 2e-3

        self.wait_for(lambda: self.states)
        self.wait_for(follows)


@pytest.fixture
def make_client(ros_domain: int) -> Iterator[Callable[[], Client]]:
    with client_maker(Client, ros_domain) as make:
        yield make


@pytest.fixture
def start(ros_domain: int, tmp_path: Path) -> Iterator[Start]:
    """Start nodes in one process; parameters by node."""
    processes: list[Process] = []

    def begin(
        *words: str, namespace: str = "", parameters: dict[str, dict[str, Any]], code: bool = False
    ) -> Process:
        file = tmp_path / f"parameters_{len(processes)}.yaml"
        file.write_text(
            yaml.safe_dump(
                {f"{namespace}/{node}": {"ros__parameters": values} for node, values in parameters.items()}
            )
        )
        space = ["-r", f"__ns:={namespace}"] if namespace else []
        program = ["-c", WITH_FRAGILE] if code else COMPOSITION
        arguments = [*words, "--ros-args", *space, "--params-file", str(file)]
        processes.append(
            subprocess.Popen(
                [sys.executable, *program, *arguments],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        )
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def driver(virtual: VirtualServos) -> dict[str, Any]:
    """Parameters of a driver whose emulated servo shares this process with the client: both are late."""
    patient = {"command_timeout": LONGEST_COMMAND_TIMEOUT, "failures": 1000, "rate": 100.0, **LATE}
    return {"port": virtual.path, "baud_rate": 1_000_000, **patient}


def assert_released(virtual: VirtualServos, process: Process, status: int) -> str:
    """Return what a process said that ends, with the servo released."""
    wait_for(lambda: not virtual.get("torque_enable"), what="torque off")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == status, said
    return said


@pytest.mark.parametrize("name", MODULES)
def test_every_node_has_its_program(name: str) -> None:
    program = import_module(MODULES[name]).PROGRAM
    assert isinstance(program, NodeProgram)
    assert program.about.name == name


def test_drivers_are_started_and_closed_before_others_whatever_comes_first_on_the_command_line() -> None:
    names = [program.about.name for program in programs(["friction_observer", "recorder", "simulator"])]
    assert names == ["simulator", "recorder", "friction_observer"]


@pytest.mark.parametrize(
    ("names", "kind"),
    [([], Missing), (["dynamixle"], UnknownName), (["recorder", "recorder"], Conflict)],
)
def test_nodes_that_cannot_be_run_are_refused(names: list[str], kind: type[BamError]) -> None:
    with pytest.raises(kind):
        programs(names)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["recorder", "--ros-args", "-r", "__ns:=/left", "-p", "recorder:output:=bags"], "--params-file"),
        (["recorder", "identification", "--ros-args", "-r", "__node:=same"], "/same"),
        (["recorder", "--ros-args", "-p", "outptu:=bags"], "'outptu'"),
        (["recorder", "-p", "output:=bags"], "'-p'"),
    ],
)
@pytest.mark.ros
def test_arguments_without_the_effect_that_is_meant_are_one_line(
    words: list[str], part: str, ros_domain: int
) -> None:
    ended = subprocess.run([sys.executable, *COMPOSITION, *words], capture_output=True, text=True)
    assert ended.returncode == 2
    (line,) = [line for line in ended.stderr.splitlines() if not line.startswith("[WARN]")]
    assert part in line


def test_help_names_the_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in MODULES)


@pytest.mark.ros
@pytest.mark.parametrize("namespace", ["", "/left"])
def test_each_node_has_its_name_its_namespace_and_its_parameters(
    namespace: str, virtual_servos: MakeVirtual, start: Start, make_client: Callable[[], Client]
) -> None:
    servo = virtual_servos(servo="mx106")
    start(
        "recorder",
        "dynamixel",
        namespace=namespace,
        parameters={"dynamixel": driver(servo), "recorder": {"output": "there", "session_file": "mine.yaml"}},
    )
    client = make_client()

    def values(node: str, *names: str) -> list[str]:
        request = GetParameters.Request(names=names)
        response = client.call(GetParameters, f"{namespace}/{node}/get_parameters", request)
        return [value.string_value for value in response.values]

    assert values("recorder", "output", "session_file") == ["there", "mine.yaml"]
    assert values("dynamixel", "port") == [servo.path]


@pytest.mark.ros
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_releases_and_ends_well(
    number: signal.Signals, virtual_servos: MakeVirtual, start: Start, make_client: Callable[[], Client]
) -> None:
    virtual = virtual_servos(servo="mx106")
    process = start("recorder", "dynamixel", parameters={"dynamixel": driver(virtual)})
    make_client().hold(virtual)
    os.killpg(process.pid, number)
    assert "Traceback" not in assert_released(virtual, process, 0)


@pytest.mark.ros
@pytest.mark.parametrize("several", [False, True], ids=["one thread", "several threads"])
@pytest.mark.parametrize("first", [False, True], ids=["after the driver", "before the driver"])
def test_an_exception_in_one_node_releases_the_servo_and_ends_all(
    several: bool,
    first: bool,
    virtual_servos: MakeVirtual,
    start: Start,
    make_client: Callable[[], Client],
) -> None:
    virtual = virtual_servos(servo="mx106")
    process = start(str(several), str(first), parameters={"dynamixel": driver(virtual)}, code=True)
    client = make_client()
    client.hold(virtual)
    client.wait_for(lambda: client.failure.get_subscription_count() > 0)
    client.failure.publish(Empty())
    said = assert_released(virtual, process, 1)
    assert ZeroDivisionError.__name__ in said


@pytest.mark.ros
def test_the_end_of_a_drivers_life_cycle_ends_all(
    virtual_servos: MakeVirtual, start: Start, make_client: Callable[[], Client]
) -> None:
    virtual = virtual_servos(servo="mx106")
    process = start("dynamixel", "recorder", parameters={"dynamixel": driver(virtual)})
    client = make_client()
    client.hold(virtual)
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_ACTIVE_SHUTDOWN))
    assert client.call(ChangeState, "dynamixel/change_state", request).success
    assert "Traceback" not in assert_released(virtual, process, 0)


@pytest.mark.ros
def test_a_driver_that_cannot_start_ends_all_with_its_cause(start: Start, tmp_path: Path) -> None:
    missing = tmp_path / "none"
    process = start("dynamixel", "recorder", parameters={"dynamixel": {"port": str(missing)}})
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert str(explain_port_error(str(missing), FileNotFoundError())) in said
    assert "Traceback" not in said


@pytest.mark.long
@pytest.mark.ros
def test_two_benches_in_two_namespaces_move_and_record_their_own_servo(
    virtual_servos: MakeVirtual, start: Start, make_client: Callable[[], Client], tmp_path: Path
) -> None:
    """Each in one process: the end of its session is the end of its driver, and of that one alone."""
    scripts = {"left": "up_and_down", "right": "lift_and_drop"}
    servos, processes = {}, {}
    for side, script in scripts.items():
        session = tmp_path / f"{side}.yaml"
        session.write_text(SESSION.replace("sin_sin", script))
        servos[side] = virtual_servos(servo="mx106")
        recorder = {"session_file": str(session), "output": str(tmp_path / side), "autostart": True}
        processes[side] = start(
            "dynamixel",
            "recorder",
            namespace=f"/{side}",
            parameters={"dynamixel": driver(servos[side]), "recorder": recorder},
        )
    client = make_client()
    for side in scripts:
        mounted = client.node.create_client(Trigger, f"/{side}/recorder/load_mounted")
        client.wait_for(lambda mounted=mounted: answer(client, mounted).success)
    for side, process in processes.items():
        _, said = process.communicate(timeout=2 * PATIENCE)
        assert process.returncode == 0, said
        assert not servos[side].get("torque_enable")
    for side, script in scripts.items():
        (bag,) = (tmp_path / side).glob("*/*.mcap")
        kinds = {"bam_bench/msg/BenchRun", "bam_bench/msg/ServoStates"}
        messages = read_messages(bag, kinds).messages
        assert {message.topic for message in messages} == {f"/{side}/bench_run", f"/{side}/servo_states"}
        (run,) = (message.value for message in messages if message.type.endswith("BenchRun"))
        assert run.script == script
        states = [message.value for message in messages if message.type.endswith("ServoStates")]
        recorded = [state.goal_position[0] for state in states if state.torque_enabled[0]]
        law = servos[side].servo.law
        told = [law.to_count(count) * math.tau / 4096 for count in servos[side].written("goal_position")]
        assert recorded
        for goal in recorded:
            assert min(abs(goal - each) for each in told) < 2e-3


def answer(client: Client, service: Any) -> Trigger.Response:
    """Call a service that may come up meanwhile."""
    client.wait_for(service.service_is_ready)
    future = service.call_async(Trigger.Request())
    client.wait_for(future.done)
    return future.result()
