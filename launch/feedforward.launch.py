# SPDX-License-Identifier: Apache-2.0
"""Drives Dynamixel servos along trajectories, fed forward in PWM mode: the node `feedforward`.

    ros2 launch bam_bench feedforward.launch.py port:=/dev/ttyUSB0 ids:="[1, 2]" joints:="['hip', 'knee']" \\
        servos:="['identified/m6.yaml']"
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""

    def value(name: str, kind: type) -> ParameterValue:
        return ParameterValue(LaunchConfiguration(name), value_type=kind)

    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "port",
                default_value="",
                description="serial device of the servos, such as /dev/ttyUSB0; empty: the only one there is",
            ),
            DeclareLaunchArgument(
                "baud_rate", default_value="0", description="bit/s that is tried first; 0: find it"
            ),
            DeclareLaunchArgument("ids", default_value="[1]", description="bus id of each joint, a list"),
            DeclareLaunchArgument(
                "joints", default_value="['joint']", description="name of each joint, a list"
            ),
            DeclareLaunchArgument(
                "servos",
                default_value="['']",
                description="servo of each joint, a list: names from `bam servos` or YAML files; '': what is "
                "found on the bus; one entry: for all",
            ),
            DeclareLaunchArgument(
                "model",
                default_value="",
                description="MJCF or URDF file of the robot, for torques that trajectories leave out; "
                "empty: none",
            ),
            DeclareLaunchArgument(
                "rate", default_value="500.0", description="duties per second, 1/s; 0.0: as the bus allows"
            ),
            Node(
                package="bam_bench",
                executable="feedforward",
                name="feedforward",
                output="screen",
                parameters=[
                    {
                        "port": value("port", str),
                        "baud_rate": value("baud_rate", int),
                        "ids": value("ids", list[int]),
                        "joint_names": value("joints", list[str]),
                        "servos": value("servos", list[str]),
                        "model": value("model", str),
                        "rate": value("rate", float),
                    }
                ],
                on_exit=Shutdown(reason="the feed-forward node has ended"),
            ),
        ]
    )
