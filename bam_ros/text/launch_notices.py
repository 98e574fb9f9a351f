# SPDX-License-Identifier: Apache-2.0
"""Why a launch file shows no robot in RViz, and why a launch has ended."""

from __future__ import annotations

from dataclasses import dataclass

from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class NoRviz(Notice):
    """`packages` of ROS 2 that are not installed."""

    packages: tuple[str, ...]

    def __str__(self) -> str:
        names = " ".join(f"ros-$ROS_DISTRO-{name.replace('_', '-')}" for name in self.packages)
        return f"rviz: no package {', '.join(self.packages)}; the robot moves unseen; apt install {names}"


@dataclass(frozen=True, kw_only=True)
class NoPythonModule(Notice):
    """`module` that the Python of a launch lacks, which draws the bench."""

    module: str

    def __str__(self) -> str:
        return (
            f"rviz: the Python of this launch has no module {self.module}, which draws the bench; the robot"
            f" moves unseen; pip install {self.module}, or give model:=ROBOT.urdf"
        )


@dataclass(frozen=True, kw_only=True)
class NoUrdf(Notice):
    """`model`, an MJCF without a URDF beside it."""

    model: str

    def __str__(self) -> str:
        return f"rviz: {self.model} has no .urdf beside it (RViz reads no MJCF); add one"


@dataclass(frozen=True, kw_only=True)
class RequiredNodeFailed(Notice):
    """A process ended that the launch cannot do without.

    Attributes:
        title: such as "the driver".
        status: its exit status.
    """

    title: str
    status: int

    def __str__(self) -> str:
        return f"{self.title} has ended with exit status {self.status}, so the launch ends; see its last line"
