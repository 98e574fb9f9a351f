# SPDX-License-Identifier: Apache-2.0
"""JSON logs of BAM's own recorder."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import (
    BadData,
    BamError,
    Conflict,
    Malformed,
    Missing,
    OutOfRange,
    Unreadable,
    WrongType,
)
from bam_core.files.json_file import parse_json
from bam_core.files.quoted_number import correct_number
from bam_core.recordings.bench_map import mapped_samples, renamed_log
from bam_core.recordings.cleaning import clean
from bam_core.recordings.header_corrections import FIELDS, Rule, apply_rules, label_in, require_no_inertia
from bam_core.recordings.law_keys import (
    largest_current,
    passed_over,
    require_no_other_law,
    with_usual_names,
)
from bam_core.recordings.recording import Recording
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.servo.firmware_laws import CurrentFirmware
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.finding import log_findings
from bam_core.text.recording_findings import OtherDamping, UnknownKeys

# `load` is the PWM register where we know so. On the 12 real XL330 logs, 885 counts are full duty and the
# firmware's law predicts them from kp·(goal - position) with a slope of 0.996 to 0.999 (quasi-static scripts,
# residual below one count at kp 100). On MX and XL-320 the register is an estimate in the servo's own units.
FULL_DUTY_COUNTS = {"xl330": 885}
"""Servos whose `load` is a duty -> register counts of the full one."""

# BAM's recorder for the eRob80 writes `damping`, which firmware has built in here, in place of `vin`.
_CURRENT_LAWS = {"erob80_50": "erob80", "erob80_100": "erob80"}
_CURRENT_LAW_SUPPLY = 48.0  # V

_ABOUT = ("actuator_id", "date", "id", "motor_params", "name", "notes", "sample_rate", "version")
_KNOWN = frozenset({*FIELDS, *_ABOUT, "arm-mass", "damping", "entries"})
_warned: set[tuple[str, ...]] = set()  # keys that a line has named

logger = logging.getLogger(__name__)

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class NotALogError(Malformed):
    """A JSON file that is something else than a log."""


def read_json_log(
    path: Path,
    name: str | None = None,
    rules: Sequence[Rule] = (),
    recording_map: RecordingMap = NO_MAP,
) -> Recording:
    """Read one log.

    Args:
        path: the file; keys ``mass length kp vin motor trajectory entries`` (``vin`` may be missing for an
            eRob80), optional ``ki``, ``kd``, ``goal_acceleration`` (rad/s²) and ``arm_mass``
            (or ``arm-mass``, as older recorders wrote it; missing =
            0), and per entry ``position timestamp goal_position torque_enable``, optional ``speed load
            input_volts temp``. Keys of settings that change the law are refused, see `law_keys`.
        name: of the recording, by default the file's stem.
        rules: that set keys of the log from outside.
        recording_map: other names of keys, the unit, sign and zero of its positions, see `bench_map`.

    Raises:
        Unreadable: the file cannot be read.
        Malformed: it is truncated, binary, or holds no samples.
        NotALogError: JSON without ``entries``.
        BamError: a key is missing, of the wrong type or out of range; the line names the file, the entry and
            the key.
    """
    data = _read_bytes(path)
    log = _parse(path, data)
    try:
        measured = _fields(path, renamed_log(log, recording_map), rules, recording_map)
    except BamError as error:
        raise error.within(path) from None
    return Recording(name=name or path.stem, source=path, sha256=hashlib.sha256(data).hexdigest(), **measured)


def _fields(
    path: Path, log: dict[str, Any], rules: Sequence[Rule], recording_map: RecordingMap
) -> dict[str, Any]:
    """Return the values of a log, by the names that `Recording` has for it."""
    if "arm-mass" in log and "arm_mass" not in log:
        log = {**log, "arm_mass": log["arm-mass"]}
    fields, corrections = apply_rules(with_usual_names(log), rules)
    require_no_inertia(corrections)
    law = _current_law(fields)
    require_no_other_law(fields, of_current=law is not None)
    if any(correction.field == "arm_mass" for correction in corrections):
        fields.pop("arm-mass", None)
    header = _Header(path, fields)
    _warn_of_unknown_keys(path, fields)
    entries = _entries(log)
    servo = header.text("motor", "a servo such as xl330")
    samples = {
        "time": _column(entries, "timestamp", "s"),
        "position": _column(entries, "position", "rad"),
        "velocity": _column(entries, "speed", "rad/s", required=False),
        "goal_position": _column(entries, "goal_position", "rad"),
        "torque_enabled": _torque_enabled(entries),
        "voltage": _column(entries, "input_volts", "V", required=False),
        "temperature": _column(entries, "temp", "°C", required=False),
        "duty": _duty(entries, servo),
    }
    joint = fields.get("joint")
    cleaned = clean(mapped_samples(samples, recording_map, joint if isinstance(joint, str) else None))
    return {
        "servo": servo,
        "firmware": header.firmware(servo),
        "bench": PendulumBench(
            mass=header.number("mass", "kg"),
            arm_mass=header.arm_mass(),
            length=header.number("length", "m"),
        ),
        "kp": header.number("kp", "firmware units"),
        **{
            name: header.number(name, "firmware units") if fields.get(name) is not None else 0.0
            for name in ("ki", "kd")
        },
        "demand_limit": math.inf if law is None else largest_current(fields, law.current_limit),
        "goal_acceleration": None
        if fields.get("goal_acceleration") is None
        else header.number("goal_acceleration", "rad/s²"),
        "supply_voltage": header.supply(servo),
        "script": header.text("trajectory", "a script such as sin_sin"),
        "unit": label_in(fields, "unit"),
        "session": label_in(fields, "session"),
        "left_out": cleaned.left_out,
        "position_update_period": cleaned.update_period,
        "corrections": tuple(corrections),
        **cleaned.samples,
    }


def _current_law(fields: Mapping[str, Any]) -> CurrentFirmware | None:
    """Return the law of the log's servo, where the library has it and it asks for a current."""
    servo = fields.get("motor")
    if not isinstance(servo, str) or servo not in servo_names():
        return None
    firmware = load_servo(servo).firmware
    return firmware if isinstance(firmware, CurrentFirmware) else None


