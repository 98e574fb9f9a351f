# SPDX-License-Identifier: Apache-2.0
"""`rviz:=true` starts what RViz needs, and says so where the robot has no URDF; launch itself is played."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).parents[2]
View = Callable[..., list[SimpleNamespace]]


def described(*arguments: object, **keywords: object) -> SimpleNamespace:
    """Stand in for an action or substitution of launch: keeps what it was described with."""
    return SimpleNamespace(words=arguments, **keywords)


@pytest.fixture
def installed() -> dict[str, str]:
    """Packages of this machine, as the launch file finds them."""
    return dict.fromkeys(("bam_bench", "robot_state_publisher", "rviz2", "tf2_ros"), "/opt/ros")


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch, installed: dict[str, str]) -> View:
    """What the launch file adds for arguments that differ from its defaults."""
    values: dict[str, str] = {}

    def argument(name: str, *, default_value: str, **more: object) -> SimpleNamespace:
        values[name] = default_value
        return described(name)

    names = {
        "ament_index_python.packages": {"get_packages_with_prefixes": lambda: installed},
        "launch": {"LaunchContext": object, "LaunchDescription": described},
        "launch.actions": {
            "DeclareLaunchArgument": argument,
            **dict.fromkeys(("LogInfo", "OpaqueFunction", "Shutdown"), described),
        },
        "launch.substitutions": {
            "LaunchConfiguration": lambda name: SimpleNamespace(perform=lambda context: values[name])
        },
        "launch_ros.actions": {"Node": described},
        "launch_ros.parameter_descriptions": {"ParameterValue": lambda value, value_type: value},
    }
    for name, members in names.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "launch_ros", ModuleType("launch_ros"))
    file = runpy.run_path(str(ROOT / "launch" / "simulate.launch.py"))

    def describe(**changes: str) -> list[SimpleNamespace]:
        values.update(changes)
        return file["describe_view"](None)

    return describe


def test_without_rviz_nothing_is_added(view: View) -> None:
    assert view() == []


def test_rviz_gets_frames_of_the_robot_and_of_its_goal(view: View) -> None:
    nodes = {node.name: node for node in view(rviz="true", mass="0.7", joints="['servo_1']")}
    assert list(nodes) == ["robot_state_publisher", "goal_state_publisher", "goal_base", "rviz2"]
    for name in ("robot_state_publisher", "goal_state_publisher"):
        robot = ElementTree.fromstring(nodes[name].parameters[0]["robot_description"])
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


@pytest.mark.parametrize("kind", ["xml", "urdf"])
def test_the_arms_are_shown_from_either_file(view: View, kind: str) -> None:
    model = ROOT / "config" / "robots" / f"erob_2r.{kind}"
    nodes = view(rviz="true", model=str(model), publish_clock="true")
    assert nodes[0].parameters[0]["robot_description"] == model.with_suffix(".urdf").read_text()
    assert nodes[0].parameters[0]["use_sim_time"] is True
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


def test_a_machine_without_rviz_is_told_what_to_install(view: View, installed: dict[str, str]) -> None:
    del installed["rviz2"], installed["robot_state_publisher"]
    (line,) = view(rviz="true")
    assert line.msg == (
        "rviz: no package robot_state_publisher, rviz2; the robot moves unseen; "
        "apt install ros-$ROS_DISTRO-robot-state-publisher ros-$ROS_DISTRO-rviz2"
    )


def test_a_robot_without_urdf_is_named(view: View, tmp_path: Path) -> None:
    (line,) = view(rviz="true", model=str(tmp_path / "robot.xml"))
    assert line.msg == f"rviz: {tmp_path / 'robot.xml'} has no .urdf beside it (RViz reads no MJCF); add one"
