# SPDX-License-Identifier: Apache-2.0
"""Paths in, runs of a robot out, with what was set for them from outside."""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bam_core.errors import Conflict, Malformed, Missing, OutOfRange, UnknownName, Unreadable
from bam_core.errors.field_types import require_field_types
from bam_core.files.json_file import read_json
from bam_core.recordings.bag_files import MCAP, PACKED, SQLITE, bags_in, storage
from bam_core.recordings.excluded import Excluded, Exclusions
from bam_core.recordings.header_corrections import NAME, Rule, apply_rules, rules_above
from bam_core.recordings.law_keys import require_no_other_law
from bam_core.recordings.map_file import recording_map_for, require_map, rules_of_map
from bam_core.recordings.supply import supply_warning
from bam_core.robot.bag_run import read_bag_run
from bam_core.robot.csv_run import read_csv_run
from bam_core.robot.exchanged_joints import exchange_findings, exchanged_joints, with_own_readings
from bam_core.robot.goal_order import copied_joints, repeated_joints, require_followed, without_joints
from bam_core.robot.lerobot_dataset import is_dataset, read_dataset_runs, usual_kd
from bam_core.robot.lerobot_units import UNITS
from bam_core.robot.npz_run import PYTORCH_ADVICE, read_npz_run
from bam_core.robot.run import RobotRun, require_enough
from bam_core.robot.run_findings import run_findings
from bam_core.robot.sage_run import is_sage, read_sage_run
from bam_core.robot.updates import as_of_their_times
from bam_core.robot.value_steps import NORMALISED
from bam_core.servo.gains import Gain, over, require_acceleration, require_gain
from bam_core.servo.plausible import require_plausible
from bam_core.text.finding import Finding, log_findings
from bam_core.text.goal_findings import CopiedReadings, RepeatedGoals
from bam_core.text.robot_run_findings import (
    DerivativeGainUnknown,
    NoInterval,
)

log = logging.getLogger(__name__)

