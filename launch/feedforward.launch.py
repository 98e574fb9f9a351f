# SPDX-License-Identifier: Apache-2.0
"""Drives servos along trajectories, fed forward in PWM mode: the node `feedforward`.

    ros2 launch bam_bench feedforward.launch.py port:=/dev/ttyUSB0 ids:=1,2 joints:=hip,knee \\
        servos:=identified/m6.yaml
    ros2 launch bam_bench feedforward.launch.py driver:=simulator servos:=identified/m6.yaml mass:=1.0
"""

from __future__ import annotations

import math

from launch import LaunchDescription
from launch.action import Action

from bam_ros.launching.argument import Argument
from bam_ros.launching.launch_values import LaunchValues, PlannedNode, describe_launch

ARGUMENTS = (
    Argument(
        name="driver",
        default="dynamixel",
        choices=("dynamixel", "simulator"),
        description="dynamixel: servos on a serial port; simulator: simulated ones",
    ),
    Argument(
        name="port",
        default="",
        description="serial device of the servos, such as /dev/ttyUSB0; empty: the only one there is",
    ),
    Argument(name="baud_rate", default=0, description="bit/s that is tried first; 0: find it"),
    Argument(name="ids", default=[1], description="bus id of each joint, separated by commas"),
    Argument(name="joints", default=["joint"], description="name of each joint, separated by commas"),
    Argument(
        name="servos",
        default=[""],
        description="servo of each joint, separated by commas: names from `bam servos` or YAML files; empty:"
        " what is found on the bus, simulated: mx106; one entry: for all",
    ),
    Argument(
        name="model",
        default="",
        description="MJCF or URDF file of the robot, for torques that trajectories leave out, and to "
        "simulate; empty: none, simulated: the pendulum bench",
    ),
    Argument(name="mass", default=0.5, description="simulated: load of the pendulum bench, kg"),
    Argument(name="length", default=0.15, description="simulated: from the axis to that load, m"),
    Argument(
        name="real_time_factor",
        default=1.0,
        description="simulated: seconds per second; 0.0: as fast as possible",
    ),
    Argument(
        name="publish_clock",
        default=False,
        choices=("true", "false"),
        description="simulated: publish /clock and stamp with simulated time, for use_sim_time",
    ),
    Argument(
        name="wait_for_device",
        default=math.inf,
        description="how long the node waits at its start for port, power and servos, s; inf: any time;"
        " 0.0: not at all",
    ),
    Argument(name="rate", default=500.0, description="duties per second, 1/s; 0.0: as the bus allows"),
)


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return describe_launch(ARGUMENTS, nodes)


def nodes(values: LaunchValues) -> list[Action]:
    """Describe the node."""
    same = [argument.name for argument in ARGUMENTS if argument.name != "joints"]
    parameters = values.parameters(*same, joint_names="joints")
    plan = PlannedNode(
        executable="feedforward",
        parameters=parameters,
        defaults={"wait_for_device": values["wait_for_device"]},
        title="the feed-forward node",
    )
    return [values.node(plan)]
