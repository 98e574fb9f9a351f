# SPDX-License-Identifier: Apache-2.0
"""Starts the identification node, which serves the action `identify` and the service `identify_model`.

ros2 launch bam_bench identify.launch.py data_directory:=/path/to/recordings
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.action import Action

from bam_ros.launching.argument import Argument
from bam_ros.launching.launch_values import LaunchValues, PlannedNode, describe_launch

ARGUMENTS = (
    Argument(
        name="data_directory",
        default=".",
        description="recordings and results lie below it; goals cannot reach elsewhere",
    ),
    Argument(
        name="effects",
        default=[""],
        description="what goals that name no effects fit besides motor and friction, separated by "
        "commas, or none; empty: what the servo's file names and logs left out of training ask for",
    ),
    Argument(
        name="tolerances",
        default=[""],
        description="how far the bench may be off its headers, separated by commas: mass=0.03,length=0.002;"
        " what is not named has the default of bam identify",
    ),
)


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return describe_launch(ARGUMENTS, nodes)


def nodes(values: LaunchValues) -> list[Action]:
    """Describe the node."""
    parameters = values.parameters("data_directory", "effects", "tolerances")
    plan = PlannedNode(executable="identification", parameters=parameters, title="the identification node")
    return [values.node(plan)]
