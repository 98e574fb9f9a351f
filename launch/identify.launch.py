# SPDX-License-Identifier: Apache-2.0
"""Starts the identification node, which serves the action `identify` and the service `identify_model`.

ros2 launch bam_bench identify.launch.py data_directory:=/path/to/recordings
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "data_directory",
                default_value=".",
                description="recordings and results lie below it; goals cannot reach elsewhere",
            ),
            DeclareLaunchArgument(
                "effects",
                default_value="",
                description="what goals that name no effects fit besides motor and friction, separated by "
                "commas, or none; empty: what the servo's file names and logs left out of training ask for",
            ),
            Node(
                package="bam_bench",
                executable="identification",
                name="identification",
                output="screen",
                parameters=[
                    {
                        name: ParameterValue(LaunchConfiguration(name), value_type=str)
                        for name in ("data_directory", "effects")
                    }
                ],
                on_exit=Shutdown(reason="the identification node has ended"),
            ),
        ]
    )
