# SPDX-License-Identifier: Apache-2.0
"""What a robot's servos were told and where they were: a recorded run of a whole robot."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed, Missing, Unreadable, WrongShape

_GOAL, _READ = "goal:", "read:"


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotRun:
    """Goals and positions of all servos over time.

    Attributes:
        joints: names of the joints, in the order of the columns below.
        time: (n,) s, increasing.
        goal_position: (n, joints) rad, each in force from its time on.
        position: (n, joints) rad, measured.

    Raises:
        BamError: shapes disagree, time does not increase, or a value is not finite.
    """

    joints: tuple[str, ...]
    time: Array
    goal_position: Array
    position: Array

    def __post_init__(self) -> None:
        shape = (len(self.time), len(self.joints))
        for name in ("goal_position", "position"):
            values = getattr(self, name)
            if np.shape(values) != shape:
                raise WrongShape(f"robot run, {name}", np.shape(values), f"{shape}, a row per sample")
            if not np.all(np.isfinite(values)):
                row, column = np.argwhere(~np.isfinite(values))[0]
                raise Missing(f"robot run, {name} of '{self.joints[column]}', sample {row}", "a number")
        if len(self.time) < 2 or not np.all(np.diff(self.time) > 0.0):
            raise BadData("robot run, time", "does not increase", advice="sort the samples")

    def until(self, time: float) -> RobotRun:
        """Return the run up to a time, s."""
        kept = self.time <= time
        return RobotRun(
            joints=self.joints,
            time=self.time[kept],
            goal_position=self.goal_position[kept],
            position=self.position[kept],
        )


def read_robot_run(path: str | os.PathLike[str]) -> RobotRun:
    """Read a run from a CSV file with the columns `time` (s), `goal:JOINT` and `read:JOINT` (rad).

    Columns of other names are left out. Joints are those that have both.

    Raises:
        BamError: the file cannot be read, or a column is missing or holds no numbers.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header = next(csv.reader(file), [])
            rows = list(csv.reader(file))
    except OSError as error:
        raise Unreadable(path, error, expected="a CSV file of a robot's run") from None
    except UnicodeDecodeError:
        raise Malformed(path, "is not text", expected="a CSV file of a robot's run") from None
    goals = [name.removeprefix(_GOAL) for name in header if name.startswith(_GOAL)]
    joints = tuple(name for name in goals if _READ + name in header)
    if "time" not in header or not joints:
        raise Malformed(path, "is no run of a robot", expected="columns time, goal:JOINT and read:JOINT")
    try:
        table = np.array(rows, dtype=np.float64)
    except ValueError:
        raise Malformed(path, "holds something else than numbers, or rows of other lengths") from None
    column = {name: table[:, index] for index, name in enumerate(header)}
    try:
        return RobotRun(
            joints=joints,
            time=column["time"],
            goal_position=np.stack([column[_GOAL + name] for name in joints], axis=1),
            position=np.stack([column[_READ + name] for name in joints], axis=1),
        )
    except (BadData, Missing) as error:
        raise error.within(path) from None
