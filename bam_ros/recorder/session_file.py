# SPDX-License-Identifier: Apache-2.0
"""Reading a session from YAML; every mistake is one line that names the file, the key and the cure."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bam_core.errors import CORRECT_IT, BamError, Malformed, Missing, UnknownName, WrongType
from bam_core.files.quoted_number import correct_number
from bam_core.files.yaml_file import read_yaml
from bam_core.recordings.trajectories import SCRIPTS, script
from bam_core.servo.model import ServoModel, load_servo, published_names, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_ros.node.data_directory import confined
from bam_ros.recorder.session import Session

_REQUIRED = ("servo", "supply_voltage", "loads", "gains")
_LOAD_KEYS = ("mass", "length", "arm_mass")


def load_session(path: str | os.PathLike[str], *, inside: Path | None = None) -> Session:
    """Read a session file.

    Args:
        path: of the file.
        inside: directory, links followed, in which a servo file that it names must lie; None: anywhere.

    Raises:
        BamError: the file cannot be read, is no YAML, lacks a key, has one too many, or a value is wrong.
    """
    path = Path(path)
    data = _read(path)
    fields: dict[str, Any] = {
        "name": path.stem,
        "joint": "joint",
        "id": 1,
        "scripts": tuple(SCRIPTS.values()),
    }
    arm_mass = 0.0
    for key, value in data.items():
        if key == "arm_mass":
            arm_mass = _number(value, f"{path}: {key}")
        elif key not in _READERS:
            raise UnknownName("key", key, [*_READERS, "arm_mass"]).within(path)
        elif key != "loads":
            fields[key] = _READERS[key](value, f"{path}: {key}")
    if "servo" in data:
        fields["servo"] = _servo(fields["servo"], path, inside)
    missing = [key for key in _REQUIRED if key not in data]
    if missing:
        raise Missing(missing[0], ", ".join(_REQUIRED)).within(path)
    fields["loads"] = _loads(data["loads"], f"{path}: loads", arm_mass)
    try:
        return Session(**fields)
    except BamError as error:
        raise error.within(path) from None


def _read(path: Path) -> dict[str, Any]:
    data = read_yaml(path, otherwise="give a session file")
    if not isinstance(data, dict):
        raise Malformed(
            path,
            "is text" if isinstance(data, str) else f"is {_kind(data)}",
            expected="keys such as servo, loads, gains",
            advice="give a session file",
        )
    return data


def _loads(value: Any, where: str, arm_mass: float) -> tuple[PendulumBench, ...]:
    """Read the list of loads; the session's arm counts where a load has none of its own."""
    loads = []
    for number, entry in enumerate(_sequence(value, where), 1):
        here = f"{where}, entry {number}"
        if not isinstance(entry, dict):
            raise _wrong(here, entry, "mass and length", "write {mass: kg, length: m}")
        for key in entry:
            if key not in _LOAD_KEYS:
                raise UnknownName("key", key, _LOAD_KEYS).within(here)
        for key in ("mass", "length"):
            if key not in entry:
                raise Missing(key, "mass in kg, length in m").within(here)
        quantities = {key: _number(quantity, f"{here}, {key}") for key, quantity in entry.items()}
        try:
            loads.append(PendulumBench(**{"arm_mass": arm_mass, **quantities}))
        except BamError as error:
            raise error.within(here) from None
    return tuple(loads)


def _servo(name: str, path: Path, inside: Path | None) -> ServoModel:
    """Load the servo's model; a file is looked for beside the session file."""
    file = path.parent / name if Path(name).suffix in (".yaml", ".yml") else Path(name)
    known = name in servo_names() or name in published_names()
    try:
        if inside is not None and not known:
            file = confined(inside, str(file), "file")
        return load_servo(name if known else file)
    except BamError as error:
        raise error.within(f"{path}: servo") from None


def _sequence(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(where, value, "a list", "write it as [a, b]")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(where, value, "a number", correct_number(value))
    return float(value)


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(where, value, "a whole number", correct_number(value))
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, value, "text", "correct it, in quotes where it looks like a number")
    return value


def _wrong(where: str, value: Any, expected: str, advice: str = CORRECT_IT) -> WrongType:
    return WrongType(where, value, expected, told=_kind(value), advice=advice)


def _kind(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a section"
    if isinstance(value, list):
        return "a list"
    return repr(value)


def _scripts(value: Any, where: str) -> tuple[Any, ...]:
    names = [_text(name, where) for name in _sequence(value, where)]
    try:
        return tuple(script(name) for name in names)
    except BamError as error:
        raise error.within(where) from None


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "name": _text,
    "servo": _text,
    "joint": _text,
    "id": _whole,
    "supply_voltage": _number,
    "loads": _sequence,
    "gains": lambda value, where: tuple(_number(kp, where) for kp in _sequence(value, where)),
    "scripts": _scripts,
    "repetitions": _whole,
    "notes": _text,
    "approach_speed": _number,
    "position_limit": _number,
    "error_limit": _number,
    "pause_limit": _number,
}
"""How each key is read; `loads` waits for `arm_mass`."""
