# SPDX-License-Identifier: Apache-2.0
"""``bam servos new``: a file for a servo that the library does not have, from what its data sheet says."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.errors import BamError

if TYPE_CHECKING:
    from bam_core.servo.firmware import PositionFirmware

_GUESSED_GAIN = 5.0
"""Duty per rad at the factory's kp: 5.1 (MX-106), 4.9 (MX 2.0) and 5.3 (STS3215), where it was measured."""

_KILOGRAM_FORCE = 9.80665  # N
_TORQUE_UNITS = {"N·m": 1.0, "kg·cm": 0.01 * _KILOGRAM_FORCE, "mN·m": 1e-3, "N·cm": 0.01}
_SPEED_UNITS = {"rad/s": 1.0, "rpm": math.pi / 30.0, "deg/s": math.pi / 180.0}
_PER_SIXTY_DEGREES = "s/60°"
_NUMBER = re.compile(r"\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(.*)")


def _number(text: str) -> float:
    return _with_unit(text, {"": 1.0})


def _torque(text: str) -> float:
    return _with_unit(text, _TORQUE_UNITS)


def _speed(text: str) -> float:
    value = _with_unit(text, {**_SPEED_UNITS, _PER_SIXTY_DEGREES: 1.0})
    return math.pi / 3.0 / value if _split(text)[1] == _plain(_PER_SIXTY_DEGREES) else value


def _split(text: str) -> tuple[float, str]:
    found = _NUMBER.fullmatch(text)
    if not found:
        raise BamError(f"{text!r} is no number (expected one, as in 4.9)")
    return float(found[1]), _plain(found[2])


def _plain(unit: str) -> str:
    """Return a unit without what people write in different ways: kg.cm, kg·cm, kgf*cm."""
    letters = re.sub(r"[\s.·*\-]", "", unit).lower().replace("kgf", "kg")
    return letters.replace("°", "deg").replace("degrees", "deg").replace("sec", "s")


def _with_unit(text: str, units: Mapping[str, float]) -> float:
    """Read a number with one of these units; without one it has the first."""
    number, unit = _split(text)
    factors = {_plain(each): factor for each, factor in units.items()}
    if unit and unit not in factors:
        known = ", ".join(filter(None, units)) or "a number alone"
        raise BamError(f"{text!r} is in an unknown unit (expected {known})")
    value = number * (factors[unit] if unit else next(iter(factors.values())))
    if not 0.0 < value < math.inf:
        raise BamError(f"{text!r} is out of range (expected above zero)")
    return value


@dataclass(frozen=True, kw_only=True)
class _Question:
    """One value that is asked for.

    Attributes:
        name: of the option, without dashes.
        words: what it is.
        read: from what was typed to the value, or BamError.
        default: what an empty answer means; None: there has to be one.
    """

    name: str
    words: str
    read: Callable[[str], float]
    default: str | None = None

    @property
    def key(self) -> str:
        """Its name in what the options were parsed into."""
        return self.name.replace("-", "_")


