# SPDX-License-Identifier: Apache-2.0
"""Launch files: their promises are checked anywhere, their deeds where launch_ros is installed."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from missing import skip_or_fail
from ros_helpers import wait_for

from bam_ros.dynamixel.node import DynamixelNode
from bam_ros.emulators.dynamixel.node import VirtualDynamixelNode
from bam_ros.emulators.erob.node import VirtualErobNode
from bam_ros.erob.node import ErobNode
from bam_ros.feedforward.node import FeedForwardNode
from bam_ros.identification.node import IdentificationNode
from bam_ros.recorder.node import RecorderNode
from bam_ros.simulator.node import SimulatorNode

ROOT = Path(__file__).parents[2]
LAUNCH = ROOT / "launch"
FILES = sorted(LAUNCH.glob("*.launch.py"))
NODES = (
    DynamixelNode,
    VirtualDynamixelNode,
    FeedForwardNode,
    ErobNode,
    VirtualErobNode,
    RecorderNode,
    IdentificationNode,
    SimulatorNode,
)
PARAMETERS = {node.ABOUT.name: {parameter.name for parameter in node.ABOUT.parameters} for node in NODES}
needs_launch = pytest.mark.skipif(
    importlib.util.find_spec("launch_ros") is None,
    reason="launch_ros is not installed (it is part of a full ROS 2, not of its wheels)",
)
SESSION = """\
servo: mx106
supply_voltage: 15.0
loads: [{mass: 0.5, length: 0.1}]
gains: [32]
scripts: [sin_sin]
approach_speed: 3.0
"""
RUN = "m0.50_l0.100_kp32_sin_sin"
EROB_SESSION = """\
servo: erob80_100
supply_voltage: 48.0
loads: [{mass: 3.1, length: 0.5}]
gains: [50]
scripts: [sin_sin]
"""
EROB_RUN = "m3.10_l0.500_kp50_sin_sin"
RUNNER = """\
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
source = PythonLaunchDescriptionSource(sys.argv[1])
arguments = [argument.split(":=") for argument in sys.argv[2:]]
service = LaunchService()
service.include_launch_description(
    LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)]))
