# SPDX-License-Identifier: Apache-2.0
"""`summary.json` of an identification: the fields that a report reads, with their defaults where it has none.

Further fields are ignored, so that a report can be made of what another version wrote.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NewType, TypeVar

from bam_core.errors import Malformed, Unreadable
from bam_core.files.field_errors import UnsuitableError
from bam_core.files.json_file import read_json
from bam_core.files.typed import TypedReader
from bam_core.report.results import EffectResult, LogRun
from bam_core.report.robot_results import RobotEstimate
from bam_core.servo.gains import gain_text
from bam_core.text.verdict_words import VERDICTS

NAME = "summary.json"
REMEDY = "run 'bam identify' again"

TextOrNumber = NewType("TextOrNumber", str)
"""A text, or a number that is written as one."""

GainText = NewType("GainText", str)
"""A gain as an option has it, from a number or from joint -> number; empty: not known."""

_T = TypeVar("_T")
_NAN_INTERVAL = (math.nan, math.nan)


@dataclass(frozen=True, kw_only=True)
class FindingEntry:
    """One cause of the misfit, or what is particular about a parameter."""

    kind: str = ""
    evidence: str = ""
    suggestion: str = ""
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class EstimateEntry:
    """See `results.Estimate`."""

    interval: tuple[float, float] = _NAN_INTERVAL
    identifiable: bool = False
    trades_with: tuple[str, ...] = ()
    remark: str = ""
    finding: FindingEntry | None = None


@dataclass(frozen=True, kw_only=True)
class CorrelationEntry:
    """Correlation of estimates: (n, n) of n parameters."""

    parameters: tuple[str, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        size = len(self.parameters)
        wrong = next((row for row in self.matrix if len(row) != size), None)
        if wrong is not None or len(self.matrix) != size:
            wrong_row = list(self.matrix if wrong is None else wrong)
            raise UnsuitableError(wrong_row, f"{size} rows of {size} numbers", field="matrix")


@dataclass(frozen=True, kw_only=True)
class UncertaintyEntry:
    """See `results.Uncertainty`."""

    method: str = ""
    estimates: Mapping[str, EstimateEntry] = field(default_factory=dict)
    correlation: CorrelationEntry = field(default_factory=CorrelationEntry)


@dataclass(frozen=True, kw_only=True)
class FloorEntry:
    """Error that measurement alone leaves, rad, and what it is."""

    value: float = math.nan
    words: str = ""
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """See `results.ModelResult`."""

    parameters: Mapping[str, float] = field(default_factory=dict)
    train_mae: float = math.nan
    selection_mae: float = math.nan
    test_mae: float = math.nan
    test_interval: tuple[float, float] = _NAN_INTERVAL
    test_mae_short: float = math.nan
    test_mae_short_1s: float = math.nan
    per_log: Mapping[str, float] = field(default_factory=dict)
    at_bound: tuple[str, ...] = ()
    converged: bool = True
    ended_early: bool | None = None
    spent: bool = True
    trials: float = math.nan
    seconds: float = math.nan
    uncertainty: UncertaintyEntry | None = None
    floor: FloorEntry | None = None
    misfit: tuple[FindingEntry, ...] = ()
    misfit_shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SplitEntry:
    """Names of logs, and the rule that separated them."""

    train: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, kw_only=True)
class CorrectionEntry:
    """A header field that was set from outside."""

    field: str = ""
    before: TextOrNumber = TextOrNumber("")
    value: TextOrNumber = TextOrNumber("")
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class ChoiceEntry:
    """The verdict on a model."""

    model: str = ""
    verdict: str = ""


@dataclass(frozen=True, kw_only=True)
class SeedEntry:
    """The test error of the model that a seed chose, rad."""

    test_mae: float = math.nan


@dataclass(frozen=True, kw_only=True)
class ReasonEntry:
    """One reservation of a verdict, or one finding beside it."""

    kind: str = ""
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class VerdictEntry:
    """See `results.Verdict`."""

    kind: str
    sentence: str
    rule: str = ""
    reasons: tuple[ReasonEntry, ...] = ()
    findings: tuple[ReasonEntry, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in VERDICTS:
            raise UnsuitableError(self.kind, " or ".join(VERDICTS), field="kind")


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Of an identification on a bench."""

    models: Mapping[str, ModelEntry]
    chosen: str
    choice: tuple[ChoiceEntry, ...] = ()
    reason: str = ""
    verdict: VerdictEntry | None = None
    effects: tuple[EffectResult, ...] | None = None
    split: SplitEntry = field(default_factory=SplitEntry)
    logs: Mapping[str, LogRun] = field(default_factory=dict)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    corrections: Mapping[str, tuple[CorrectionEntry, ...]] = field(default_factory=dict)
    restarted_every: Mapping[str, float] = field(default_factory=dict)
    seed: float = math.nan
    seeds: tuple[SeedEntry, ...] = ()
    software: str = ""
    date: str = ""
    trajectories_sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class RunErrors:
    """Errors of one run of a robot, rad."""

    per_joint: Mapping[str, float] = field(default_factory=dict)
    goal_distance: float = math.nan


