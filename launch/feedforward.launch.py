# SPDX-License-Identifier: Apache-2.0
"""Drives servos along trajectories, fed forward in PWM mode: the node `feedforward`.

    ros2 launch bam_bench feedforward.launch.py port:=/dev/ttyUSB0 ids:="[1, 2]" joints:="['hip', 'knee']" \\
        servos:="['identified/m6.yaml']"
    ros2 launch bam_bench feedforward.launch.py driver:=simulator servos:="['identified/m6.yaml']" mass:=1.0
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
                "driver",
                default_value="dynamixel",
                choices=["dynamixel", "simulator"],
                description="dynamixel: servos on a serial port; simulator: simulated ones",
            ),
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
                "found on the bus, simulated: mx106; one entry: for all",
            ),
            DeclareLaunchArgument(
                "model",
                default_value="",
                description="MJCF or URDF file of the robot, for torques that trajectories leave out, and to "
                "simulate; empty: none, simulated: the pendulum bench",
            ),
            DeclareLaunchArgument(
                "mass", default_value="0.5", description="simulated: load of the pendulum bench, kg"
            ),
            DeclareLaunchArgument(
                "length", default_value="0.15", description="simulated: from the axis to that load, m"
            ),
            DeclareLaunchArgument(
                "real_time_factor",
                default_value="1.0",
                description="simulated: seconds per second; 0.0: as fast as possible",
            ),
            DeclareLaunchArgument(
                "publish_clock",
                default_value="false",
                choices=["true", "false"],
                description="simulated: publish /clock and stamp with simulated time, for use_sim_time",
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
                        "driver": value("driver", str),
                        "port": value("port", str),
                        "baud_rate": value("baud_rate", int),
                        "ids": value("ids", list[int]),
                        "joint_names": value("joints", list[str]),
                        "servos": value("servos", list[str]),
                        "model": value("model", str),
                        "rate": value("rate", float),
                        "mass": value("mass", float),
                        "length": value("length", float),
                        "real_time_factor": value("real_time_factor", float),
                        "publish_clock": value("publish_clock", bool),
                    }
                ],
                on_exit=Shutdown(reason="the feed-forward node has ended"),
            ),
        ]
    )