sys.exit(service.run())
"""


def calls(file: Path, name: str) -> list[ast.Call]:
    """Calls of a function in a launch file."""
    tree = ast.parse(file.read_text())
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == name]


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((entry.value for entry in call.keywords if entry.arg == name), None)


def literal_keys(entry: ast.expr) -> set[str]:
    """Keys of a dictionary in the source, as far as they are written out there."""
    if isinstance(entry, ast.DictComp):
        return set(ast.literal_eval(entry.generators[0].iter))
    assert isinstance(entry, ast.Dict)
    return {key.value for key in entry.keys if isinstance(key, ast.Constant)}


def our_nodes(file: Path) -> list[ast.Call]:
    """Nodes of this package in a launch file."""
    packages = {node: keyword(node, "package") for node in calls(file, "Node")}
    return [
        node
        for node, package in packages.items()
        if not isinstance(package, ast.Constant) or package.value == "bam_bench"
    ]


def test_the_five_launch_files_are_there() -> None:
    assert [file.name for file in FILES] == [
        f"{name}.launch.py" for name in ("demo", "feedforward", "identify", "record", "simulate")
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_argument_has_a_description_and_a_default(file: Path) -> None:
    arguments = calls(file, "DeclareLaunchArgument")
    assert arguments
    for argument in arguments:
        description = keyword(argument, "description")
        assert isinstance(description, ast.Constant), ast.unparse(argument)
        assert len(description.value) > 10
        assert keyword(argument, "default_value") is not None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_parameter_exists_in_its_node(file: Path) -> None:
    """A node refuses parameters that it does not declare."""
    for node in our_nodes(file):
        executable = ast.literal_eval(keyword(node, "executable"))
        declared = PARAMETERS[executable]
        parameters = keyword(node, "parameters")
        assert isinstance(parameters, ast.List)
        keys = {key for entry in parameters.elts for key in literal_keys(entry)}
        assert keys <= declared, f"{executable} has no {keys - declared}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_executable_is_installed_and_its_end_ends_the_launch(file: Path) -> None:
    installed = set(re.findall(r"add_executable_node\((\w+) ", (ROOT / "CMakeLists.txt").read_text()))
    for node in our_nodes(file):
        assert ast.literal_eval(keyword(node, "executable")) in installed
        assert keyword(node, "on_exit") is not None


@pytest.mark.parametrize("name", ["bench", "arm_2r"])
def test_rviz_shows_what_the_simulator_publishes(name: str) -> None:
    shown = yaml.safe_load((ROOT / "config" / f"{name}.rviz").read_text())["Visualization Manager"]
    topics = [
        display[key]["Value"]
        for display in shown["Displays"]
        for key in ("Topic", "Description Topic")
        if key in display
    ]
    published = {
        f"/{interface.name.replace('~', 'simulator').lstrip('/')}"
        for interface in SimulatorNode.ABOUT.interfaces
        if interface.kind == "publishes"
    }
    assert set(topics) == {"/robot_description", "/simulator/markers"} <= published
    assert "/simulator/goal_states" in published
    launch = (LAUNCH / "simulate.launch.py").read_text()
    assert f"{name}.rviz" in launch
    assert 'f"simulator/{shadow}_states"' in launch
    ghosts = [display["TF Prefix"] for display in shown["Displays"] if "TF Prefix" in display]
    assert ghosts == ["", "goal", "low", "high"]
    assert '"frame_prefix": "goal/"' in launch
    for robot in (ROOT / "config" / "robots").glob("*.urdf"):
        assert f'<link name="{shown["Global Options"]["Fixed Frame"]}"' in robot.read_text()


class Launch:
    """A launch file at work, in a process group of its own."""

    def __init__(self, file: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUNNER, str(LAUNCH / file), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def end(self, timeout: float) -> str:
        """Wait for its end and return what it said."""
        try:
            return self.process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise


@pytest.fixture
def session(tmp_path: Path, ros_domain: int) -> list[str]:
    """Arguments of a short session on a virtual bench."""
    file = tmp_path / "session.yaml"
    file.write_text(SESSION)
    bags, port = tmp_path / "bags", tmp_path / "bus"
    return ["virtual:=true", f"port:={port}", f"session:={file}", f"output:={bags}"]


@needs_launch
@pytest.mark.ros
def test_a_session_is_recorded_by_one_launch(session: list[str], tmp_path: Path) -> None:
    launch = Launch("record.launch.py", *session)
    said = launch.end(60.0)
    assert launch.process.returncode == 0, said
    assert "1 run recorded" in said
    assert (tmp_path / "bags" / RUN / "metadata.yaml").is_file()
    assert "has died" not in said


@needs_launch
@pytest.mark.ros
def test_a_session_of_a_virtual_erob_is_recorded_by_one_launch(tmp_path: Path, ros_domain: int) -> None:
    file = tmp_path / "session.yaml"
    file.write_text(EROB_SESSION)
    arguments = ["driver:=erob", "virtual:=true", f"interface:=la{os.getpid()}", f"session:={file}"]
    launch = Launch("record.launch.py", *arguments, f"output:={tmp_path / 'bags'}")
    said = launch.end(90.0)
    if "CAP_" in said:
        skip_or_fail(said)
    assert launch.process.returncode == 0, said
    assert "1 run recorded" in said
    assert (tmp_path / "bags" / EROB_RUN / "metadata.yaml").is_file()
    assert "has died" not in said


@needs_launch
@pytest.mark.parametrize(
    ("driver", "servo", "session"),
    [("dynamixel", "mx106", "quick.yaml"), ("erob", "erob80_100", "quick_erob.yaml")],
)
def test_servo_and_session_are_those_of_the_driver_by_default(driver: str, servo: str, session: str) -> None:
    from launch import LaunchContext
    from launch.utilities import perform_substitutions

    file = LAUNCH / "record.launch.py"
    described = importlib.util.spec_from_file_location("record_launch", file)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    context = LaunchContext()
    context.launch_configurations["driver"] = driver
    default = {
        argument.name: perform_substitutions(context, argument.default_value)
        for argument in module.ARGUMENTS
        if argument.name in ("servo", "session")
    }
    assert default["servo"] == servo
    assert Path(default["session"]).name == session
    assert yaml.safe_load((ROOT / "config" / "sessions" / session).read_text())["servo"] == servo


@needs_launch
@pytest.mark.ros
def test_ctrl_c_ends_a_launch_with_the_bag_readable(session: list[str], tmp_path: Path) -> None:
    launch = Launch("record.launch.py", *session)
    bag = tmp_path / "bags" / RUN
    wait_for(lambda: sum(file.stat().st_size for file in bag.glob("*.mcap")) > 20_000, what="data")
    os.killpg(launch.process.pid, signal.SIGINT)  # as a terminal does
    said = launch.end(20.0)
    assert "the servo is released" in said
    assert "Traceback" not in said
    assert not (bag / "metadata.yaml").exists()


@needs_launch
@pytest.mark.ros
def test_a_missing_port_ends_the_launch_with_its_cause(tmp_path: Path, ros_domain: int) -> None:
    said = Launch("record.launch.py", f"port:={tmp_path}/none", f"output:={tmp_path}").end(30.0)
    assert "none: does not exist" in said
    assert "Traceback" not in said


@needs_launch
@pytest.mark.ros
@pytest.mark.parametrize(
    ("file", "argument", "ready"),
    [
        ("simulate.launch.py", "servo:=xl330", "simulation of bench"),
        ("identify.launch.py", "data_directory:=.", "ready"),
    ],
)
def test_nodes_start_and_end(file: str, argument: str, ready: str, ros_domain: int) -> None:
    launch = Launch(file, argument)
    assert launch.process.stdout is not None
    assert any(ready in line for line in iter(launch.process.stdout.readline, ""))
    os.kill(launch.process.pid, signal.SIGINT)
    assert "Traceback" not in launch.end(20.0)


@needs_launch
@pytest.mark.ros
def test_the_demo_is_the_command_of_this_name(ros_domain: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "bam demo: " in Launch("demo.launch.py", f"output:={tmp_path / 'file'}").end(60.0)