def _warn_of_unknown_keys(path: Path, header: Mapping[str, Any]) -> None:
    """Log a warning about keys that nothing here reads, once for all logs that have the same ones."""
    keys = tuple(sorted(key for key in passed_over(header) if key not in _KNOWN))
    if keys and keys not in _warned:
        _warned.add(keys)
        log_findings(logger, [UnknownKeys(source=path, keys=keys)])


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(path, error) from None


def _parse(path: Path, data: bytes) -> dict[str, Any]:
    text = _text(path, data)
    try:
        log = parse_json(text)
    except json.JSONDecodeError as error:
        raise _not_json(path, text.rstrip(), error) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or nesting as deep
        raise Malformed(path, f"is no sensible JSON ({error})", advice="record the run again") from None
    if not isinstance(log, dict) or "entries" not in log:
        raise NotALogError(
            path, "entries: is missing", expected="a log of BAM's recorder", advice="give a file that is one"
        )
    return log


def _text(path: Path, data: bytes) -> str:
    """Decode a file; one that holds control characters is binary, even where it happens to decode."""
    try:
        text = data.decode("utf-8")
        odd = _CONTROL.search(text)
        byte = len(text[: odd.start()].encode()) if odd else None
    except UnicodeDecodeError as error:
        byte = error.start
    if byte is not None:
        raise Malformed(
            path,
            f"is not text, byte {byte} is {data[byte]:#04x}",
            expected="JSON in UTF-8",
            advice="give a JSON log or a bag",
        )
    return text.removeprefix("\N{BYTE ORDER MARK}")


def _not_json(path: Path, text: str, error: json.JSONDecodeError) -> Malformed:
    where = f"at line {error.lineno}, column {error.colno} ({error.msg})"
    if text and text.lstrip()[0] not in "{[":
        return Malformed(path, f"is not JSON {where}", advice="give a JSON log or a bag")
    cut = error.pos >= len(text) - 1 or not text.endswith("}")
    what = "is cut short" if cut else "is not JSON"
    return Malformed(path, f"{what} {where}", advice="copy the file again or record the run again")


def _entries(log: dict[str, Any]) -> list[dict[str, Any]]:
    entries = log["entries"]
    if not isinstance(entries, list):
        raise WrongType(
            "entries",
            entries,
            "a list",
            printed=f"a {_kind(entries)}",
            advice="repair the file or leave it out",
        )
    if not entries:
        raise BadData(
            "entries", "is empty", expected="samples", advice="record the run again or leave it out"
        )
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise WrongType(
                f"entry {index}",
                entry,
                "an object with position, …",
                printed=f"a {_kind(entry)}",
                advice="repair or remove the entry",
            )
    return entries


