# SPDX-License-Identifier: Apache-2.0
"""Text files of Dynaban's recorder: runs in open loop, duty in and position out, one after the other.

A heading ``StartOfNewTest TYPE`` names the kind of command of the runs below it; each run begins with the
names of its columns, ``Time Command Position Speed``. Units are those of Dynaban's program that reads them
(``model/main.py``): 0.1 ms, 3000 for the full supply of 12 V, and encoder counts, 4096 per turn, which start
anew after a turn. The recorder is a firmware for the MX-64.

The speed is the mean over the last 50 ms; that of a run's first sample is its command, and left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, BamError, Malformed, Missing, OutOfRange, Unreadable
from bam_core.recordings.bench_map import mapped_samples, require_joints_alone
from bam_core.recordings.cleaning import clean
from bam_core.recordings.header_corrections import Rule, apply_rules, label_in
from bam_core.recordings.recording import Recording
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.servo.pendulum import PendulumBench

HEADING = "StartOfNewTest"
"""First word of such a file."""

_COLUMNS = ["Time", "Command", "Position", "Speed"]
_SECONDS = 1e-4  # per unit of time
_FULL_DUTY = 3000.0
_COUNTS = 4096
_COUNT = 2.0 * np.pi / _COUNTS  # rad
_SLOW = 100.0  # counts/s; slower, counts that go back and forth feign a speed
_OTHER_UNIT = 4.0  # between mean speeds: positions at rest go back and forth as well
_SERVO, _SUPPLY = "mx64", 12.0  # V

LOADS: Mapping[str, float] = MappingProxyType(
    {"no_load": 0.0, "completeTest": 0.0, "heavy_load": 0.004, "completeTestHeavyLoad": 0.004}
)
"""Stems of the files that Dynaban published -> inertia of their load, kg·m²: 0.28 kg at 0.12 m (section 4) is
0.00403, its program starts from 0.004 and finds 0.0041."""


@dataclass
class _Lines:
    """Rows of one run: what follows on a line with the names of columns."""

    kind: str
    rows: list[tuple[float, ...]] = field(default_factory=list)


def read_open_loop_text(
    path: Path,
    name: str | None = None,
    rules: Sequence[Rule] = (),
    recording_map: RecordingMap = NO_MAP,
) -> list[Recording]:
    """Read all runs of a file.

    A recording's source is the file with the run's name behind it.

    Their header fields are motor (mx64), vin (12 V), trajectory (``type0``, …, by their heading) and inertia,
    that of the load in kg·m² (known of the files in LOADS); mass, arm_mass and length where a pendulum hung
    on the servo.

    Args:
        path: the file.
        name: of the recordings, followed by the number of the run; by default the file's stem.
        rules: that set header fields from outside.
        recording_map: sign and zero of the joint; it may have nothing else.

    Raises:
        Unreadable: the file cannot be read.
        Malformed: it does not begin with ``StartOfNewTest``, or a line is not what the format asks for.
        BamError: it does not have the load was on the servo, or values of a run are out of range; the line
            names the file and the run.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Unreadable(path, error) from None
    require_joints_alone(recording_map, "runs in open loop")
    runs = _runs(path, data.decode("ascii", errors="replace"))
    digits = len(str(len(runs) - 1))
    recordings = []
    for number, run in enumerate(runs):
        # A copy of the file has the same runs; two runs of a file are two, even where all numbers agree.
        digest = hashlib.sha256(data + f"run {number}".encode()).hexdigest()
        place = path / f"{path.stem}_{number:0{digits}d}"
        try:
            fields = _fields(path, run, rules, recording_map)
        except BamError as error:
            raise error.within(place) from None
        recordings.append(
            Recording(name=f"{name or path.stem}_{number:0{digits}d}", source=place, sha256=digest, **fields)
        )
    return recordings


