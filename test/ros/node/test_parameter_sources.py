# SPDX-License-Identifier: Apache-2.0
"""Which value a parameter has that several sources give: what our launch files rely on, in the real ROS 2."""

from __future__ import annotations

from pathlib import Path

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node

from bam_ros.node.parameters import declare
from bam_ros.recorder.about import ABOUT

WORDS = ["--ros-args", "--log-level", "info", "-p", 'output:="of launch"', "-p", "autostart:=true"]
"""As a launch file starts the recorder: defaults of the launch file come first."""
OTHERS = ["--ros-args", "-r", "__node:=recorder", "-r", "__ns:=/left"]


@pytest.mark.ros
@pytest.mark.parametrize("key", ["/**", "/left/recorder"])
def test_an_argument_comes_before_a_file_and_a_file_before_a_default(
    key: str, tmp_path: Path, ros_domain: int
) -> None:
    file, given = tmp_path / "params_file.yaml", tmp_path / "given.yaml"
    file.write_text(f"{key}: {{ros__parameters: {{output: from_file, driver: from_file}}}}\n")
    given.write_text("/left/recorder: {ros__parameters: {driver: given}}\n")  # as launch_ros writes it
    context = Context()
    words = ["recorder", *WORDS, *OTHERS, "--params-file", str(file), "--params-file", str(given)]
    rclpy.init(args=words, context=context)
    node = Node("recorder", context=context)
    try:
        values = declare(node, ABOUT.parameters)
    finally:
        node.destroy_node()
        context.try_shutdown()
    assert (values["output"], values["driver"]) == ("from_file", "given")
    assert values["autostart"] is True
