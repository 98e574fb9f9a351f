# SPDX-License-Identifier: Apache-2.0
"""A missing Python module in words: each has its own cure."""

from __future__ import annotations

import sys

import pytest

from bam_ros.text.missing_module import missing_module

_PIP = f"run `make setup` in bam_bench, which builds with all of them, or {sys.executable} -m pip install"
_ROS = "source ROS 2, and install this package's dependencies: rosdep install --from-paths ."


@pytest.mark.parametrize(
    ("module", "cure"),
    [
        ("mcap", f"{_PIP} mcap"),
        ("serial", f"{_PIP} pyserial"),
        ("yaml", f"{_PIP} PyYAML"),
        ("rclpy", _ROS),
        ("sensor_msgs", _ROS),
        ("rcl_interfaces", _ROS),
        ("std_srvs", _ROS),
        ("bam_bench", "source install/setup.bash of the workspace that built it"),
    ],
)
def test_a_missing_module_has_the_cure_of_where_it_comes_from(module: str, cure: str) -> None:
    assert missing_module("recorder", module) == (
        f"recorder: Python module '{module}' is not installed for {sys.executable}; {cure}"
    )
