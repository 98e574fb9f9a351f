# SPDX-License-Identifier: Apache-2.0
"""Reading a session from YAML; every mistake is one line that names the file, the field and the cure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NewType

from ament_index_python.packages import get_package_share_directory

from bam_core.errors import BamError, Missing, UnknownName
from bam_core.files.typed import TypedReader, require_section
from bam_core.files.yaml_file import read_yaml
from bam_core.recordings.trajectories import SCRIPTS, TrajectoryScript, script
from bam_core.servo.added import added_names
from bam_core.servo.model import ServoModel, load_servo, published_names, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_ros.node.data_directory import confined
from bam_ros.recorder.session import Session

Volts = NewType("Volts", float)
Kilograms = NewType("Kilograms", float)
Metres = NewType("Metres", float)
ServoName = NewType("ServoName", str)


@dataclass(frozen=True, kw_only=True)
class Load:
    """One entry of the list of loads; the session's `arm_mass` counts where it has none of its own."""

    mass: Kilograms
    length: Metres
    arm_mass: float | None = None


@dataclass(frozen=True, kw_only=True)
class SessionFile:
    """What a session file holds: fields of `session.Session`, servo and loads as they are written there."""

    servo: ServoName
    supply_voltage: Volts
    loads: tuple[Load, ...]
    gains: tuple[float, ...]
    arm_mass: float = 0.0
    name: str = ""
    joint: str = "joint"
    id: int = 1
    scripts: tuple[TrajectoryScript, ...] = tuple(SCRIPTS.values())
    repetitions: int = Session.repetitions
    notes: str = Session.notes
    ki: float = Session.ki
    kd: float = Session.kd
    approach_speed: float = Session.approach_speed
    position_limit: float = Session.position_limit
    error_limit: float = Session.error_limit
    pause_limit: float = Session.pause_limit


def shipped_sessions() -> Path:
    """Return the directory of the sessions that come with this package; raises Missing without it."""
    try:
        return Path(get_package_share_directory("bam_bench")) / "config" / "sessions"
    except LookupError:
        raise Missing(
            "sessions of this package", "the installed package bam_bench", advice="source install/setup.bash"
        ) from None


def find_session(name: str, directory: Path) -> Path:
    """Return the file of a session.

    A name without directory and ending, such as "mx106", is that of NAME.yaml in `directory`, or else of one
    that comes with this package. Any other is a path, relative to `directory` as what is returned.

    Args:
        name: of the session, or path of its file.
        directory: that is searched first.

    Raises:
        UnknownName: there is no session of this name.
        Missing: see `shipped_sessions`.
    """
    if Path(name).name != name or Path(name).suffix or _is_file(directory / name):
        return Path(name)
    if _is_file(directory / f"{name}.yaml"):
        return Path(f"{name}.yaml")
    shipped = {file.stem: file for file in shipped_sessions().glob("*.yaml")}
    if name not in shipped:
        raise UnknownName("session", name, shipped, otherwise="choose one of these, or give a session file")
    return shipped[name]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # its name is too long
        return False


def load_session(path: str | os.PathLike[str], *, inside: Path | None = None) -> Session:
    """Read a session file.

    Args:
        path: of the file.
        inside: directory, links followed, in which a servo file that it names must lie; None: anywhere.

    Raises:
        BamError: the file cannot be read, is no YAML, lacks a field, has one too many, or a value is wrong.
    """
    path = Path(path)
    otherwise = "give a session file"
    content = require_section(
        read_yaml(path, otherwise=otherwise),
        path,
        expected="keys such as servo, loads, gains",
        advice=otherwise,
    )
    read = _READER.read({"name": path.stem, **content}, SessionFile, path)
    same = {name: value for name, value in vars(read).items() if name not in ("servo", "loads", "arm_mass")}
    try:
        return Session(**same, servo=_servo(read.servo, path.parent, inside), loads=_loads(read))
    except BamError as error:
        raise error.within(path) from None


def _loads(read: SessionFile) -> tuple[PendulumBench, ...]:
    loads = []
    for number, load in enumerate(read.loads, 1):
        arm_mass = read.arm_mass if load.arm_mass is None else load.arm_mass
        try:
            loads.append(PendulumBench(mass=load.mass, length=load.length, arm_mass=arm_mass))
        except BamError as error:
            raise error.within(f"loads, entry {number}") from None
    return tuple(loads)


def _servo(name: str, directory: Path, inside: Path | None) -> ServoModel:
    """Load the servo's model; a file is looked for beside the session file."""
    file = directory / name if Path(name).suffix in (".yaml", ".yml") else Path(name)
    known = name in (*servo_names(), *published_names(), *added_names())
    try:
        if inside is not None and not known:
            file = confined(inside, str(file), "file")
        return load_servo(name if known else file)
    except BamError as error:
        raise error.within("servo") from None


def _script(value: Any, _: Any) -> TrajectoryScript:
    return script(_READER.converter.structure(value, str))


_READER = TypedReader(
    words={
        ServoName: "a servo of the library, or a file",
        Volts: "a number, V",
        Kilograms: "a number, kg",
        Metres: "a number, m",
        TrajectoryScript: "text",
        Load: "a mass and a length, as in {mass: 0.5, length: 0.1}",
        tuple[Load, ...]: "a list such as [{mass: 0.5, length: 0.1}]",
    }
)
_READER.converter.register_structure_hook(TrajectoryScript, _script)