class _Header:
    """First-level keys of a log."""

    def __init__(self, path: Path, log: dict[str, Any]) -> None:
        self._path = path
        self._log = log

    def number(self, key: str, unit: str) -> float:
        value = self._get(key, f"a number, {unit}")
        if not _is_number(value):
            advice = correct_number(value, yaml=False)
            raise WrongType(key, value, f"a number, {unit}", printed=_show(value), advice=advice)
        return float(value)

    def text(self, key: str, expected: str) -> str:
        value = self._get(key, expected)
        if not isinstance(value, str) or not value:
            raise WrongType(key, value, expected, printed=_show(value))
        return value

    def supply(self, servo: str) -> float:
        """Nominal supply."""
        is_given = servo not in _CURRENT_LAWS or "vin" in self._log
        return self.number("vin", "V") if is_given else _CURRENT_LAW_SUPPLY

    def firmware(self, servo: str) -> str:
        """Name the firmware that has the log's damping; empty where it has none."""
        if servo not in _CURRENT_LAWS or "damping" not in self._log:
            return ""
        damping, usual = self.number("damping", "A·s/rad per root of kp"), _CURRENT_LAWS[servo]
        own = FIRMWARES[usual]
        laws = [
            firmware
            for firmware in FIRMWARES.values()
            if isinstance(firmware, CurrentFirmware)
            and isinstance(own, CurrentFirmware)
            and replace(firmware, name=own.name, damping=own.damping) == own
        ]
        names = [law.name for law in laws if law.damping == damping]
        if not names:
            known = ", ".join(f"{law.damping:g}" for law in laws)
            raise OutOfRange(
                "damping",
                damping,
                f"one that a firmware has: {known}",
                printed=f"{damping:g}",
                advice="leave the log out",
            )
        if usual not in names:
            finding = OtherDamping(source=self._path, damping=damping, firmware=names[0], usual=usual)
            log_findings(logger, [finding])
        return usual if usual in names else names[0]

    def arm_mass(self) -> float:
        present = [key for key in ("arm_mass", "arm-mass") if key in self._log]
        values = [self.number(key, "kg") for key in present]
        if len(set(values)) > 1:
            raise Conflict(
                "arm_mass", f"is {values[0]:g} kg but arm-mass {values[1]:g} kg", advice="keep one"
            )
        return values[0] if values else 0.0

    def _get(self, key: str, expected: str) -> Any:
        if key not in self._log:
            raise Missing(
                key, expected, advice=f'add "{key}" beside "entries" with the value in force when recording'
            )
        return self._log[key]


def _column(entries: list[dict[str, Any]], key: str, unit: str, required: bool = True) -> NDArray[np.float64]:
    """One key of all entries; NaN where an optional key is missing."""
    values = _values(entries, key, f"a number, {unit}", _is_reading, required)
    return np.array([float("nan") if value is None else value for value in values], dtype=np.float64)


def _torque_enabled(entries: list[dict[str, Any]]) -> NDArray[np.bool_]:
    values = _values(entries, "torque_enable", "true or false", lambda v: v in (0, 1), True)
    return np.array(values, dtype=np.bool_)


def _duty(entries: list[dict[str, Any]], servo: str) -> NDArray[np.float64]:
    """Duty -1..1 from `load`: raw 16-bit counts are integers, later recorders wrote the duty itself."""
    load = _column(entries, "load", "register counts", required=False)
    if servo not in FULL_DUTY_COUNTS:
        return np.full(len(entries), np.nan)
    if any(isinstance(value := entry.get("load"), float) and math.isfinite(value) for entry in entries):
        return load
    signed = np.where(load >= 2**15, load - 2**16, load)
    return signed / FULL_DUTY_COUNTS[servo]


def _values(
    entries: list[dict[str, Any]],
    key: str,
    expected: str,
    accept: Callable[[Any], bool],
    required: bool,
) -> list[Any]:
    values = [entry.get(key) for entry in entries]
    for index, value in enumerate(values):
        if value is None and key not in entries[index]:
            if required:
                raise Missing(
                    f"entry {index}, {key}", expected, advice="remove the entry or record the run again"
                )
        elif not accept(value):
            raise WrongType(
                f"entry {index}, {key}",
                value,
                expected,
                printed=_show(value),
                advice="correct or remove the entry",
            )
    return values


def _is_reading(value: Any) -> bool:
    """Return whether this is a number, or null, which stands for none."""
    return value is None or _is_number(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 2**63
    return isinstance(value, float)


def _kind(value: Any) -> str:
    return {dict: "object", list: "list", str: "text", type(None): "null", bool: "boolean"}.get(
        type(value), "number"
    )


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
