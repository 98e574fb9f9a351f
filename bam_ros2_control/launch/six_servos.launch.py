# SPDX-License-Identifier: Apache-2.0
"""Six Dynamixel servos under joint_trajectory_controller: `port:=` of the servos, `ids:=` on it."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

SHARE = Path(get_package_share_directory("bam_ros2_control"))
JOINTS = [f"joint{number}" for number in range(1, 7)]
CONTROLLERS = ("joint_state_broadcaster", "joint_trajectory_controller")


def generate_launch_description() -> LaunchDescription:
    """Start driver, controller manager and controllers; the driver decides about limits and timeouts."""
    description = {"robot_description": (SHARE / "urdf" / "six_servos.urdf").read_text(encoding="utf-8")}
    driver = {
        "port": ParameterValue(LaunchConfiguration("port"), value_type=str),
        "ids": ParameterValue(PythonExpression(["[", LaunchConfiguration("ids"), "]"])),
        "joint_names": JOINTS,
        "shared_memory": "six_servos",
        "command_timeout": 0.1,
    }
    return LaunchDescription(
        [
            DeclareLaunchArgument("port", default_value="", description="serial port; empty: the only one"),
            DeclareLaunchArgument("ids", default_value="1, 2, 3, 4, 5, 6", description="bus ids"),
            Node(package="bam_bench", executable="dynamixel", parameters=[driver], output="screen"),
            Node(
                package="robot_state_publisher", executable="robot_state_publisher", parameters=[description]
            ),
            Node(
                package="controller_manager",
                executable="ros2_control_node",
                parameters=[str(SHARE / "config" / "six_servos.yaml")],
                output="screen",
            ),
            Node(package="controller_manager", executable="spawner", arguments=list(CONTROLLERS)),
        ]
    )
