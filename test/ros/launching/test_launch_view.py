# SPDX-License-Identifier: Apache-2.0
"""`rviz:=true` starts what RViz needs, and says so where the robot has no URDF; launch itself is played."""

from __future__ import annotations

import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from bam_ros.simulator.node import SimulatorNode
from bam_ros.text.launch_notices import NoPythonModule, NoRviz, NoUrdf
from test.ros.launch_played import Context, Started, include, launch_file, play

ROOT = Path(__file__).parents[3]
View = Callable[..., list[Started]]
Say = Callable[..., str]


@pytest.fixture
def installed() -> dict[str, str]:
    """Packages of this machine, as the launch file finds them."""
    return dict.fromkeys(("bam_bench", "robot_state_publisher", "rviz2", "tf2_ros"), "/opt/ros")


@pytest.fixture
def context(installed: dict[str, str]) -> Callable[..., Context]:
    """What the launch file does with arguments that differ from its defaults."""
    return lambda **arguments: play(Context(), include(launch_file("simulate", installed), **arguments))


@pytest.fixture
def view(context: Callable[..., Context]) -> View:
    """Nodes beside the simulator."""

    def nodes(**arguments: str) -> list[Started]:
        simulator, *others = context(**arguments).nodes
        assert simulator.name == "simulator"
        return others

    return nodes


@pytest.fixture
def said(context: Callable[..., Context]) -> Say:
    """The line that the launch file logs instead of starting more than the simulator."""

    def line(**arguments: str) -> str:
        after = context(**arguments)
        assert [node.name for node in after.nodes] == ["simulator"]
        (message,) = after.messages
        return message

    return line


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
        interface.name.replace("~", "simulator")
        for interface in SimulatorNode.ABOUT.interfaces
        if interface.kind == "publishes"
    }
    # Relative, so that a robot in a namespace is seen.
    assert set(topics) == {"robot_description", "simulator/markers"} <= published
    assert "simulator/goal_states" in published
    launch = (ROOT / "launch" / "simulate.launch.py").read_text()
    assert f"{name}.rviz" in launch
    assert 'f"simulator/{shadow}_states"' in launch
    ghosts = [display["TF Prefix"] for display in shown["Displays"] if "TF Prefix" in display]
    assert ghosts == ["", "goal", "low", "high"]
    assert '"frame_prefix": f"{shadow}/"' in launch
    (hidden,) = (
        display["Filter (blacklist)"] for display in shown["Displays"] if display["Name"] == "Frames"
    )
    assert [bool(re.search(hidden, f"{ghost}/arm")) for ghost in ("left", *ghosts[1:])] == [
        False,
        *[True] * 3,
    ]
    for robot in (ROOT / "config" / "robots").glob("*.urdf"):
        assert f'<link name="{shown["Global Options"]["Fixed Frame"]}"' in robot.read_text()


def test_without_rviz_nothing_is_added(view: View) -> None:
    assert view() == []


def test_rviz_gets_frames_of_the_robot_and_of_its_goal(view: View) -> None:
    nodes = {node.name: node for node in view(rviz="true", mass="0.7", joints="['servo_1']")}
    assert list(nodes) == ["robot_state_publisher", "goal_state_publisher", "goal_base", "rviz2"]
    for name in ("robot_state_publisher", "goal_state_publisher"):
        robot = ElementTree.fromstring(nodes[name].parameters["robot_description"])
        assert robot.find("joint").get("name") == "servo_1"
    assert ("joint_states", "simulator/goal_states") in nodes["goal_state_publisher"].remappings
    assert nodes["goal_base"].arguments == ["--frame-id", "base_link", "--child-frame-id", "goal/base_link"]
    assert nodes["rviz2"].arguments == ["-d", str(ROOT / "config" / "bench.rviz"), "-f", "base_link"]
    assert Path(nodes["rviz2"].arguments[1]).is_file()


def test_draws_add_robots_at_both_ends_of_the_band(view: View) -> None:
    nodes = {node.name: node for node in view(rviz="true", draws="20")}
    for end in ("low", "high"):
        assert ("joint_states", f"simulator/{end}_states") in nodes[f"{end}_state_publisher"].remappings
        assert nodes[f"{end}_base"].arguments[-1] == f"{end}/base_link"
    shown = yaml.safe_load(Path(nodes["rviz2"].arguments[1]).read_text())
    displays = {each["Name"]: each for each in shown["Visualization Manager"]["Displays"]}
    assert [displays[name]["Enabled"] for name in ("Robot", "Goal", "5 %", "95 %")] == [True] * 4
    assert [displays[name]["TF Prefix"] for name in ("5 %", "95 %")] == ["low", "high"]


