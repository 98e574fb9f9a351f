# SPDX-License-Identifier: Apache-2.0
"""Simulates a robot's servos in MuJoCo behind the topics of a driver; by default the pendulum bench.

ros2 launch bam_bench simulate.launch.py servo:=out/m6.yaml mass:=1.0 length:=0.15
ros2 launch bam_bench simulate.launch.py model:=robot.xml joints:="['hip', 'knee']" servo:=mx106
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
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
        description="servo of these joints: a name from `bam servos` or a YAML file",
    ),
    DeclareLaunchArgument("mass", default_value="0.5", description="load of the pendulum bench, kg"),
    DeclareLaunchArgument("arm_mass", default_value="0.0", description="uniform arm of the bench, kg"),
    DeclareLaunchArgument(
        "length", default_value="0.15", description="from the axis of the bench to its load, m"
    ),
    DeclareLaunchArgument("kp", default_value="32.0", description="position gain at first, firmware units"),
    DeclareLaunchArgument(
        "rate", default_value="0.0", description="states per second, 1/s; 0.0: one per 2 ms of simulation"
    ),
    DeclareLaunchArgument(
        "real_time_factor",
        default_value="1.0",
        description="simulated seconds per second; 0.0: as fast as possible",
    ),
    DeclareLaunchArgument(
        "publish_clock",
        default_value="false",
        choices=["true", "false"],
        description="publish /clock and stamp states with simulated time, for use_sim_time",
    ),
)


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
                "servos": ParameterValue(["['", LaunchConfiguration("servo"), "']"], value_type=list[str]),
                **{name: value(name, float) for name in numbers},
                "publish_clock": value("publish_clock", bool),
            }
        ],
        on_exit=Shutdown(reason="the simulator has ended"),
    )
    return LaunchDescription([*ARGUMENTS, simulator])