@dataclass(frozen=True, kw_only=True)
class RobotErrors:
    """Errors of all runs of a robot."""

    per_log: Mapping[str, RunErrors] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RobotModelEntry:
    """See `robot_results.RobotModel`."""

    before: RobotErrors
    after: RobotErrors
    one_joint: RobotErrors
    parameters: Mapping[str, Mapping[str, RobotEstimate]]
    deviations: Mapping[str, RobotEstimate]
    servos: Mapping[str, str]
    band_90_coverage: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RunEntry:
    """See `robot_results.RobotRunInfo`."""

    kp: GainText = GainText("")
    kd: GainText = GainText("")
    ki: GainText = GainText("")
    supply_voltage: float = math.nan
    recorded_voltage: float = math.nan


@dataclass(frozen=True, kw_only=True)
class RobotSummary:
    """Of an identification on a robot."""

    robot: str
    joints: Mapping[str, str]
    train: tuple[str, ...]
    models: Mapping[str, RobotModelEntry]
    verdict: VerdictEntry | None = None
    test: tuple[str, ...] = ()
    runs: Mapping[str, RunEntry] = field(default_factory=dict)
    root: str = ""
    software: str = ""
    date: str = ""
    trajectories_sha256: str = ""


def read_summary(directory: Path, kind: type[_T]) -> _T:
    """Return the content of a directory's summary.

    Raises:
        BamError: there is no such directory, it holds no identification, or its summary is damaged.
    """
    return _READER.read(_content(directory), kind, directory / NAME)


def is_of_robot(directory: Path) -> bool:
    """Return whether a directory holds an identification on a robot, and not one on a bench.

    Raises:
        BamError: it holds none.
    """
    content = _content(directory)
    return isinstance(content, dict) and content.get("robot") is not None


def _content(directory: Path) -> Any:
    if not directory.is_dir():
        what = "is a file" if directory.exists() else "is not there"
        raise Unreadable(
            directory, what, expected="a directory that 'bam identify' wrote", advice="correct the path"
        )
    if not (directory / NAME).exists():
        raise Malformed(
            directory, f"is no identification, it has no {NAME}", advice="give the --output of 'bam identify'"
        )
    return read_json(directory / NAME, advice=REMEDY)


def _text_or_number(value: Any, _: Any) -> TextOrNumber:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnsuitableError(value, "text or a number")
    return TextOrNumber(value if isinstance(value, str) else f"{value:.6g}")


def _gain_text(value: Any, _: Any) -> GainText:
    numbers = list(value.values()) if isinstance(value, dict) else [value]
    if value is None or not numbers:
        return GainText("")
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        raise UnsuitableError(value, "a gain, or one per joint")
    return GainText("" if any(map(math.isnan, numbers)) else gain_text(value))


_READER = TypedReader(is_json=True, allows_unknown=True, advice=REMEDY)
_READER.converter.register_structure_hook(TextOrNumber, _text_or_number)
_READER.converter.register_structure_hook(GainText, _gain_text)
