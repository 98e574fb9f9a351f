# SPDX-License-Identifier: Apache-2.0
"""Simulates a robot's servos in MuJoCo behind the topics of a driver; by default the pendulum bench.

ros2 launch bam_bench simulate.launch.py servo:=out/m6.yaml mass:=1.0 length:=0.15
ros2 launch bam_bench simulate.launch.py model:=robot.xml joints:=hip,knee servo:=mx106
ros2 launch bam_bench simulate.launch.py rviz:=true draws:=50 servo:=out/m6.yaml
ros2 launch bam_bench simulate.launch.py rviz:=true model:=config/robots/dynamixel_2r.urdf \\
    joints:=shoulder,elbow servo:=mx106,mx64
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml
from ament_index_python.packages import get_packages_with_prefixes
from launch import LaunchDescription
from launch.action import Action
from launch.actions import LogInfo
from launch_ros.actions import Node

from bam_ros.launching.argument import Argument
from bam_ros.launching.launch_values import LaunchValues, PlannedNode, describe_launch
from bam_ros.launching.memory_file import memory_file
from bam_ros.text.launch_notices import NoPythonModule, NoRviz, NoUrdf

ARGUMENTS = (
    Argument(
        name="model",
        default="",
        description="MJCF or URDF file of the robot, also package://NAME/PATH; empty: the pendulum bench",
    ),
    Argument(
        name="joints", default=["joint"], description="joints that servos drive, names separated by commas"
    ),
    Argument(
        name="servo",
        default=["mx106"],
        description="servo of each joint, separated by commas: names from `bam servos` or YAML files; one"
        " entry: for all",
    ),
    Argument(name="mass", default=0.5, description="load of the pendulum bench, kg"),
    Argument(name="arm_mass", default=0.0, description="uniform arm of the bench, kg"),
    Argument(name="length", default=0.15, description="from the axis of the bench to its load, m"),
    Argument(
        name="kp",
        default=0.0,
        description="position gain at first, firmware units; 0.0: that of the factory",
    ),
    Argument(
        name="supply_voltage",
        default=0.0,
        description="of every servo, V; 0.0: the nominal one of each",
    ),
    Argument(name="rate", default=0.0, description="states per second, 1/s; 0.0: one per 2 ms of simulation"),
    Argument(
        name="real_time_factor",
        default=1.0,
        description="simulated seconds per second; 0.0: as fast as possible",
    ),
    Argument(
        name="draws",
        default=0,
        description="robots whose servos are drawn from what is known of their parameters, shown as the 5 and"
        " 95 % of joint positions; 0: none, else 20 or more",
    ),
    Argument(
        name="publish_clock",
        default=False,
        choices=("true", "false"),
        description="publish /clock and stamp states with simulated time, for use_sim_time",
    ),
    Argument(
        name="rviz",
        default=False,
        choices=("true", "false"),
        description="show robot, goal, torque and friction in RViz; needs the robot as URDF",
    ),
    Argument(
        name="rviz_config",
        default="",
        description="RViz's file; empty: bench.rviz of this package, or arm_2r.rviz where a model is given",
    ),
)

VIEW_PACKAGES = {"robot_state_publisher", "rviz2", "tf2_ros"}
IN_NAMESPACE = [(f"/{topic}", topic) for topic in ("tf", "tf_static")]
"""So that robots in other namespaces, whose frames have the same names, are not mixed with this one.

