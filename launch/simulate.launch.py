# SPDX-License-Identifier: Apache-2.0
"""Simulates a robot's servos in MuJoCo behind the topics of a driver; by default the pendulum bench.

ros2 launch bam_bench simulate.launch.py servo:=out/m6.yaml mass:=1.0 length:=0.15
ros2 launch bam_bench simulate.launch.py model:=robot.xml joints:="['hip', 'knee']" servo:=mx106
ros2 launch bam_bench simulate.launch.py rviz:=true draws:=50 servo:=out/m6.yaml
ros2 launch bam_bench simulate.launch.py rviz:=true model:=config/robots/dynamixel_2r.urdf \\
    joints:="['shoulder', 'elbow']" servo:=mx106,mx64
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import yaml
from ament_index_python.packages import get_packages_with_prefixes
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

ARGUMENTS = (
    DeclareLaunchArgument(
        "model", default_value="", description="MJCF or URDF file of the robot; empty: the pendulum bench"
    ),
    DeclareLaunchArgument(
        "joints", default_value="['joint']", description="joints that servos drive, a list of names"
    ),
    DeclareLaunchArgument(
        "servo",
        default_value="mx106",
        description="servo of these joints: a name from `bam servos` or a YAML file; or, with commas"
        " between, one per joint",
    ),
    DeclareLaunchArgument("mass", default_value="0.5", description="load of the pendulum bench, kg"),
    DeclareLaunchArgument("arm_mass", default_value="0.0", description="uniform arm of the bench, kg"),
    DeclareLaunchArgument(
        "length", default_value="0.15", description="from the axis of the bench to its load, m"
    ),
    DeclareLaunchArgument(
        "kp",
        default_value="0.0",
        description="position gain at first, firmware units; 0: that of the factory",
    ),
    DeclareLaunchArgument(
        "rate", default_value="0.0", description="states per second, 1/s; 0.0: one per 2 ms of simulation"
    ),
    DeclareLaunchArgument(
        "real_time_factor",
        default_value="1.0",
        description="simulated seconds per second; 0.0: as fast as possible",
    ),
    DeclareLaunchArgument(
        "draws",
        default_value="0",
        description="robots whose servos are drawn from what is known of their parameters, shown as the 5 and"
        " 95 % of joint positions; 0: none, else 20 or more",
    ),
    DeclareLaunchArgument(
        "publish_clock",
        default_value="false",
        choices=["true", "false"],
        description="publish /clock and stamp states with simulated time, for use_sim_time",
    ),
    DeclareLaunchArgument(
        "rviz",
        default_value="false",
        choices=["true", "false"],
        description="show robot, goal, torque and friction in RViz; needs the robot as URDF",
    ),
    DeclareLaunchArgument(
        "rviz_config",
        default_value="",
        description="RViz's file; empty: bench.rviz of this package, or arm_2r.rviz where a model is given",
    ),
)


VIEW_PACKAGES = {"robot_state_publisher", "rviz2", "tf2_ros"}


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""

    def value(name: str, kind: type) -> ParameterValue:
        return ParameterValue(LaunchConfiguration(name), value_type=kind)

    numbers = ("mass", "arm_mass", "length", "kp", "rate", "real_time_factor")
    simulator = Node(
        package="bam_bench",
        executable="simulator",
        name="simulator",
        output="screen",
        parameters=[
            {
                "model": value("model", str),
                "joint_names": ParameterValue(LaunchConfiguration("joints"), value_type=list[str]),
                "servos": ParameterValue(["[", LaunchConfiguration("servo"), "]"], value_type=list[str]),
                **{name: value(name, float) for name in numbers},
                "publish_clock": value("publish_clock", bool),
                "draws": value("draws", int),
            }
        ],
        on_exit=Shutdown(reason="the simulator has ended"),
    )
    return LaunchDescription([*ARGUMENTS, simulator, OpaqueFunction(function=describe_view)])


def describe_view(context: LaunchContext) -> list[Node | LogInfo]:
    """Describe RViz and what gives it frames, where it is asked for."""

    def value(name: str) -> str:
        return LaunchConfiguration(name).perform(context)

    if value("rviz") != "true":
        return []
    missing = sorted(VIEW_PACKAGES - set(get_packages_with_prefixes()))
    if missing:
        names = " ".join(f"ros-$ROS_DISTRO-{name.replace('_', '-')}" for name in missing)
        return [
            LogInfo(msg=f"rviz: no package {', '.join(missing)}; the robot moves unseen; apt install {names}")
        ]
    urdf = robot_urdf(value)
    if urdf is None:
        return [LogInfo(msg=f"rviz: {value('model')} has no .urdf beside it (RViz reads no MJCF); add one")]
    simulated_time = {"use_sim_time": value("publish_clock") == "true"}
    description = {"robot_description": ParameterValue(urdf, value_type=str), **simulated_time}
    default = "arm_2r.rviz" if value("model") else "bench.rviz"
    config = value("rviz_config") or str(Path(__file__).parents[1] / "config" / default)
    shadows = ["goal"]  # robots beside the simulated one, by the topics of their joints
    if int(value("draws")):
        shadows += ["low", "high"]
        config = config if value("rviz_config") else with_band(Path(config))
    base = root_link(urdf)
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            name="robot_state_publisher",
            parameters=[description],
            # The simulator publishes the robot itself, with the load that hangs there now.
            remappings=[("robot_description", "~/robot_description")],
        ),
        *(node for shadow in shadows for node in shadow_nodes(shadow, description, base)),
        Node(
            package="rviz2",
            executable="rviz2",
            name="rviz2",
            arguments=["-d", config, "-f", base],
            parameters=[simulated_time],
        ),
    ]


def shadow_nodes(shadow: str, description: dict[str, ParameterValue | bool], base: str) -> list[Node]:
    """Describe what gives a robot beside the simulated one its frames."""
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            name=f"{shadow}_state_publisher",
            parameters=[description, {"frame_prefix": f"{shadow}/"}],
            remappings=[
                ("joint_states", f"simulator/{shadow}_states"),
                ("robot_description", "~/robot_description"),
            ],
        ),
        Node(
            package="tf2_ros",
            executable="static_transform_publisher",
            name=f"{shadow}_base",
            arguments=["--frame-id", base, "--child-frame-id", f"{shadow}/{base}"],
        ),
    ]


def with_band(config: Path) -> str:
    """Return a copy of RViz's file in which the robots at 5 and 95 % are shown."""
    content = yaml.safe_load(config.read_text(encoding="utf-8"))
    for display in content["Visualization Manager"]["Displays"]:
        if display["Name"] in ("5 %", "95 %"):
            display["Enabled"] = True
    copy = Path(tempfile.mkdtemp(prefix="bam_bench_")) / config.name
    copy.write_text(yaml.safe_dump(content), encoding="utf-8")
    return str(copy)


def root_link(urdf: str) -> str:
    """Return the link that is no joint's child."""
    robot = ElementTree.fromstring(urdf)
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    return next(name for link in robot.iterfind("link") if (name := link.get("name", "")) not in children)


def robot_urdf(value: Callable[[str], str]) -> str | None:
    """Return the robot that the arguments name as URDF; None where there is none."""
    if value("model"):
        file = Path(value("model")).with_suffix(".urdf")
        return file.read_text(encoding="utf-8") if file.is_file() else None
    from bam_core.mujoco import bench_urdf
    from bam_core.servo.pendulum import PendulumBench

    bench = PendulumBench(**{name: float(value(name)) for name in ("mass", "arm_mass", "length")})
    return bench_urdf(bench, joint=yaml.safe_load(value("joints"))[0])
