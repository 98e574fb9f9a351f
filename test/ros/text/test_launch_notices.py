# SPDX-License-Identifier: Apache-2.0
"""Why a launch file shows no robot, in words."""

from __future__ import annotations

from bam_ros.text.launch_notices import NoPythonModule, NoRviz, NoUrdf, RequiredNodeFailed


def test_missing_packages_have_the_names_to_install() -> None:
    assert str(NoRviz(packages=("robot_state_publisher", "rviz2"))) == (
        "rviz: no package robot_state_publisher, rviz2; the robot moves unseen; "
        "apt install ros-$ROS_DISTRO-robot-state-publisher ros-$ROS_DISTRO-rviz2"
    )


def test_a_missing_module_is_that_of_the_python_of_ros() -> None:
    assert str(NoPythonModule(module="mujoco")) == (
        "rviz: the Python of this launch has no module mujoco, which draws the bench; the robot moves unseen;"
        " pip install mujoco, or give model:=ROBOT.urdf"
    )


def test_an_mjcf_without_urdf_is_named() -> None:
    assert str(NoUrdf(model="robot.xml")) == (
        "rviz: robot.xml has no .urdf beside it (RViz reads no MJCF); add one"
    )


def test_a_required_node_that_failed_is_named_with_its_status() -> None:
    assert str(RequiredNodeFailed(title="the driver", status=2)) == (
        "the driver has ended with exit status 2, so the launch ends; see its last line"
    )