def is_open_loop_text(path: Path) -> bool:
    """Return whether a file begins as such files do; false where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(HEADING)) == HEADING.encode()
    except OSError:
        return False


def _runs(path: Path, text: str) -> list[_Lines]:
    if not text.startswith(HEADING):
        raise Malformed(
            path,
            f"does not begin with {HEADING}",
            expected="runs in open loop as Dynaban's recorder writes them",
            advice="leave it out or name the recording itself",
        )
    kind, runs = "", list[_Lines]()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] == HEADING:
            if len(words) != 2 or not words[1].isdigit():
                raise _bad_line(path, number, line, f"{HEADING} and a number")
            kind = f"type{words[1]}"
        elif words[0] == _COLUMNS[0]:
            if words != _COLUMNS:
                raise _bad_line(path, number, line, f"the columns {' '.join(_COLUMNS)}")
            runs.append(_Lines(kind=kind))
        else:
            if not runs:
                raise _bad_line(path, number, line, f"the columns {' '.join(_COLUMNS)} before numbers")
            runs[-1].rows.append(_row(path, number, line, words))
    if not runs:
        raise Malformed(path, "holds no run", expected="lines of numbers", advice="copy it again")
    return runs


def _row(path: Path, number: int, line: str, words: Sequence[str]) -> tuple[float, ...]:
    try:
        row = tuple(map(float, words))
    except ValueError:
        row = ()
    if len(row) != len(_COLUMNS):
        raise _bad_line(path, number, line, f"{len(_COLUMNS)} numbers: {', '.join(_COLUMNS)}")
    return row


def _bad_line(path: Path, number: int, line: str, expected: str) -> Malformed:
    shown = line if len(line) <= 40 else f"{line[:37]}..."
    return Malformed(
        path,
        f"line {number} is {shown!r}",
        expected=expected,
        advice="copy the file again, or repair the line",
    )


def _fields(path: Path, run: _Lines, rules: Sequence[Rule], recording_map: RecordingMap) -> dict[str, Any]:
    """Return the values of a run, by the names that `Recording` has for it."""
    known = {"inertia": LOADS[path.stem]} if path.stem in LOADS else {}
    header, corrections = apply_rules(
        {"motor": _SERVO, "vin": _SUPPLY, "trajectory": run.kind, **known}, rules
    )
    hangs = {key: header[key] for key in ("mass", "arm_mass", "length") if key in header}
    if "inertia" not in header and not hangs:
        raise Missing(
            "inertia",
            "that of what was on the servo, kg·m², 0 for nothing",
            advice="give --set inertia=0.004, or a bench.yaml beside the file",
        )
    if not run.rows:
        raise BadData("samples", "there are none", advice="copy the file again")
    time, command, counts, speed = np.array(run.rows).T
    for what, values, low, high, unit in (
        ("Command", command, -_FULL_DUTY, _FULL_DUTY, "3000 for the full supply"),
        ("Position", counts, 0.0, _COUNTS - 1.0, "encoder counts within a turn"),
    ):
        outside = np.flatnonzero(~((values >= low) & (values <= high)))
        if len(outside):
            raise OutOfRange(
                f"entry {outside[0]}, {what}",
                values[outside[0]],
                f"{unit}, {low:g} to {high:g}",
                printed=f"{values[outside[0]]:g}",
                advice="remove the line",
            )
    speed[0] = np.nan
    _require_unit(time, counts, speed)
    n = len(time)
    samples = {
        "time": time * _SECONDS,
        "position": _unwrapped(counts),
        "velocity": speed * _COUNT,
        "goal_position": np.full(n, np.nan),
        "torque_enabled": np.ones(n, dtype=np.bool_),
        "voltage": np.full(n, np.nan),
        "temperature": np.full(n, np.nan),
        "duty": command / _FULL_DUTY,
    }
    cleaned = clean(mapped_samples(samples, recording_map, header.get("joint")))
    return {
        "servo": header["motor"],
        "bench": PendulumBench(
            mass=hangs.get("mass", 0.0),
            arm_mass=hangs.get("arm_mass", 0.0),
            length=hangs.get("length", 0.0),
            flywheel=header.get("inertia", 0.0),
        ),
        "open_loop": True,
        "kp": 0.0,
        "supply_voltage": header["vin"],
        "script": header["trajectory"],
        "unit": label_in(header, "unit"),
        "session": label_in(header, "session"),
        "left_out": cleaned.left_out,
        "position_update_period": cleaned.update_period,
        "corrections": tuple(corrections),
        **cleaned.samples,
    }


def _require_unit(time: Array, counts: Array, speed: Array) -> None:
    """Refuse times in another unit: then speeds are not those of the positions."""
    moved = np.abs(np.diff(np.unwrap(counts, period=_COUNTS))).sum()
    known = np.abs(speed[np.isfinite(speed)])
    if not known.size or not np.ptp(time) > 0.0:  # which `Recording` refuses
        return
    seen, recorded = moved / (np.ptp(time) * _SECONDS), float(known.mean())
    if min(seen, recorded) > _SLOW and not 1.0 / _OTHER_UNIT < recorded / seen < _OTHER_UNIT:
        raise BadData(
            "Time",
            f"is in another unit: Speed is {recorded / seen:.3g} times what positions show",
            expected="0.1 ms",
            advice="convert it",
        )


def _unwrapped(counts: Array) -> Array:
    """Return positions, rad, that go on beyond a turn, by whole turns as near to zero as they can be."""
    position = np.unwrap(counts, period=_COUNTS) * _COUNT
    turn = 2.0 * np.pi
    return np.asarray(position - turn * np.round(position.mean() / turn))