All other topics of RViz's files are relative.
"""


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return describe_launch(ARGUMENTS, nodes)


def nodes(values: LaunchValues) -> list[Action]:
    """Describe the simulator, and RViz where it is asked for."""
    bench = ("mass", "arm_mass", "length")
    same = ("model", *bench, "kp", "supply_voltage", "rate", "real_time_factor", "publish_clock", "draws")
    parameters = values.parameters(*same, joint_names="joints", servos="servo")
    simulator = PlannedNode(
        executable="simulator",
        parameters=parameters,
        defaults={"rate": values["rate"]},
        title="the simulator",
    )
    return [values.node(simulator), *describe_view(values)]


def describe_view(values: LaunchValues) -> list[Action]:
    """Describe RViz and what gives it frames, where it is asked for."""
    if not values["rviz"]:
        return []
    missing = sorted(VIEW_PACKAGES - set(get_packages_with_prefixes()))
    if missing:
        return [LogInfo(msg=str(NoRviz(packages=tuple(missing))))]
    try:
        urdf = robot_urdf(values)
    except ModuleNotFoundError as error:
        return [LogInfo(msg=str(NoPythonModule(module=error.name or "")))]
    if urdf is None:
        return [LogInfo(msg=str(NoUrdf(model=values["model"])))]
    clock = {"use_sim_time": True} if values["publish_clock"] else {}
    description = {"robot_description": urdf, **clock}
    default = "arm_2r.rviz" if values["model"] else "bench.rviz"
    config = values["rviz_config"] or str(Path(__file__).parents[1] / "config" / default)
    shadows = ["goal"]  # robots beside the simulated one, by the topics of their joints
    if values["draws"]:
        shadows += ["low", "high"]
        config = config if values["rviz_config"] else with_band(Path(config))
    base = root_link(urdf)
    # The simulator publishes the robot itself, with the load that hangs there now.
    unpublished = ("robot_description", "~/robot_description")
    return [
        other_node(
            values,
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=description,
            remappings=[unpublished],
        ),
        *(node for shadow in shadows for node in shadow_nodes(values, shadow, description, base)),
        other_node(
            values,
            package="rviz2",
            executable="rviz2",
            parameters=clock,
            arguments=["-d", config, "-f", base],
        ),
    ]


def shadow_nodes(values: LaunchValues, shadow: str, description: dict[str, Any], base: str) -> list[Node]:
    """Describe what gives a robot beside the simulated one its frames."""
    return [
        other_node(
            values,
            package="robot_state_publisher",
            executable="robot_state_publisher",
            name=f"{shadow}_state_publisher",
            parameters={**description, "frame_prefix": f"{shadow}/"},
            remappings=[
                ("joint_states", f"simulator/{shadow}_states"),
                ("robot_description", "~/robot_description"),
            ],
        ),
        other_node(
            values,
            package="tf2_ros",
            executable="static_transform_publisher",
            name=f"{shadow}_base",
            arguments=["--frame-id", base, "--child-frame-id", f"{shadow}/{base}"],
        ),
    ]


def other_node(
    values: LaunchValues,
    *,
    package: str,
    executable: str,
    name: str = "",
    parameters: dict[str, Any] | None = None,
    remappings: Sequence[tuple[str, str]] = (),
    **words: Any,
) -> Node:
    """Describe a node of another package, with frames of its namespace; it ends when the launch has gone.

    Its name is that of the executable by default.
    """
    name = name or executable
    return Node(
        package=package,
        executable=executable,
        name=name,
        exec_name=name,  # in the log, where the prefix would be
        prefix=values.prefix,
        remappings=[*IN_NAMESPACE, *remappings],
        **values.common(name, parameters or {}),
        **words,
    )


def with_band(config: Path) -> str:
    """Return a copy of RViz's file in which the robots at 5 and 95 % are shown."""
    content = yaml.safe_load(config.read_text(encoding="utf-8"))
    for display in content["Visualization Manager"]["Displays"]:
        if display["Name"] in ("5 %", "95 %"):
            display["Enabled"] = True
    return str(memory_file(yaml.safe_dump(content)))


def root_link(urdf: str) -> str:
    """Return the link that is no joint's child."""
    robot = ElementTree.fromstring(urdf)
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    return next(name for link in robot.iterfind("link") if (name := link.get("name", "")) not in children)


def robot_urdf(values: LaunchValues) -> str | None:
    """Return the robot that the arguments name as URDF; None where there is none."""
    if values["model"]:
        from bam_ros.node.model_file import model_file

        file = Path(model_file(values["model"])).with_suffix(".urdf")
        return file.read_text(encoding="utf-8") if file.is_file() else None
    from bam_core.mujoco import bench_urdf
    from bam_core.servo.pendulum import PendulumBench

    bench = PendulumBench(**{name: values[name] for name in ("mass", "arm_mass", "length")})
    return bench_urdf(bench, joint=values["joints"][0])
