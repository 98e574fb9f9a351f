# SPDX-License-Identifier: Apache-2.0
"""What a directory of results holds, as values; a number that nobody knows is NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.servo.effects import BenchEffects
from bam_core.servo.model import ServoModel, fitted_parameters
from bam_core.text.error_findings import FEWEST_LOGS
from bam_core.text.report_findings import NoTrajectories
from bam_core.text.verdict_words import headline


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How well the data know one parameter, in its SI unit.

    Attributes:
        low: lower end of the 95 % interval; NaN where there is none.
        high: its upper end.
        identifiable: the data determine it.
        trades_with: parameters that can make up for it.
        remark: why it is not identifiable and what would help, or nothing.
        remark_kind: of `uncertainty_findings.ParameterRemark`; empty where there is none.
    """

    low: float
    high: float
    identifiable: bool
    trades_with: tuple[str, ...]
    remark: str
    remark_kind: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Uncertainty:
    """Estimates of one model's parameters by name, and how they hang together.

    Attributes:
        method: how they were found, in words.
        estimates: by parameter.
        names: of the correlation's rows and columns; empty where there is none.
        correlation: (n, n), -1 to 1; NaN where unknown.
    """

    method: str
    estimates: Mapping[str, Estimate]
    names: tuple[str, ...]
    correlation: Array


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether to use the chosen model, for what, and how far off it will be.

    Attributes:
        kind: "green", "yellow" or "red".
        sentence: the answer.
        rule: how the kind follows from the findings.
        reasons: all reservations, in words; empty of a green verdict.
        findings: what stands beside it, in words.
    """

    kind: str
    sentence: str
    rule: str
    reasons: tuple[str, ...]
    findings: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The colour with its word."""
        return headline(self.kind)


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """What a model leaves over of its training logs.

    Attributes:
        floor_sentence: the training error beside what measurement alone would leave.
        findings: (kind, sentence), the first takes most; empty of a model that lacks nothing.
        shares: of the misfit, by kind of cause, in data left out of its fit.
    """

    floor_sentence: str
    findings: tuple[tuple[str, str], ...]
    shares: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class ModelResult:
    """One friction model as it was fitted.

    Attributes:
        servo: with the parameters found.
        bench_effects: found of the bench of the recordings.
        train_mae: mean absolute position error on the training logs, rad.
        selection_mae: the same of logs that models and effects were chosen by, of fits that did without
            them, rad.
        test_mae: the same of logs that no fit and no choice has seen, rad.
        test_interval: its 95 % interval over logs, rad.
        test_short: the same where simulations restart from measured states every 0.25 s, rad; NaN where that
            is unknown.
        test_longer: likewise every 1 s.
        per_log: error of every log, rad.
        at_bound: parameters that the end of their search range has stopped.
        ended_early: the search did not converge, which may change errors; not where that is unknown.
        spent: its trials were; so where that is unknown.
        trials: simulations of all training logs.
        seconds: that the fit took.
        uncertainty: where it was estimated.
        verdict: what the choice of a model has for this one.
        misfit: where it was looked into.
    """

    servo: ServoModel
    bench_effects: BenchEffects
    train_mae: float
    selection_mae: float
    test_mae: float
    test_interval: tuple[float, float]
    per_log: Mapping[str, float]
    at_bound: tuple[str, ...]
    ended_early: bool
    spent: bool
    trials: float
    seconds: float
    uncertainty: Uncertainty | None
    verdict: str
    misfit: Misfit | None = None
    test_short: float = math.nan
    test_longer: float = math.nan

    @property
    def name(self) -> str:
        """Name of the friction model, such as "m4"."""
        return self.servo.friction_model

    @property
    def parameters(self) -> dict[str, float]:
        """What was fitted, of servo and bench, by name, SI."""
        return fitted_parameters(self.servo, self.bench_effects)


