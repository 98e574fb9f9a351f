# SPDX-License-Identifier: Apache-2.0
"""Joints and contacts of a robot over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, Conflict, Missing, UnknownName, WrongShape
from bam_core.whole_body.robot import WholeBody

_GAP = 1.5  # periods without a sample: one was lost


@dataclass(frozen=True, kw_only=True)
class JointLog:
    """Positions, torques and contacts of a robot, sampled at an even rate; samples may be missing.

    Attributes:
        names: of the joints.
        time: (n,) s, increasing.
        position: (n, joints) rad.
        effort: torque behind the gear, (n, joints) N·m; those of held joints may be NaN.
        contacts: by contact, whether it stands, (n,) bool.

    Raises:
        BamError: shapes disagree, there are too few samples, a joint is there twice, or values are missing.
    """

    names: tuple[str, ...]
    time: Array
    position: Array
    effort: Array
    contacts: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        for name in ("time", "position", "effort"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        count = len(self.time)
        if count < 3:
            raise BadData(
                "joint log", f"has {count} samples", expected="three at least", advice="record longer"
            )
        for what, values in (("position", self.position), ("effort", self.effort)):
            if np.size(values) == 0:
                raise Missing(f"joint log, {what}", "one per joint and sample", advice="record it")
            if np.shape(values) != (count, len(self.names)):
                raise WrongShape(
                    f"joint log, {what}, shape",
                    np.shape(values),
                    f"{(count, len(self.names))}, one row per sample and one column per joint",
                )
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise Conflict("joint log", f"joint '{twice[0]}' is there twice", expected="each once")
        for name, flags in self.contacts.items():
            if np.shape(flags) != (count,):
                raise WrongShape(
                    f"joint log, contact '{name}', shape", np.shape(flags), f"{(count,)}, one flag per sample"
                )
        if not np.all(np.diff(self.time) > 0.0):
            last = int(np.argmin(np.diff(self.time)))
            raise BadData(
                "joint log, time",
                f"does not increase at sample {last + 1} ({self.time[last + 1]:.6f} s after "
                f"{self.time[last]:.6f} s)",
                advice="sort the samples",
            )
        if not np.all(np.isfinite(self.position)):
            row, column = np.argwhere(~np.isfinite(self.position))[0]
            raise Missing(
                f"joint log, position of '{self.names[column]}' at {self.time[row]:.4f} s",
                "a number in every sample",
                advice="leave such samples out",
            )

    def __len__(self) -> int:
        return len(self.time)

    @property
    def dt(self) -> float:
        """Median sampling period, s."""
        return float(np.median(np.diff(self.time)))

    @property
    def unevenness(self) -> float:
        """How far samples are from an even rate, RMS, as a share of the period; gaps aside."""
        steps = np.diff(self.time) / self.dt
        return float(np.std(steps[steps < _GAP]) / np.sqrt(2.0))

    @property
    def stretches(self) -> tuple[slice, ...]:
        """The runs of samples between which one or more were lost."""
        breaks = np.flatnonzero(np.diff(self.time) > _GAP * self.dt) + 1
        edges = [0, *breaks.tolist(), len(self)]
        return tuple(slice(start, end) for start, end in pairwise(edges))

    @property
    def lost(self) -> int:
        """How many samples are missing, by the time between those that are there."""
        gaps = np.diff(self.time) / self.dt
        return int(np.sum(np.round(gaps[gaps > _GAP]) - 1))

    def arranged(self, robot: WholeBody) -> JointLog:
        """Return the log with the robot's joints, in its order.

        Raises:
            BamError: a joint is missing or unknown, the effort of a driven joint is missing, or contacts that
                a free base needs are.
        """
        for name in self.names:
            if name not in robot.names:
                raise UnknownName("joint", name, robot.names)
        for name in robot.names:
            if name not in self.names:
                raise Missing(
                    f"joint '{name}' in the joint log",
                    f"all of the robot's; there are {', '.join(self.names)}",
                    advice="record it",
                )
        for name in self.contacts:
            robot.site(name)
        missing = [name for name in robot.contacts if name not in self.contacts]
        if missing:
            raise Missing(
                f"contact '{missing[0]}' in the joint log",
                "a flag per sample for whether it stands",
                advice="record it",
            )
        columns = [self.names.index(name) for name in robot.names]
        effort = self.effort[:, columns]
        for column in robot.torque_columns:
            absent = ~np.isfinite(effort[:, column])
            if absent.any():
                raise BadData(
                    f"joint log, effort of '{robot.names[column]}'",
                    f"is missing in {int(absent.sum())} of {len(self)} samples",
                    expected="its torque in N·m",
                    advice="record it, or declare the joint held",
                )
        return JointLog(
            names=robot.names,
            time=self.time,
            position=self.position[:, columns],
            effort=effort,
            contacts={name: np.asarray(self.contacts[name], dtype=bool) for name in robot.contacts},
        )