_SHEET = (
    _Question(name="voltage", words="supply of the following values [V]", read=_number),
    _Question(name="stall-torque", words="stall torque, such as '50 kg.cm' or '4.9' [N·m]", read=_torque),
    _Question(name="stall-current", words="stall current [A]", read=_number),
    _Question(
        name="no-load-speed",
        words="speed without load, such as '75 rpm' or '0.133 s/60deg' [rad/s]",
        read=_speed,
    ),
    _Question(
        name="counts-per-turn",
        words="encoder counts per turn of the output shaft",
        read=_number,
        default="4096",
    ),
    _Question(name="factory-kp", words="position gain kp that it comes with", read=_number, default="32"),
    _Question(name="period", words="period of its position controller [s]", read=_number, default="0.001"),
)
_VOLTAGE = (
    _Question(
        name="duty-per-kp",
        words="duty (1: whole supply) per rad of error and unit of kp; empty: unknown, it is fitted",
        read=_number,
        default="",
    ),
    _Question(name="duty-limit", words="largest duty, 1 is the whole supply", read=_number, default="1"),
)
_CURRENT = (
    _Question(name="current-limit", words="largest current [A]", read=_number),
    _Question(name="damping", words="damping [A·s/rad per root of kp]", read=_number),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``bam servos new``."""
    group = parser.add_argument_group("what 'new' asks for where it is not given, as the data sheet says it")
    group.add_argument("--name", help="as recordings name it (default: name of FILE)")
    group.add_argument("--title", help="what is printed on it (default: its name)")
    group.add_argument("--manufacturer", help="who makes it")
    group.add_argument(
        "--law",
        choices=("voltage", "current"),
        default="voltage",
        help="what its position controller sets: the motor's voltage, as most do, or its current "
        "(default: voltage)",
    )
    for question in (*_SHEET, *_VOLTAGE, *_CURRENT):
        group.add_argument(f"--{question.name}", metavar="VALUE", help=question.words)


def run(arguments: argparse.Namespace) -> int:
    """Ask, write the file, and say what to do with it."""
    from bam_core.atomic_file import require_file
    from bam_core.servo.data_sheet import DataSheet, servo_from_data_sheet

    path = Path(arguments.file or "")
    if path.suffix not in (".yaml", ".yml"):
        raise BamError(
            f"new: {arguments.file or 'nothing'} is no name of a file (expected one such as my_servo.yaml); "
            f"name it"
        )
    require_file(path)
    if path.exists():
        raise BamError(f"{path}: exists (expected a new file); choose another name, or remove it")
    law = _VOLTAGE if arguments.law == "voltage" else _CURRENT
    other = _CURRENT if arguments.law == "voltage" else _VOLTAGE
    for question in other:
        if getattr(arguments, question.key) is not None:
            raise BamError(f"--{question.name}: means nothing to the {arguments.law} law; leave it out")
    told = {question.key: _answer(question, arguments) for question in (*_SHEET, *law)}
    value = {key: each for key, each in told.items() if each is not None}
    name = arguments.name or path.stem
    sheet = DataSheet(
        voltage=value["voltage"],
        stall_torque=value["stall_torque"],
        stall_current=value["stall_current"],
        no_load_speed=value["no_load_speed"],
    )
    is_guessed = arguments.law == "voltage" and told["duty_per_kp"] is None
    servo = servo_from_data_sheet(
        name,
        sheet,
        _firmware(name, arguments.law, value),
        title=arguments.title or "",
        manufacturer=arguments.manufacturer or "",
        gain_is_guessed=is_guessed,
    )
    servo.save(path)
    by_stall, by_speed = sheet.torque_constants
    if not 0.5 < by_stall / by_speed < 2.0:
        print(
            f"k_t is {by_stall:.3g} N·m/A from stall, but {by_speed:.3g} from the speed without load: check "
            f"these values; the search covers both"
        )
    if is_guessed:
        print(
            f"duty per kp and rad: {_GUESSED_GAIN / value['factory_kp']:.3g} is taken, and how far that is "
            f"off is fitted (effect firmware_gain); record several gains, some with large errors"
        )
    print(f"wrote {path}; try: bam identify recordings --servo {path} --models all --output identified")
    return 0


def _firmware(name: str, law: str, value: Mapping[str, float]) -> PositionFirmware:
    from bam_core.servo.firmware import CurrentFirmware, VoltageFirmware

    counts, factory_kp, period = value["counts_per_turn"], value["factory_kp"], value["period"]
    if law == "current":
        return CurrentFirmware(
            name=name,
            counts_per_turn=counts,
            factory_kp=factory_kp,
            period=period,
            current_limit=value["current_limit"],
            damping=value["damping"],
        )
    return VoltageFirmware(
        name=name,
        counts_per_turn=counts,
        factory_kp=factory_kp,
        period=period,
        duty_per_kp_rad=value.get("duty_per_kp", _GUESSED_GAIN / factory_kp),
        duty_limit=value["duty_limit"],
    )


def _answer(question: _Question, arguments: argparse.Namespace) -> float | None:
    """Return the value of an option, or of what is typed; None for an empty answer that means unknown."""
    given: str | None = getattr(arguments, question.key)
    if given is not None:
        try:
            return question.read(given)
        except BamError as error:
            raise BamError(f"--{question.name}: {error}; correct it") from None
    if not sys.stdin.isatty():
        if question.default is None:
            raise BamError(
                f"--{question.name}: is missing (expected {question.words}); give it, or run this in a "
                f"terminal to be asked"
            )
        return question.read(question.default) if question.default else None
    suffix = f" ({question.default})" if question.default else ""
    while True:
        typed = input(f"{question.words}{suffix}: ").strip() or question.default
        if typed == "":
            return None
        try:
            return question.read(typed or "")
        except BamError as error:
            print(f"{error}; once more", file=sys.stderr)
