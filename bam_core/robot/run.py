# SPDX-License-Identifier: Apache-2.0
"""A recorded run of a robot: what its servos were told and where they were."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed, Missing, UnknownName, WrongShape
from bam_core.errors.checks import require_positive
from bam_core.recordings.supply import Supply
from bam_core.robot.csv_columns import read_columns
from bam_core.servo.plausible import require_plausible

_TIME, _GOAL, _READ = "time", "goal:", "read:"
_SLOWEST = 0.5  # s between two samples; no servo's motion can be told from fewer
_SETTINGS = ("kp", "vin")  # columns with one value


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotRun:
    """Goals and positions of a robot's servos over time.

    Attributes:
        name: of the recording, such as its file's name without the ending.
        joints: names, in the order of the columns below.
        time: (n,) s, increasing.
        goal_position: (n, joints) rad, each in force from its time on.
        position: (n, joints) rad, measured.
        kp: position gain of all servos, firmware units; None: not known.
        supply_voltage: V; None: not known.
        recorded_voltage: V, what the recording says of it, whoever gave another one; None: nothing.
        interval: (first, last) time that counts, s; None: all of it.

    Raises:
        BamError: shapes disagree, time does not increase, a value is not finite, no sample is within the
            interval, or gain or supply is none of a servo.
    """

    name: str
    joints: tuple[str, ...]
    time: Array
    goal_position: Array
    position: Array
    kp: float | None = None
    supply_voltage: float | None = None
    recorded_voltage: float | None = None
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        shape = (len(self.time), len(self.joints))
        for field in ("goal_position", "position"):
            values = getattr(self, field)
            if np.shape(values) != shape:
                raise WrongShape(f"{self.name}, {field}", np.shape(values), f"{shape}: samples x joints")
            if not np.all(np.isfinite(values)):
                row, column = np.argwhere(~np.isfinite(values))[0]
                raise Missing(f"{self.name}, {field} of '{self.joints[column]}', sample {row}", "a number")
        for name, value in (("kp", self.kp), ("supply_voltage", self.supply_voltage)):
            if value is not None:
                require_positive(f"{self.name},", **{name: value})
                require_plausible(f"{self.name}, {name}", name, value)
        if len(self.time) < 2 or not np.all(np.diff(self.time) > 0.0):
            raise BadData(f"{self.name}, time", "does not increase", advice="sort the samples")
        if (spacing := float(np.median(np.diff(self.time)))) > _SLOWEST:
            raise BadData(
                f"{self.name}, time",
                f"has one sample per {spacing:g} s",
                expected=f"{_SLOWEST:g} s at most; in s, not ms",
                advice="convert it",
            )
        if not self.counts.any():
            first, last = self.interval or (0.0, 0.0)
            raise BadData(
                f"{self.name}, interval {first:g} to {last:g} s",
                "holds no sample",
                expected=f"a part of {self.time[0]:g} to {self.time[-1]:g} s",
                advice="correct it",
            )

    @property
    def supply(self) -> Supply:
        """What was given beside what was recorded."""
        return Supply(
            used=math.nan if self.supply_voltage is None else self.supply_voltage,
            recorded=math.nan if self.recorded_voltage is None else self.recorded_voltage,
        )

    @property
    def sha256(self) -> str:
        """SHA-256 of times, goals and positions, as they were read."""
        digest = hashlib.sha256()
        for values in (self.time, self.goal_position, self.position):
            digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        return digest.hexdigest()

    @property
    def counts(self) -> NDArray[np.bool_]:
        """(n,) which samples count."""
        if self.interval is None:
            return np.ones(len(self.time), dtype=bool)
        first, last = self.interval
        return np.asarray((self.time >= first) & (self.time <= last))

    def column(self, joint: str) -> int:
        """Return the column of a joint; raises UnknownName."""
        if joint not in self.joints:
            raise UnknownName(f"joint of {self.name}", joint, self.joints)
        return self.joints.index(joint)


def read_csv_run(path: str | os.PathLike[str]) -> RobotRun:
    """Read a run from a CSV file.

    Columns: `time` (s), `goal:JOINT` and `read:JOINT` (rad); `kp` and `vin` (V) where it has them. Others are
    passed over. Joints are those that have a goal and a reading.

    Raises:
        BamError: the file cannot be read, a column is missing or holds no numbers, or the gain changes.
    """
    path = Path(path)

    def choose(header: Collection[str]) -> list[str]:
        joints = [name.removeprefix(_GOAL) for name in header if name.startswith(_GOAL)]
        joints = [name for name in joints if _READ + name in header]
        if _TIME not in header or not joints:
            raise Malformed(path, "is no run of a robot", expected="columns time, goal:JOINT and read:JOINT")
        moving = [kind + name for kind in (_GOAL, _READ) for name in joints]
        return [_TIME, *moving, *(name for name in _SETTINGS if name in header)]

    columns = read_columns(path, choose)
    if "kp" in columns and np.ptp(columns["kp"]) > 0.0:
        raise BadData(f"{path}, kp", "changes during the run", advice="split it")

    def setting(name: str) -> float | None:
        return float(columns[name].mean()) if name in columns else None

    joints = tuple(name.removeprefix(_GOAL) for name in columns if name.startswith(_GOAL))
    try:
        return RobotRun(
            name=path.stem,
            joints=joints,
            time=columns[_TIME],
            goal_position=np.column_stack([columns[_GOAL + name] for name in joints]),
            position=np.column_stack([columns[_READ + name] for name in joints]),
            kp=setting("kp"),
            supply_voltage=setting("vin"),
        )
    except (BadData, Missing) as error:
        raise error.within(path) from None
