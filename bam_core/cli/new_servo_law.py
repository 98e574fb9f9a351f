# SPDX-License-Identifier: Apache-2.0
"""The control law of ``bam servos new``: of a named firmware, of a series, or as described."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from bam_core.cli.data_sheet_questions import CONTROLLER, LAWS, answers
from bam_core.errors import BamError, Conflict, Missing

if TYPE_CHECKING:
    from bam_core.servo.data_sheet import DataSheet
    from bam_core.servo.families import CascadeFamily
    from bam_core.servo.firmware import PositionFirmware


_GUESSED_GAIN = 5.0
"""Duty per rad at the factory's kp: 5.1 (MX-106), 4.9 (MX 2.0) and 5.3 (STS3215), where it was measured."""

_POSSIBLE_GAINS = (0.0005, 1.0)
"""Share of the largest demand per rad and unit of kp, of any servo. Known ones have 0.0018 (XL330 under
current control) to 0.165 (STS3215), so both ends lie a factor of three or more beyond."""

_CASCADE_FACTORS = (0.05, 100.0)
"""Range of a gain of current, in gains with which 0.2 rad ask for the largest one. Known ones are 0.4 to 0.9
(MX-106 in mode 5, HLS2915, eRob80); a cascade may be far stiffer."""

_UNKNOWN_LAW = "unknown"
"""Answer to --firmware where no law of the library is the servo's."""
_FACTORY_KP = next(question for question in CONTROLLER if question.option == "factory-kp")


class _Law(NamedTuple):
    """A position controller, and what is known of it."""

    firmware: PositionFirmware
    gain_factors: tuple[float, float] | None
    """Least and largest gain, in gains of `firmware`, between which the true one lies; None: it is known."""
    remark: str
    """Where it comes from, and what is fitted."""


def require_one_law(arguments: argparse.Namespace) -> None:
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
    (other_law,) = LAWS.keys() - {law}
    for question in LAWS[other_law]:
        if getattr(arguments, question.field) is not None:
            raise Conflict(f"--{question.option}", f"means nothing to the {law} law", advice="leave it out")


def law_of(name: str, sheet: DataSheet, arguments: argparse.Namespace) -> _Law:
    """Return the law of the firmware that is named, of the servo's series, or of the options.

    A set-point that follows its goal at a limited speed does so at the servo's speed without load, as that of
    the STS3215 does.
    """
    from bam_core.servo.families import cascade_of, family_of
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
    cascade = cascade_of(name)
    if cascade and named is None and not is_described:
        return _cascade_law(name, sheet, arguments, cascade)
    return _described_law(name, arguments)


def _cascade_law(name: str, sheet: DataSheet, arguments: argparse.Namespace, cascade: CascadeFamily) -> _Law:
    """Return a law of current with the stall current as its limit, and a gain that is fitted."""
    from bam_core.servo.firmware_library import firmware_from_fields

    given = {
        question.field: question.value(text)
        for question in CONTROLLER
        if (text := getattr(arguments, question.field)) is not None
    }
    values = {"factory_kp": cascade.factory_kp, "counts_per_turn": cascade.counts_per_turn, **given}
    guess = sheet.stall_current * _GUESSED_GAIN / values["factory_kp"]
    law = {"law": "current", "amps_per_kp_rad": guess, "current_limit": sheet.stall_current}
    firmware = firmware_from_fields(name, {**law, **values})
    remark = (
        f"control law: current, as that of {cascade.title} servos, with their factory kp "
        f"{values['factory_kp']:g}; A per kp and rad is unknown, {guess:.3g} is taken and fitted (effect "
        "firmware_gain); the damping of its velocity controller is fitted as viscous friction"
    )
    return _Law(firmware, _CASCADE_FACTORS, remark)


def _described_law(name: str, arguments: argparse.Namespace) -> _Law:
    """Return the law that options and answers describe, with a gain that is fitted where it is unknown."""
    from bam_core.servo.firmware_library import firmware_from_fields

    law = arguments.law or "voltage"
    values = answers((*CONTROLLER, *LAWS[law]), arguments)
    answer, unit = ("duty_per_kp", "duty") if law == "voltage" else ("amps_per_kp", "A")
    field = f"{answer}_rad"
    if answer in values:
        values[field] = values.pop(answer)
        return _Law(firmware_from_fields(name, {"law": law, **values}), None, f"control law: {law}, as given")
    most = values["current_limit"] if law == "current" else 1.0
    guess = most * _GUESSED_GAIN / values["factory_kp"]
    firmware = firmware_from_fields(name, {"law": law, field: guess, **values})
    low, high = (most * gain for gain in _POSSIBLE_GAINS)
    low, high = min(low, 0.5 * guess), max(high, 2.0 * guess)
    remark = (
        f"{unit} per kp and rad: unknown, {guess:.3g} is taken and fitted between {low:.3g} and {high:.3g}, "
        f"which holds all known servos (effect firmware_gain); record several gains, some with large errors, "
        f"or name a known law with --firmware"
    )
    if not sys.stdin.isatty() and (assumed := _assumed(values, arguments)):
        remark = f"not given, so assumed: {assumed}\n{remark}"
    return _Law(firmware, (low / guess, high / guess), remark)


def _assumed(values: Mapping[str, Any], arguments: argparse.Namespace) -> str:
    """Return the numbers of a controller that no option gives."""
    return ", ".join(
        f"--{question.option} {values[question.field]:g}"
        for question in CONTROLLER
        if getattr(arguments, question.field) is None
    )


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
