# SPDX-License-Identifier: Apache-2.0
"""A motion for a robot: goals of its joints, from a start at rest to the same posture at rest.

As a file it is CSV with the columns `time` (s), `goal:JOINT` (rad) and `kp`, for anybody to read and plot.
Other gains have the columns `kd` and `ki`. Those of one joint are `kp:JOINT` and the like.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, BamError, Malformed, Missing, WrongShape
from bam_core.files.atomic_file import write_text
from bam_core.robot.csv_columns import read_columns
from bam_core.robot.run import RobotRun
from bam_core.servo.gains import Gain, gain_of, over, require_gain

_GOAL, _TIME = "goal:", "time"
_GAINS = ("kp", "kd", "ki")
_START = 1e-9  # s; times begin at zero


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotMotion:
    """Goals of a robot's joints over time.

    Attributes:
        joints: names, in the order of the columns.
        time: (n,) s, increasing from 0.
        goal_position: (n, joints) rad.
        kp: position gain of all servos, or joint -> gain, for which the motion was made, firmware units.
        kd: derivative gain, likewise.
        ki: integral gain, likewise.

    Raises:
        BamError: shapes disagree, time does not increase from zero, or a value is not finite.
    """

    joints: tuple[str, ...]
    time: Array
    goal_position: Array
    kp: Gain
    kd: Gain = 0.0
    ki: Gain = 0.0

    def __post_init__(self) -> None:
        shape = (len(self.time), len(self.joints))
        if np.shape(self.goal_position) != shape:
            raise WrongShape("goals", np.shape(self.goal_position), f"{shape}: samples x joints")
        if not np.all(np.isfinite(self.goal_position)):
            row, column = np.argwhere(~np.isfinite(self.goal_position))[0]
            raise Missing(f"goal of '{self.joints[column]}', sample {row}", "a number")
        if not self.joints or len(self.time) < 2:
            raise BadData("motion", "has no joints or no samples", advice="design one")
        if not np.all(np.diff(self.time) > 0.0) or abs(self.time[0]) > _START:
            raise BadData("time", "does not increase from 0", advice="sort the samples")
        for name in _GAINS:
            require_gain(name, getattr(self, name), name)
        for joint in self.joints:
            if gain_of(self.kp, joint) is None:
                raise Missing(f"kp of '{joint}'", "a positive number")

    @property
    def duration(self) -> float:
        """Seconds from first to last goal."""
        return float(self.time[-1])

    @property
    def speed(self) -> Array:
        """(joints,) fastest change of each goal, rad/s."""
        return np.asarray(
            (np.abs(np.diff(self.goal_position, axis=0)) / np.diff(self.time)[:, None]).max(axis=0)
        )

    def with_gains(self, gains: Mapping[str, Gain | None]) -> RobotMotion:
        """Return the motion with other gains.

        Args:
            gains: "kp", "kd" or "ki" -> gain of all joints, or of some; None: those of the motion.

        Raises:
            BamError: a name is of no joint of the motion, or no servo has such a gain.
        """
        kp, kd, ki = (
            over(getattr(self, name), gains.get(name), self.joints, "the motion") or 0.0 for name in _GAINS
        )
        return replace(self, kp=kp, kd=kd, ki=ki)

    def goals_at(self, moment: float) -> Array:
        """Return (joints,) rad, on straight lines between samples; the first or last goal outside."""
        return np.array([np.interp(moment, self.time, goals) for goals in self.goal_position.T])

    def as_run(self, name: str, supply_voltage: float | None = None) -> RobotRun:
        """Return a run for simulations, which begins where the motion does; no position is measured."""
        return RobotRun(
            name=name,
            joints=self.joints,
            time=self.time,
            goal_position=self.goal_position,
            position=np.repeat(self.goal_position[:1], len(self.time), axis=0),
            kp=self.kp,
            kd=self.kd,
            ki=self.ki,
            supply_voltage=supply_voltage,
        )


def write_motion(motion: RobotMotion, path: str | os.PathLike[str]) -> None:
    """Write a CSV file; raises NotWritable."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    gains: dict[str, float] = {}
    for name in _GAINS:
        gain: Gain = getattr(motion, name)
        if isinstance(gain, Mapping):
            gains |= {f"{name}:{joint}": gain_of(gain, joint) or 0.0 for joint in motion.joints}
        elif gain != 0.0:
            gains[name] = gain
    writer.writerow([_TIME, *(_GOAL + joint for joint in motion.joints), *gains])
    columns = [f"{gain:g}" for gain in gains.values()]
    for moment, goals in zip(motion.time, motion.goal_position, strict=True):
        writer.writerow([f"{moment:.4f}", *(f"{goal:.5f}" for goal in goals), *columns])
    write_text(path, text.getvalue())


def read_motion(path: str | os.PathLike[str], kp: Gain | None = None) -> RobotMotion:
    """Read a CSV file; a recording that has these columns may be played again.

    Columns: `time`, `goal:JOINT`, and `kp` or `kp:JOINT`; `kd` and `ki` likewise, which are else 0.

    Args:
        path: of the file.
        kp: position gain that overrides the file's, firmware units; the file needs none then.

    Raises:
        BamError: the file cannot be read, a column is missing or holds no numbers, or the gain changes.
    """
    path = Path(path)

    def choose(header: Collection[str]) -> list[str]:
        goals = [name for name in header if name.startswith(_GOAL)]
        joints = [name.removeprefix(_GOAL) for name in goals]
        columns = [column for name in _GAINS for column in (name, *(f"{name}:{joint}" for joint in joints))]
        gains = [column for column in columns if column in header]
        if _TIME not in header or not (gains or kp) or not goals:
            raise Malformed(path, "is no motion", expected="columns time, goal:JOINT and kp")
        return [_TIME, *gains, *goals]

    columns = read_columns(path, choose)
    time = columns.pop(_TIME)
    joints = tuple(name.removeprefix(_GOAL) for name in columns if name.startswith(_GOAL))
    gains = {name: columns.pop(name) for name in list(columns) if not name.startswith(_GOAL)}
    for name, values in gains.items():
        if np.ptp(values) > 0.0:
            raise BadData(f"{path}, {name}", "changes during the motion", advice="split it")
    try:
        own_kp, kd, ki = (_gain(gains, name, joints) for name in _GAINS)
        kp = over(own_kp, kp, joints, "the motion")
        if kp is None:
            raise Missing("kp", "a positive number")
        return RobotMotion(
            joints=joints,
            time=time - time[0],
            goal_position=np.column_stack(list(columns.values())),
            kp=kp,
            kd=over(0.0, kd, joints, "the motion") or 0.0,
            ki=over(0.0, ki, joints, "the motion") or 0.0,
        )
    except BamError as error:
        raise error.within(path) from None


def _gain(columns: Mapping[str, Array], name: str, joints: Collection[str]) -> Gain | None:
    """Return the gains of joints in the columns NAME and NAME:JOINT; None: there are none."""
    base = float(columns[name][0]) if name in columns else None
    own = {joint: float(columns[f"{name}:{joint}"][0]) for joint in joints if f"{name}:{joint}" in columns}
    return over(base, own, joints, "the motion")
