# SPDX-License-Identifier: Apache-2.0
"""Runs `bam demo`: a virtual servo is recorded over its bus, identified and simulated, in under five minutes.
Its nodes are alone in a ROS domain of their own, so it has no arguments of theirs such as `namespace`.

ros2 launch bam_bench demo.launch.py output:=demo_output
ros2 launch bam_bench demo.launch.py servo:=erob80_100 output:=demo_erob_output
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.substitutions import ExecutableInPackage


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "output",
                default_value="demo_output",
                description="directory for bags, servo files, plots and summary.json",
            ),
            DeclareLaunchArgument(
                "servo",
                default_value="mx106",
                choices=["mx106", "erob80_100"],
                description="mx106 on a serial bus, or erob80_100 on EtherCAT (needs root)",
            ),
            DeclareLaunchArgument(
                "seed", default_value="1", description="which servo is hidden, a whole number"
            ),
            ExecuteProcess(
                cmd=[
                    ExecutableInPackage("bam", "bam_bench"),
                    "demo",
                    "--servo",
                    LaunchConfiguration("servo"),
                    "--output",
                    LaunchConfiguration("output"),
                    "--seed",
                    LaunchConfiguration("seed"),
                ],
                name="bam_demo",
                output="screen",
                on_exit=Shutdown(reason="the demo has ended"),
            ),
        ]
    )
