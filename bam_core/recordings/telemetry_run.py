# SPDX-License-Identifier: Apache-2.0
"""Runs of one servo in a folder: telemetry.csv, a row per cycle, and metadata.json with all its registers.

These are the folders of RnD-king/Jandi_real2sim; `--map jandi_mx106` has the names of the columns. In a cycle
the goal is written first, then the state is read. A row without a position, in which other registers were
read, is no sample.

Registers are those that the servo answered before the run. What the law of current-based position control
lacks is refused: gains but P, profiles, a PWM limit below full.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, BamError, Malformed, Missing, Unreadable, Unsupported
from bam_core.files.json_file import read_json
from bam_core.recordings.bench_map import mapped_samples
from bam_core.recordings.cleaning import clean
from bam_core.recordings.header_corrections import Rule, apply_rules, label_in, require_no_inertia
from bam_core.recordings.recording import Recording
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.servo.pendulum import PendulumBench

TABLE, ABOUT = "telemetry.csv", "metadata.json"

CURRENT_UNIT = 3.36e-3
"""A per unit of Goal Current and Current Limit; e-manual of MX-106(2.0), addresses 38 and 102."""

_SERVOS: Mapping[tuple[int, int], tuple[str, str]] = MappingProxyType(
    {(321, 5): ("mx106_current", "mx-current")}
)
"""Model number and operating mode -> servo of the library and its firmware."""

_NEUTRAL: Mapping[str, float] = MappingProxyType(
    {
        "position_i_gain": 0,
        "position_d_gain": 0,
        "feedforward_1st_gain": 0,
        "feedforward_2nd_gain": 0,
        "profile_velocity": 0,
        "profile_acceleration": 0,
        "goal_pwm_raw": 885,
        "pwm_limit_raw": 885,
    }
)
"""Register -> its value that leaves the law as it is."""

_COUNTS = 4096  # per turn
_ALIKE = 1e-3  # rad; a tenth of a count is 0.15e-3
_COLUMNS = (
    "time",
    "position_count",
    "goal_count",
    "position",
    "velocity",
    "current",
    "pwm_percent",
    "voltage",
    "temperature",
)


def is_telemetry(path: Path) -> bool:
    """Return whether a directory holds such a run."""
    return (path / TABLE).is_file() and (path / ABOUT).is_file()


def read_telemetry_run(
    path: Path,
    name: str | None = None,
    rules: Sequence[Rule] = (),
    recording_map: RecordingMap = NO_MAP,
) -> Recording:
    """Read a run.

    Args:
        path: of its directory.
        name: of the recording, by default the directory's.
        rules: that set header fields from outside.
        recording_map: the names of the columns, and sign and zero of the joint.

    Raises:
        BamError: a file cannot be read, a column or register is missing, the recorder marked the run as not
            valid, or a register changes the control law. The line names the directory.
    """
    table, digest = _table(path / TABLE, recording_map)
    about = read_json(path / ABOUT, expected="an object with register_readback")
    try:
        fields = _fields(table, _About(about), rules, recording_map)
    except BamError as error:
        raise error.within(path) from None
    return Recording(name=name or path.name, source=path, sha256=digest, **fields)


def _table(path: Path, recording_map: RecordingMap) -> tuple[dict[str, Array], str]:
    """Return columns by our names, NaN where a cell is empty, and the digest of the file."""
    try:
        data = path.read_bytes()
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(path, error if isinstance(error, OSError) else "is no text") from None
    except csv.Error as error:
        raise Malformed(path, f"is no CSV file ({error})") from None
    if not rows:
        raise Malformed(path, "has no samples", expected="a row per cycle")
    header = list(rows[0])
    names = {**{name: name for name in _COLUMNS if name in header}, **recording_map.column_names(header)}
    for name in _COLUMNS:
        if name not in names:
            raise Missing(
                f"{path}, column {name}",
                "its name in the file",
                advice="give --map jandi_mx106, or a map of your own",
            )
    table = {name: _column(path, rows, names[name]) for name in _COLUMNS}
    return table, hashlib.sha256(data).hexdigest()


def _column(path: Path, rows: Sequence[Mapping[str, Any]], name: str) -> Array:
    values = np.full(len(rows), np.nan)
    for index, row in enumerate(rows):
        cell = row[name]
        if cell in ("", None):
            continue
        try:
            values[index] = float(cell)
        except (TypeError, ValueError):
            raise Malformed(path, f"row {index + 2}, {name} is {cell!r}", expected="a number") from None
    return values


class _About:
    """The content of metadata.json."""

    def __init__(self, content: Any) -> None:
        self._content = content

    def number(self, *keys: str) -> float:
        value = self._at(keys)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise Missing(f"{ABOUT}, {'.'.join(keys)}", "a number")
        return float(value)

    def text(self, *keys: str) -> str:
        value = self._at(keys)
        if not isinstance(value, str) or not value:
            raise Missing(f"{ABOUT}, {'.'.join(keys)}", "text")
        return value

    def is_true(self, *keys: str) -> bool:
        value = self._at(keys)
        if not isinstance(value, bool):
            raise Missing(f"{ABOUT}, {'.'.join(keys)}", "true or false")
        return value

    def _at(self, keys: Sequence[str]) -> Any:
        value = self._content
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def _fields(
    table: Mapping[str, Array], about: _About, rules: Sequence[Rule], recording_map: RecordingMap
) -> dict[str, Any]:
    """Return the fields of `Recording`."""
    if not about.is_true("valid_flag"):
        raise BadData(
            f"{ABOUT}, valid_flag",
            "is false: the recorder rejected this run",
            expected="true",
            advice="leave the run out",
        )
    servo, firmware = _law(about)
    if not about.is_true("bench", "bare_horn"):
        raise Unsupported(
            f"{ABOUT}, bench.bare_horn",
            "is false, and masses of these folders are not read",
            expected="a run without load",
            advice="leave the run out, or write it as a log with mass and length",
        )
    samples = _samples(table, about)
    header, corrections = apply_rules(
        {
            "motor": servo,
            "kp": about.number("register_readback", "position_p_gain"),
            "vin": float(np.round(np.nanmedian(samples["voltage"]), 1)),
            "trajectory": about.text("trajectory"),
            "unit": f"id{about.number('config_snapshot', 'resolved', 'hardware', 'motor_id'):g}",
        },
        rules,
    )
    require_no_inertia(corrections)
    joint = about.text("config_snapshot", "resolved", "hardware", "joint_name")
    cleaned = clean(mapped_samples(samples, recording_map, joint))
    goal = about.number("register_readback", "goal_current_raw")
    limit = about.number("register_readback", "current_limit_raw")
    return {
        "servo": header["motor"],
        "firmware": firmware,
        "bench": PendulumBench(
            mass=0.0, length=0.0, flywheel=about.number("bench", "equivalent_pivot_inertia_kg_m2")
        ),
        "demand_limit": CURRENT_UNIT * min(goal, limit),
        "kp": header["kp"],
        "supply_voltage": header["vin"],
        "script": header["trajectory"],
        "unit": label_in(header, "unit"),
        "session": label_in(header, "session"),
        "left_out": cleaned.left_out,
        "position_update_period": cleaned.update_period,
        "corrections": tuple(corrections),
        **cleaned.samples,
    }


def _law(about: _About) -> tuple[str, str]:
    """Return servo and firmware; refuse registers that change the law."""
    model, mode = int(about.number("model_number")), int(about.number("register_readback", "operating_mode"))
    if (model, mode) not in _SERVOS:
        known = " or ".join(f"{number} in mode {way}" for number, way in _SERVOS)
        raise Unsupported(
            f"{ABOUT}, model_number",
            f"is {model} in operating mode {mode}",
            expected=known,
            advice="leave the run out",
        )
    for register, value in _NEUTRAL.items():
        answered = about.number("register_readback", register)
        if answered != value:
            raise Unsupported(
                f"{ABOUT}, register_readback.{register}",
                f"is {answered:g}, which changes the control law",
                expected=f"{value:g}",
                advice="record without it",
            )
    return _SERVOS[model, mode]


def _samples(table: Mapping[str, Array], about: _About) -> dict[str, Any]:
    """Return fields of `Recording`; positions and goals are those of the servo's counts."""
    read = np.isfinite(table["position_count"])
    if not read.any():
        raise BadData(f"{TABLE}, position_count", "is empty throughout", expected="a number per cycle")
    direction = about.number("config_snapshot", "resolved", "hardware", "direction")
    zero = about.number("config_snapshot", "resolved", "hardware", "zero_tick")
    rows = {name: values[read] for name, values in table.items()}
    count = direction * 2.0 * math.pi / _COUNTS
    position = count * (rows["position_count"] - zero)
    off = float(np.max(np.abs(position - rows["position"])))
    if not off < _ALIKE:
        raise BadData(
            f"{TABLE}, position",
            f"is {off:.2g} rad off direction · (position_count - zero_tick) · 2π/{_COUNTS}",
            expected=f"the same within {_ALIKE:g} rad",
            advice="correct direction and zero_tick, or the columns of the map",
        )
    return {
        "time": rows["time"] - rows["time"][0],
        "position": position,
        "velocity": rows["velocity"],
        "goal_position": count * (rows["goal_count"] - zero),
        "torque_enabled": np.ones(len(position), dtype=np.bool_),
        "voltage": rows["voltage"],
        "temperature": rows["temperature"],
        "duty": rows["pwm_percent"] / 100.0,
        "current": rows["current"],
    }
