# SPDX-License-Identifier: Apache-2.0
"""What a directory of `bam robot identify` holds, as values; a number that nobody knows is NaN."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import numpy as np

from bam_core.recordings.supply import Supply
from bam_core.report.results import Trajectory, Verdict
from bam_core.servo.gains import gain_from_text, gain_of, gain_text
from bam_core.servo.model import ServoModel
from bam_core.text.report_findings import NoTrajectories

BEFORE = "before"
"""The name, among those of models, of the simulation with the servos given."""


@dataclass(frozen=True, kw_only=True)
class RobotEstimate:
    """One unknown, SI.

    Attributes:
        value: after the fit.
        begin: before it.
        low: lower end of the 95 % interval.
        high: upper end.
        told: the runs determine it on its own; where not, it may have moved along with others.
    """

    value: float
    begin: float = np.nan
    low: float
    high: float
    told: bool = False


@dataclass(frozen=True, kw_only=True)
class JointErrors:
    """Mean absolute errors, rad: run -> joint -> over its samples."""

    of: Mapping[str, Mapping[str, float]]

    def mean(self, runs: Iterable[str], joints: Iterable[str]) -> float:
        """Return the mean over runs and joints; NaN of none."""
        chosen = list(joints)
        values = [self.of[run][joint] for run in runs for joint in chosen]
        return fmean(values) if values else np.nan


@dataclass(frozen=True, kw_only=True)
class RobotModel:
    """One friction model.

    Attributes:
        name: such as "m6".
        servos: type -> its servo.
        after: errors of the whole robot, simulated with what was identified.
        one_joint: the same, one joint at a time, the others moved as measured.
        parameters: type -> parameter -> what is known of it.
        deviations: the same of the robot, by names such as "delay", "zero elbow", "centre trunk x".
        coverage: test run -> share of its samples within the 90 % band; empty where there are no bands.
    """

    name: str
    servos: Mapping[str, ServoModel]
    after: JointErrors
    one_joint: JointErrors
    parameters: Mapping[str, Mapping[str, RobotEstimate]]
    deviations: Mapping[str, RobotEstimate]
    coverage: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RobotRunInfo:
    """One run; SI.

    Attributes:
        name: of the recording.
        is_test: no fit has seen it.
        kp: gain, firmware units, as an option has it; empty: not known.
        kd: likewise.
        ki: likewise.
        supply: as used, and as recorded.
        goal_distance: mean distance of joints from their goals, rad.
    """

    name: str
    is_test: bool
    kp: str
    supply: Supply
    goal_distance: float
    kd: str = ""
    ki: str = ""

    def gain(self, joint: str) -> str:
        """Return the gain of one joint in words; empty: not known."""
        gain = gain_of(gain_from_text("kp", self.kp), joint) if self.kp else None
        return "" if gain is None else gain_text(gain)


@dataclass(frozen=True, kw_only=True)
class RobotResults:
    """Everything about one identification on a robot.

    Attributes:
        directory: where it lies.
        robot: name of its description.
        root: what its base does.
        software: that made it.
        date: when, ISO 8601.
        joints: that count -> type of their servo.
        runs: by name, those that were fitted first.
        before: errors with the servos given.
        models: by name.
        curves: run -> joint -> its curves; the models of these are BEFORE and those identified.
        without_curves: why there are none; None where there are some.
        verdict: whether to use the servos; None of earlier versions.
    """

    directory: Path
    robot: str
    root: str
    software: str
    date: str
    joints: Mapping[str, str]
    runs: Mapping[str, RobotRunInfo]
    before: JointErrors
    models: Mapping[str, RobotModel]
    curves: Mapping[str, Mapping[str, Trajectory]]
    without_curves: NoTrajectories | None
    verdict: Verdict | None = None

    @property
    def train(self) -> list[str]:
        """Names of the runs that were fitted."""
        return [run.name for run in self.runs.values() if not run.is_test]

    @property
    def test(self) -> list[str]:
        """Names of those that no fit has seen."""
        return [run.name for run in self.runs.values() if run.is_test]

    @property
    def first(self) -> RobotModel:
        """The model with the least error on the runs that were fitted: test runs choose nothing."""
        return min(self.models.values(), key=lambda model: model.after.mean(self.train, self.joints))

    @property
    def titles(self) -> dict[str, str]:
        """Name of a simulation -> what the page calls it."""
        return {BEFORE: "Before", **{name: name.upper() for name in self.models}}