LAUNCH = """\
import subprocess, sys
sys.exit(subprocess.call(sys.argv[1:]))
"""


def test_all_of_it_ends_when_the_launch_has_gone(view: View) -> None:
    prefixes = {node.action.prefix for node in view(rviz="true", draws="20")}
    (prefix,) = prefixes
    program = [sys.executable, "-c", "import sys, time; print(end='.', flush=True); time.sleep(20)"]
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCH, *shlex.split(prefix), *program], stdout=subprocess.PIPE
    ) as launch:
        assert launch.stdout is not None
        assert launch.stdout.read(1) == b"."  # the program runs
        launch.send_signal(signal.SIGTERM)
        assert select.select([launch.stdout], [], [], 5.0)[0]  # nobody holds the other end any more


def test_a_prefix_of_the_user_counts(view: View) -> None:
    arguments = {"rviz": "true", "launch-prefix": "xterm -e"}
    assert {node.action.prefix for node in view(**arguments)} == {None}


@pytest.mark.parametrize("kind", ["xml", "urdf"])
def test_the_arms_are_shown_from_either_file(view: View, kind: str) -> None:
    model = ROOT / "config" / "robots" / f"erob_2r.{kind}"
    nodes = view(rviz="true", model=str(model), publish_clock="true")
    assert nodes[0].parameters["robot_description"] == model.with_suffix(".urdf").read_text()
    assert nodes[0].parameters["use_sim_time"] is True
    assert nodes[-1].arguments == ["-d", str(ROOT / "config" / "arm_2r.rviz"), "-f", "base_link"]


def test_a_robot_stands_on_the_root_of_its_own_urdf(view: View, tmp_path: Path) -> None:
    model = tmp_path / "robot.urdf"
    model.write_text(
        '<robot name="r"><link name="arm"/><link name="table"/><joint name="j" type="revolute">'
        '<parent link="table"/><child link="arm"/></joint></robot>'
    )
    nodes = {node.name: node for node in view(rviz="true", model=str(model))}
    assert nodes["goal_base"].arguments == ["--frame-id", "table", "--child-frame-id", "goal/table"]
    assert nodes["rviz2"].arguments[-2:] == ["-f", "table"]


def test_robots_in_namespaces_are_not_mixed(view: View) -> None:
    nodes = view(rviz="true", draws="20", namespace="left")
    assert {node.namespace for node in nodes} == {"/left"}
    for node in nodes:  # frames of two robots have the same names
        assert {("/tf", "tf"), ("/tf_static", "tf_static")} <= set(node.remappings)


@pytest.mark.parametrize("name", ["bench", "arm_2r"])
def test_panels_leave_most_of_the_window_to_the_robot(name: str) -> None:
    """RViz docks panels without a saved state at the left; a wide one leaves the 3D view no room."""
    shown = yaml.safe_load((ROOT / "config" / f"{name}.rviz").read_text())
    panels = [panel["Name"] for panel in shown["Panels"]]
    window = shown["Window Geometry"]
    state = bytes.fromhex(window["QMainWindow State"])
    for saved in (*panels, "Tools"):  # the names of docks, as Qt writes them: length and UTF-16
        text = saved.encode("utf-16-be")
        assert len(text).to_bytes(4, "big") + text in state
    assert panels == ["Displays", "Views"]
    assert window["Displays"] == {"collapsed": False}
    assert window["Views"] == {"collapsed": True}
    # Both are to be said: RViz reads memory that nothing has set where one is missing.
    assert (window["Hide Left Dock"], window["Hide Right Dock"]) == (False, True)
    (width,) = re.findall(rb"\xff\xff(\0\0..)\0\0..\0{3}\x04\0{3}\x04", state, re.DOTALL)  # of the 3D view
    assert int.from_bytes(width, "big") > 0.75 * window["Width"]


def test_a_machine_without_rviz_is_told_what_to_install(said: Say, installed: dict[str, str]) -> None:
    del installed["rviz2"], installed["robot_state_publisher"]
    assert said(rviz="true") == str(NoRviz(packages=("robot_state_publisher", "rviz2")))


def test_a_robot_without_urdf_is_named(said: Say, tmp_path: Path) -> None:
    model = tmp_path / "robot.xml"
    assert said(rviz="true", model=str(model)) == str(NoUrdf(model=str(model)))


def test_a_python_without_mujoco_is_told_what_to_install(said: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ros2 launch` runs in the Python of ROS 2, not in the environment of the nodes."""
    for name in [name for name in sys.modules if name.startswith("bam_core.mujoco")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert said(rviz="true") == str(NoPythonModule(module="mujoco"))