_ENDINGS = (
    ".csv",
    ".tsv",
    ".npz",
    ".mcap",
    ".db3",
)  # of files; in the name of a directory a dot is no ending
_LOGS_OF_A_BENCH = "use `bam identify` and `bam validate` if these are logs of a bench, else check the path"
_PICKLE = "save its arrays with np.savez; pickles may run any program and are not loaded"
_OTHER_FILES = {
    ".pt": ("a file of PyTorch", PYTORCH_ADVICE),
    ".pkl": ("a pickle", _PICKLE),
    ".pickle": ("a pickle", _PICKLE),
    ".npy": ("one array of NumPy", "save goals, readings and time in one archive with np.savez"),
    ".parquet": ("a part of a dataset", "name the dataset's directory, which holds meta/info.json"),
    ".zip": ("packed", "unpack it first"),
    ".gz": ("packed", "unpack it first"),
    ".tar": ("packed", "unpack it first"),
    ".h5": ("an HDF5 file", "write its arrays as .npz with np.savez, or as CSV"),
    ".hdf5": ("an HDF5 file", "write its arrays as .npz with np.savez, or as CSV"),
    ".mat": ("a file of MATLAB", "write its arrays as CSV (writetable)"),
    ".xlsx": ("a spreadsheet", "save it as CSV"),
    ".bag": ("a bag of ROS 1", "convert it: rosbags-convert --src FILE --dst DIRECTORY"),
    ".json": ("a log of a bench", _LOGS_OF_A_BENCH),
}
"""Ending of what is no run of a robot here -> what it is, and what to do."""
_STORAGES = (MCAP, SQLITE, MCAP + PACKED, SQLITE + PACKED)
_GAIN_IN_NAME = re.compile(r"(?:^|[_-])kp_?(\d+(?:\.\d+)?)(?=[_.-]|$)")


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What a user sets for all runs; it overrides their files.

    Attributes:
        kp: position gain of all servos, or joint (or pattern) -> gain, firmware units; None: a run's column,
            a bench.yaml above it, or its name (such as squat_kp32.csv) has it.
        kd: derivative gain, likewise; None: a column or a bench.yaml has it, else 0.
        ki: integral gain, likewise.
        goal_acceleration: largest of the servos' set-points, rad/s², likewise; 0: not limited; None: a
            bench.yaml has it, else the servo files.
        supply_voltage: V; None: a column or a bench.yaml has it, else the servos' nominal one counts.
        intervals: file with the part of each run that counts: JSON, its name -> [first, last] in s.
        unit: of the positions: "deg", "rad", or in LeRobot datasets "normalised"; None: that of a map, else
            rad, and in LeRobot datasets what their values show.
        calibration: LeRobot's file of the arm: ranges of normalised positions, and limits of goals.
        strict: the first run that cannot be used ends the call; else each is left out, with a warning.
        map: words of `--map`: a YAML file or a name from `map_names` instead of a bench.yaml's map, and
            joints as in "lift=-lift+0.12"; see `bam_core.recordings.recording_map`.
    """

    kp: Gain | None = None
    kd: Gain | None = None
    ki: Gain | None = None
    goal_acceleration: Gain | None = None
    supply_voltage: float | None = None
    intervals: str | os.PathLike[str] | None = None
    unit: str | None = None
    calibration: str | os.PathLike[str] | None = None
    strict: bool = False
    map: Sequence[str] = ()

    def __post_init__(self) -> None:
        require_field_types(self)
        for name, gain in (("kp", self.kp), ("kd", self.kd), ("ki", self.ki)):
            if gain is not None:
                require_gain(f"--{name}", gain, name)
        require_acceleration("--goal-acceleration", self.goal_acceleration)
        if self.supply_voltage is not None:
            if not 0.0 < self.supply_voltage < math.inf:
                raise OutOfRange("--vin", self.supply_voltage, "a positive number")
            require_plausible("--vin", "supply_voltage", self.supply_voltage)
        if self.unit is not None and self.unit not in UNITS:
            raise UnknownName("--unit", self.unit, UNITS)
        require_map(self.map)


@dataclass(frozen=True, kw_only=True)
class LoadedRuns:
    """What was loaded.

    Attributes:
        runs: that can be used, one at least.
        excluded: those that cannot, and why.
    """

    runs: list[RobotRun]
    excluded: tuple[Excluded, ...] = ()


def load_runs(paths: Iterable[str | os.PathLike[str]], settings: RunSettings | None = None) -> list[RobotRun]:
    """Load all runs under some paths: CSV files, NumPy archives, bags, LeRobot datasets, directories of such.

    A run that cannot be used is left out, with a warning; see `load_usable_runs`, which lists them.

    Raises:
        BamError: as of `load_usable_runs`.
    """
    return load_usable_runs(paths, settings).runs


def load_usable_runs(
    paths: Iterable[str | os.PathLike[str]],
    settings: RunSettings | None = None,
    *,
    require: Callable[[RobotRun], None] = lambda run: None,
) -> LoadedRuns:
    """Load all runs under some paths, and name those that cannot be used.

    Args:
        paths: CSV files, NumPy archives, bags, LeRobot datasets, directories of such.
        settings: what holds of all runs.
        require: raises BamError about a run that cannot be used.

    Raises:
        BamError: a path does not exist, or no run can be used: its file is none, or its gain is not known.
            `RunSettings.strict`: one cannot.
    """
    settings = settings or RunSettings()
    intervals = _intervals(settings.intervals)
    exclusions = Exclusions(strict=settings.strict)
    runs: list[RobotRun] = []
    orders: dict[str, dict[str, str]] = {}
    for path in _files(paths):
        read: list[RobotRun] = []
        with exclusions.attempt(_bare(path.name)):
            read = _read(path, settings)
            log_findings(log, _unknown_kd(path, settings))
        for run in read:
            with exclusions.attempt(run.name):
                require_enough(run)
                orders[run.name] = exchanged_joints(run)
                own = with_own_readings(run, orders[run.name])
                require_followed(own)
                if copied := copied_joints(own):
                    log_findings(log, [CopiedReadings(run=own.name, joints=copied)])
                sound = without_joints(own, copied)
                if repeated := repeated_joints(sound):
                    log_findings(log, [RepeatedGoals(run=own.name, joints=repeated)])
                complete = as_of_their_times(_complete(sound, path, settings, intervals))
                require(complete)
                runs.append(complete)
    log_findings(log, exchange_findings(orders))
    exclusions.require_some(runs, "runs")
    source = "--vin" if settings.supply_voltage is not None else NAME
    log_findings(log, supply_warning({run.name: run.supply for run in runs}, source))
    log_findings(log, run_findings(runs))
    names = [run.name for run in runs]
    if intervals:
        whole = [name for name in names if name not in intervals]
        if len(whole) == len(names):
            raise Conflict(
                f"{settings.intervals}",
                f"has no interval of the runs given ({', '.join(whole)}), but of {', '.join(intervals)}",
                advice="correct the names, or leave it out",
            )
        if whole:
            log_findings(log, [NoInterval(file=f"{settings.intervals}", runs=tuple(whole))])
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise Conflict(f"runs called '{doubled[0]}'", "are two files", advice="rename one")
    return LoadedRuns(runs=runs, excluded=tuple(exclusions.excluded))


def _files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.exists():
            raise Unreadable(path, "no such file or directory", advice="check the path")
        if bags := bags_in(path) if path.is_dir() else [path]:
            yield from bags
            continue
        if is_dataset(path) or is_sage(path):
            yield path
            continue
        folders = {place.parent for ending in _STORAGES for place in path.rglob(f"*{ending}")}
        bags = [bag for folder in folders for bag in bags_in(folder)]
        datasets = {path.parent.parent for path in path.rglob("meta/info.json")}
        folders = {file.parent for file in path.rglob("*.csv") if is_sage(file.parent)}
        tables = [file for file in path.rglob("*") if _is_table(file) and file.parent not in folders]
        files = sorted([*tables, *path.rglob("*.npz"), *bags, *datasets, *folders])
        if not files:
            raise Unreadable(
                path,
                "has no runs of a robot",
                expected="a bag, a LeRobot dataset, or a directory with such, CSV files or NumPy archives",
                advice=_LOGS_OF_A_BENCH if any(path.rglob("*.json")) else "check the path",
            )
        yield from files


def _is_table(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv") and path.is_file()


def _read(path: Path, settings: RunSettings) -> list[RobotRun]:
    recording_map = recording_map_for(path, settings.map)
    unit = settings.unit or recording_map.unit
    if is_dataset(path):
        return read_dataset_runs(path, unit, settings.calibration, recording_map)
    if unit == NORMALISED or settings.calibration is not None:
        raise Conflict(
            f"{path}, unit",
            "has no calibration; --unit normalised and --calibration are about LeRobot datasets",
            advice="leave them out, or convert the file",
        )
    recording_map = replace(recording_map, unit=unit)
    if is_sage(path):
        return [read_sage_run(path, recording_map)]
    if path.is_dir() or storage(path):
        return [read_bag_run(path, recording_map)]
    if path.suffix == ".npz":
        return [read_npz_run(path, recording_map)]
    if path.suffix.lower() in _OTHER_FILES:
        what, advice = _OTHER_FILES[path.suffix.lower()]
        raise Malformed(path, f"is {what}", expected="CSV, .npz, a bag or a dataset", advice=advice)
    return [read_csv_run(path, recording_map)]


def _complete(
    run: RobotRun, path: Path, settings: RunSettings, intervals: Mapping[str, tuple[float, float]]
) -> RobotRun:
    header = _header(run, (*rules_above(path), *rules_of_map(settings.map)))
    kp = header.get("kp")
    if kp is None and not _is_number(settings.kp) and (match := _GAIN_IN_NAME.search(run.name)):
        kp = float(match[1])
        log.info("%s: kp %g, as in its name", run.name, kp)
    kp = over(kp, settings.kp, run.joints, run.name)
    if kp is None:
        raise Missing(f"{path}, kp", "the position gain of its servos", advice=_gain_advice(path))
    return replace(
        run,
        kp=kp,
        kd=over(header.get("kd", 0.0), settings.kd, run.joints, run.name) or 0.0,
        ki=over(header.get("ki", 0.0), settings.ki, run.joints, run.name) or 0.0,
        goal_acceleration=over(
            header.get("goal_acceleration"), settings.goal_acceleration, run.joints, run.name
        ),
        supply_voltage=settings.supply_voltage if settings.supply_voltage is not None else header.get("vin"),
        recorded_voltage=run.supply_voltage,
        interval=intervals.get(run.name),
    )


def _header(run: RobotRun, rules: Iterable[Rule]) -> dict[str, Any]:
    """Return gains and supply of the run, or as rules correct them."""
    recorded = {"kp": run.kp, "kd": run.kd, "ki": run.ki, "vin": run.supply_voltage}
    header = {name: value for name, value in recorded.items() if value is not None}
    for rule in rules:
        corrected, _ = apply_rules(header, [rule])
        for name in ("kp", "kd", "ki", "goal_acceleration"):  # of some joints alone, perhaps
            if corrected.get(name) is not header.get(name):
                corrected[name] = over(header.get(name), corrected[name], run.joints, rule.source)
        header = corrected
    require_no_other_law(header)
    return header


def _unknown_kd(path: Path, settings: RunSettings) -> Iterator[Finding]:
    """Return the finding about a dataset for which nothing gives the derivative gain."""
    if settings.kd is None and is_dataset(path) and not any("kd" in rule.set for rule in rules_above(path)):
        usual = usual_kd(path)
        if usual is not None:
            yield DerivativeGainUnknown(dataset=str(path), usual=usual)


def _is_number(gain: Gain | None) -> bool:
    return isinstance(gain, int | float)


def _gain_advice(path: Path) -> str:
    if is_dataset(path):
        return (
            "give --kp, which LeRobot does not keep; it sets the P coefficient of an SO-100 or SO-101 to 16"
        )
    return "give --kp or add a bench.yaml"


def _intervals(path: str | os.PathLike[str] | None) -> dict[str, tuple[float, float]]:
    """Return name of a run -> (first, last) s; endings of file names are left out."""
    if path is None:
        return {}
    expected = 'JSON such as {"squat.csv": [1.5, 5.0]}'
    parts = read_json(Path(path), expected=expected)
    try:
        intervals = {_bare(name): (float(first), float(last)) for name, (first, last) in parts.items()}
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise Malformed(path, "does not give two times for every log", expected=expected) from None
    for name, (first, last) in intervals.items():
        if not first < last:
            raise OutOfRange(f"{path}, {name}", (first, last), "a time and a later one")
    return intervals


def _bare(name: str) -> str:
    path = Path(name)
    return path.stem if path.suffix.lower() in _ENDINGS else path.name