@dataclass(frozen=True, kw_only=True)
class EffectResult:
    """What one effect beyond motor and friction bought; errors in rad.

    `chance` is the standard error of the difference of both errors in selection, rad; 0 where unknown.
    """

    name: str
    unit: str = ""
    value: float = math.nan
    train_mae_without: float = math.nan
    train_mae: float = math.nan
    selection_mae_without: float = math.nan
    selection_mae: float = math.nan
    chance: float = 0.0
    kept: bool = False
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class LogRun:
    """What was run in one log (NaN or empty where that is not known), SI units.

    Of a run in open loop, `inertia` [kg·m²] is what it carried beside a pendulum.
    """

    script: str = ""
    kp: float = np.nan
    mass: float = np.nan
    arm_mass: float = np.nan
    length: float = np.nan
    supply_voltage: float = np.nan
    sha256: str = ""
    open_loop: bool = False
    inertia: float = 0.0


@dataclass(frozen=True, kw_only=True)
class LogInfo(LogRun):
    """One log: in which set it was, "training" or "test", and what was run.

    `left_out` are readings that cannot be right, `corrections` header fields set from outside, both in words.
    """

    name: str
    set: str
    left_out: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Trajectory:
    """One log's curves, thinned.

    Attributes:
        time: (n,) s.
        measured: (n,) rad.
        goal: (n,) rad.
        torque: (n,) torque on; None where unknown.
        simulated: model -> (n,) rad.
        bands: model -> lower and upper end of its 90 % band, (n,) rad each, where its predictive distribution
            is known.
        channels: other quantities that were measured -> (n,), NaN where they were not.
    """

    time: Array
    measured: Array
    goal: Array
    torque: NDArray[np.bool_] | None
    simulated: Mapping[str, Array]
    bands: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    channels: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Results:
    """Everything about one identification.

    Attributes:
        directory: where it lies.
        models: by name, in the order of the summary.
        chosen: name of the model to use.
        reason: why that one.
        verdict: whether to use it; None where that is unknown.
        effects: what each bought; None where that is unknown.
        logs: by name, training first.
        rule: how test logs were chosen.
        seed: of search and split; NaN where unknown.
        test_of_seeds: test error of the model that each seed chose, rad; empty of one seed.
        software: that made it.
        date: when, ISO 8601.
        trajectories: by log; empty where the directory has none.
        restarted_every: "train" and "test" -> how often simulations restart from measured states, s, as those
            of runs in open loop do; NaN: never, or unknown.
        without_trajectories: why there are none; None where there are some.
    """

    directory: Path
    models: Mapping[str, ModelResult]
    chosen: str
    reason: str
    effects: tuple[EffectResult, ...] | None
    logs: Mapping[str, LogInfo]
    rule: str
    seed: float
    software: str
    date: str
    verdict: Verdict | None = None
    test_of_seeds: tuple[float, ...] = ()
    trajectories: Mapping[str, Trajectory] = field(default_factory=dict)
    restarted_every: Mapping[str, float] = field(default_factory=dict)
    without_trajectories: NoTrajectories | None = None

    @property
    def chosen_first(self) -> tuple[str, ...]:
        """Names of all models: the chosen one, then the others in their order."""
        return tuple(dict.fromkeys((self.chosen, *self.models)))

    @property
    def test_logs(self) -> int:
        """How many logs took no part."""
        return sum(log.set == "test" for log in self.logs.values())

    @property
    def has_few_tests(self) -> bool:
        """Whether too few logs took no part for an interval over them."""
        return 0 < self.test_logs < FEWEST_LOGS

    @property
    def found_in_logs(self) -> list[LogInfo]:
        """Logs with readings left out, and after them those with header fields that were set from outside."""
        logs = [log for log in self.logs.values() if log.left_out or log.corrections]
        return sorted(logs, key=lambda log: not log.left_out)

    @property
    def loop(self) -> str:
        """How positions were simulated, in words."""
        kinds = {log.open_loop for log in self.logs.values()}
        if len(kinds) > 1:
            return "in closed loop, or in open loop where no controller ran"
        return "in open loop" if True in kinds else "in closed loop"

    @property
    def restart(self) -> float:
        """How often all simulations restart, s; NaN where some never do."""
        every = [self.restarted_every.get("train", math.nan)]
        if self.test_logs:
            every.append(self.restarted_every.get("test", math.nan))
        return every[0] if len(set(every)) == 1 else math.nan

    @property
    def best(self) -> ModelResult:
        """The chosen model."""
        return self.models[self.chosen]
