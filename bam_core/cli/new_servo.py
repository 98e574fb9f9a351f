# SPDX-License-Identifier: Apache-2.0
"""``bam servos new``: a file for a servo that the library does not have, from its data sheet."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from bam_core.errors import BamError, Conflict, Missing, NotWritable, OutOfRange, WrongType
from bam_core.text.quantity import CURRENT, NO_UNIT, SPEED, TIME, TORQUE, VOLTAGE, Units, quantity

if TYPE_CHECKING:
    from bam_core.servo.data_sheet import DataSheet
    from bam_core.servo.firmware import PositionFirmware

_GUESSED_GAIN = 5.0
"""Duty per rad at the factory's kp: 5.1 (MX-106), 4.9 (MX 2.0) and 5.3 (STS3215), where it was measured."""

_POSSIBLE_GAINS = (0.0005, 1.0)
"""Share of the largest demand per rad and unit of kp, of any servo. Known ones have 0.0018 (XL330 under
current control) to 0.165 (STS3215), so both ends lie a factor of three or more beyond."""

_NUMBER = re.compile(r"[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)  # without a unit

_UNKNOWN_LAW = "unknown"
"""Answer to --firmware where no law of the library is the servo's."""


class Question(NamedTuple):
    """One value of the data sheet."""

    option: str
    """Its option, without dashes."""
    words: str
    """What it is."""
    units: Units = NO_UNIT
    """In which it may be given."""
    default: str | None = None
    """What an empty answer means; None: there has to be one; empty: the value may be unknown."""

    @property
    def field(self) -> str:
        """Its name in what the options were parsed into."""
        return self.option.replace("-", "_")

    def value(self, text: str) -> float:
        """Read a number, with a unit or without, in SI units.

        Raises:
            WrongType: it is no number, or has another unit.
            OutOfRange: it is not above zero.
        """
        value = quantity(f"--{self.option}", text, self.units)
        if not 0.0 < value < math.inf:
            raise OutOfRange(f"--{self.option}", text, "above zero")
        return value


SHEET = (
    Question("voltage", "supply of the following values [V]", VOLTAGE),
    Question("stall-torque", "stall torque, such as '50 kg.cm' or '4.9' [N·m]", TORQUE),
    Question("stall-current", "stall current [A]", CURRENT),
    Question("no-load-speed", "speed without load, such as '75 rpm' or '0.133 s/60deg' [rad/s]", SPEED),
)
"""Fields of `DataSheet`."""

CONTROLLER = (
    Question("counts-per-turn", "encoder counts per turn of the output shaft", default="4096"),
    Question("factory-kp", "position gain kp that it comes with", default="32"),
    Question("period", "period of its position controller [s]", TIME, default="0.001"),
)
_FACTORY_KP = next(question for question in CONTROLLER if question.option == "factory-kp")
LAWS: Mapping[str, tuple[Question, ...]] = MappingProxyType(
    {
        "voltage": (
            Question(
                "duty-per-kp",
                "duty (1: whole supply) per rad of error and unit of kp; empty: unknown, it is fitted",
                default="",
            ),
            Question("duty-limit", "largest duty, 1 is the whole supply", default="1"),
        ),
        "current": (
            Question("current-limit", "largest current [A]", CURRENT),
            Question(
                "amps-per-kp", "A per rad of error and unit of kp; empty: unknown, it is fitted", default=""
            ),
            Question("damping", "damping [A·s/rad per root of the gain in A/rad]; empty: none", default=""),
        ),
    }
)
"""Fields of the firmware, those that all laws have and those of one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``bam servos new``."""
    group = parser.add_argument_group(
        "what 'new' asks for where it is not given, as in the data sheet; a number without a unit is SI"
    )
    group.add_argument(
        "--from",
        dest="base",
        metavar="SERVO",
        help="derive it from this servo, a library name or a file, instead: the same motor with another gear "
        "ratio (--gear-ratio) or supply (--voltage), or several on one joint (--motors); FILE may be left "
        "out then",
    )
    group.add_argument(
        "--gear-ratio",
        metavar="N|N/OLD",
        help="with --from: turns of the motor per turn of the output shaft, such as 191; OLD is that of "
        "SERVO, where its file lacks it",
    )
    group.add_argument(
        "--motors",
        type=int,
        metavar="N",
        help="with --from: so many servos drive one joint together, each with the same goal, mirrored or not",
    )
    group.add_argument("--name", help="as recordings name it (default: name of FILE)")
    group.add_argument("--title", default="", help="what is printed on it (default: its name)")
    group.add_argument("--manufacturer", default="", help="who makes it")
    group.add_argument(
        "--firmware",
        metavar="NAME",
        help="its control law is that of this firmware, such as mx-protocol2 (the X series), xl330, "
        "feetech-sts, or 'unknown' (default: that of its series where NAME is of a known one)",
    )
    group.add_argument(
        "--law",
        choices=tuple(LAWS),
        help="of an unknown firmware: its position controller sets the motor's voltage, as most do, or its "
        "current (default: voltage)",
    )
    for question in (*SHEET, *CONTROLLER, *LAWS["voltage"], *LAWS["current"]):
        group.add_argument(f"--{question.option}", metavar="VALUE", help=question.words)


def run(arguments: argparse.Namespace) -> int:
    """Ask, write the file, and print what to do with it."""
    from bam_core.servo.data_sheet import DataSheet, servo_from_data_sheet

    if arguments.base is not None:
        return _derive(arguments)
    if arguments.gear_ratio is not None:
        raise Missing(
            "--from",
            "the servo with the motor that --gear-ratio is for",
            advice="leave it out if torque and speed are those of the output shaft",
        )
    if arguments.motors is not None:
        raise Missing("--from", "the servo of which --motors are on one joint")
    path = _new_file(arguments.file)
    name = arguments.name or path.stem
    _require_one_law(arguments)
    sheet = DataSheet(**_answers(SHEET, arguments))
    law = _law(name, sheet, arguments)
    servo = servo_from_data_sheet(
        name,
        sheet,
        law.firmware,
        title=arguments.title,
        manufacturer=arguments.manufacturer,
        gain_factors=law.gain_factors,
    )
    servo.save(path)
    if not _agrees(sheet):
        by_stall, by_speed = sheet.torque_constants
        units = units_that_agree(sheet, arguments)
        agreed = f"a number without a unit is SI, they agree with {' or '.join(units)}"
        cure = agreed if units else "check these values"
        print(
            f"k_t is {by_stall:.3g} N·m/A from stall, but {by_speed:.3g} from the speed without load: "
            f"{cure}; the search covers both"
        )
    print(law.remark)
    print(f"wrote {path}; try: bam identify recordings --servo {path} --models all --output identified")
    return 0


def _agrees(sheet: DataSheet) -> bool:
    """Return whether both k_t of a data sheet are alike, as far as losses let them."""
    by_stall, by_speed = sheet.torque_constants
    return 0.5 < by_stall / by_speed < 2.0


def units_that_agree(sheet: DataSheet, arguments: argparse.Namespace) -> list[str]:
    """Return options of the data sheet, each a bare number, with the unit that would make k_t agree."""
    agreeing = []
    for question in SHEET[1:]:
        text = getattr(arguments, question.field)
        if text is None or not _NUMBER.fullmatch(text.strip()):
            continue
        for unit in list(question.units)[1:]:
            value = question.value(f"{text} {unit}")
            if _agrees(replace(sheet, **{question.field: value})):
                agreeing.append(f"--{question.option} '{text} {unit}'")
                break  # the units of data sheets come first
    return agreeing


def _derive(arguments: argparse.Namespace) -> int:
    """Write a servo with the motor of another one."""
    from bam_core.servo.derived import derived_servo, version_for
    from bam_core.servo.model import load_servo

    for question in (*SHEET[1:], *CONTROLLER, *LAWS["voltage"], *LAWS["current"]):
        if getattr(arguments, question.field) is not None:
            raise Conflict(f"--{question.option}", "is given beside --from", advice="leave one of them out")
    for option in ("law", "firmware"):
        if getattr(arguments, option) is not None:
            raise Conflict(f"--{option}", "is given beside --from", advice="leave one of them out")
    voltage = None if arguments.voltage is None else SHEET[0].value(arguments.voltage)
    motors = 1 if arguments.motors is None else arguments.motors
    if voltage is None and arguments.gear_ratio is None and motors == 1:
        raise Missing(
            "--gear-ratio, --voltage or --motors",
            "the value that differs from the servo of --from, as in --gear-ratio 191",
        )
    origin = arguments.base if voltage is None else version_for(arguments.base, voltage)
    base = load_servo(origin)
    ratio, old = _ratios(arguments.gear_ratio)
    if old is not None:
        base = replace(base, gear_ratio=old)
    suffix = "" if motors == 1 else f"_x{motors}"
    suffix += f"_{ratio:g}" if ratio is not None else "" if voltage is None else f"_{voltage:g}V"
    path = _new_file(arguments.file or f"{base.name}{suffix}.yaml")
    servo = derived_servo(
        base, name=arguments.name or path.stem, gear_ratio=ratio, voltage=voltage, motors=motors
    )
    changes = {name: value for name in ("title", "manufacturer") if (value := getattr(arguments, name))}
    servo = replace(servo, **changes)
    servo.save(path)
    if origin != arguments.base:
        print(f"from {origin}, the library's version for {base.nominal_voltage:g} V")
    elif voltage is not None and voltage != base.nominal_voltage:
        print(
            f"motor and gears are those of {base.name}; a version that is sold for {voltage:g} V has another "
            f"winding, and needs a file from its data sheet or an identification"
        )
    print(f"wrote {path}: derived, no recording tests it; stall torque {servo.stall_torque():.3g} N·m")
    return 0


def _ratios(text: str | None) -> tuple[float | None, float | None]:
    """Return the new gear ratio and the old one, as far as they are given."""
    if text is None:
        return None, None
    question = Question("gear-ratio", "")
    new, slash, old = text.strip().removeprefix("1:").partition("/")
    return question.value(new), question.value(old.strip().removeprefix("1:")) if slash else None


class _Law(NamedTuple):
    """A position controller, and what is known of it."""

    firmware: PositionFirmware
    gain_factors: tuple[float, float] | None
    """Least and largest gain, in gains of `firmware`, between which the true one lies; None: it is known."""
    remark: str
    """Where it comes from, and what is fitted."""


def _require_one_law(arguments: argparse.Namespace) -> None:
    """Refuse options of two laws."""
    of_a_known_law = [question for question in CONTROLLER if question.option != "factory-kp"]
    for question in (*of_a_known_law, *LAWS["voltage"], *LAWS["current"]):
        if getattr(arguments, question.field) is not None and arguments.firmware not in (None, _UNKNOWN_LAW):
            raise Conflict(
                f"--{question.option}",
                f"is given beside --firmware {arguments.firmware}, which has its own",
                advice="leave one of them out",
            )
    if arguments.law is not None and arguments.firmware not in (None, _UNKNOWN_LAW):
        raise Conflict(
            "--law", f"is given beside --firmware {arguments.firmware}", advice="leave one of them out"
        )
    law = arguments.law or "voltage"
    (other,) = LAWS.keys() - {law}
    for question in LAWS[other]:
        if getattr(arguments, question.field) is not None:
            raise Conflict(f"--{question.option}", f"means nothing to the {law} law", advice="leave it out")


def _law(name: str, sheet: DataSheet, arguments: argparse.Namespace) -> _Law:
    """Return the law of the firmware that is named, of the servo's series, or of the options.

    A set-point that follows its goal at a limited speed does so at the servo's speed without load, as that of
    the STS3215 does.
    """
    from bam_core.servo.families import family_of
    from bam_core.servo.firmware_library import find_firmware

    family = family_of(name)
    described = [question for questions in LAWS.values() for question in questions]
    is_described = arguments.law is not None or any(
        getattr(arguments, question.field) is not None for question in described
    )
    named = arguments.firmware
    if named is None and sys.stdin.isatty() and not is_described:
        named = _typed_firmware(family.firmware if family else _UNKNOWN_LAW)
    changes: dict[str, Any] = (
        {} if arguments.factory_kp is None else {"factory_kp": _FACTORY_KP.value(arguments.factory_kp)}
    )
    if family and not is_described and named in (None, family.firmware):
        law = family.law
        if math.isfinite(law.goal_speed_limit):
            changes["goal_speed_limit"] = float(f"{sheet.no_load_speed:.3g}")
        fitted = "; its gain is unproven and fitted (effect firmware_gain)" if family.gain_factors else ""
        of_series = f"that of {family.title} servos, with their factory kp {law.factory_kp:g}"
        remark = f"control law: {family.firmware}, {of_series}{fitted}"
        return _Law(replace(law, **changes), family.gain_factors, remark)
    if named not in (None, _UNKNOWN_LAW):
        return _Law(replace(find_firmware(named), **changes), None, f"control law: {named}")
    return _described_law(name, arguments)


def _described_law(name: str, arguments: argparse.Namespace) -> _Law:
    """Return the law that options and answers describe, with a gain that is fitted where it is unknown."""
    from bam_core.servo.firmware_library import firmware_from_fields

    law = arguments.law or "voltage"
    values = _answers((*CONTROLLER, *LAWS[law]), arguments)
    answer, unit = ("duty_per_kp", "duty") if law == "voltage" else ("amps_per_kp", "A")
    field = f"{answer}_rad"
    if answer in values:
        values[field] = values.pop(answer)
        return _Law(firmware_from_fields(name, {"law": law, **values}), None, f"control law: {law}, as given")
    most = values["current_limit"] if law == "current" else 1.0
    guess = most * _GUESSED_GAIN / values["factory_kp"]
    firmware = firmware_from_fields(name, {"law": law, field: guess, **values})
    low, high = (most * gain for gain in _POSSIBLE_GAINS)
    remark = (
        f"{unit} per kp and rad: unknown, {guess:.3g} is taken and fitted between {low:g} and {high:g}, "
        f"which holds all known servos (effect firmware_gain); record several gains, some with large errors, "
        f"or name a known law with --firmware"
    )
    return _Law(firmware, (min(low / guess, 0.5), max(high / guess, 2.0)), remark)


def _typed_firmware(default: str) -> str:
    """Ask for the name of a firmware until it is a known one."""
    from bam_core.servo.firmware_library import FIRMWARES, find_firmware

    while True:
        try:
            answer = input(
                f"control law, one of {', '.join(FIRMWARES)}, {_UNKNOWN_LAW} ({default}): "
            ).strip()
        except EOFError:
            raise Missing(
                "answer to --firmware", "a control law", advice="answer, or give the option"
            ) from None
        try:
            return answer if answer == _UNKNOWN_LAW else find_firmware(answer or default).name
        except BamError as error:
            if not answer:
                return default
            print(error, file=sys.stderr)


def _new_file(given: str | None) -> Path:
    from bam_core.files.atomic_file import require_file

    if given is None:
        raise Missing("FILE", "the servo file to write, such as my_servo.yaml", advice="name it")
    path = Path(given)
    if path.suffix not in (".yaml", ".yml"):
        raise WrongType("FILE", given, "the name of a servo file, such as my_servo.yaml")
    require_file(path)
    if path.exists():
        raise NotWritable(path, "exists", expected="a new file", advice="choose another name, or remove it")
    return path


def _answers(questions: Iterable[Question], arguments: argparse.Namespace) -> dict[str, float]:
    """Return the values of options, or of what is typed; what is unknown is left out."""
    values = {question.field: _answer(question, arguments) for question in questions}
    return {field: value for field, value in values.items() if value is not None}


def _answer(question: Question, arguments: argparse.Namespace) -> float | None:
    text: str | None = getattr(arguments, question.field)
    if text is None and sys.stdin.isatty():
        return _typed(question)
    text = question.default if text is None else text
    if text is None:
        raise Missing(
            f"--{question.option}",
            question.words,
            advice="give it, or run this in a terminal to be asked",
        )
    return question.value(text) if text else None


def _typed(question: Question) -> float | None:
    hint = f" ({question.default})" if question.default else ""
    while True:
        try:
            text = input(f"{question.words}{hint}: ").strip() or question.default
        except EOFError:
            raise Missing(
                f"answer to --{question.option}", question.words, advice="answer, or give the option"
            ) from None
        if text == "":
            return None
        try:
            return question.value(text or "")
        except BamError as error:
            print(error, file=sys.stderr)
