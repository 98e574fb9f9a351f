# SPDX-License-Identifier: Apache-2.0
"""Files in ROS packages are named as URDF names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.errors import Unreadable
from bam_ros.node.model_file import model_file


@pytest.mark.parametrize("name", ["", "robot.xml", "/etc/robot.xml"])
def test_a_path_stays_as_it_is(name: str) -> None:
    assert model_file(name) == name


def test_a_file_of_a_package_is_found_where_ros_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = tmp_path / "share" / "my_robot" / "urdf" / "arm.urdf"
    robot.parent.mkdir(parents=True)
    robot.write_text("<robot/>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert model_file("package://my_robot/urdf/arm.urdf") == str(robot)


@pytest.mark.parametrize(
    "name", ["package://nobodys_robot/arm.urdf", "package://", "package://bam_bench/../../etc/passwd"]
)
def test_a_file_of_no_package_is_refused(name: str) -> None:
    with pytest.raises(Unreadable) as caught:
        model_file(name)
    assert caught.value.path == name
