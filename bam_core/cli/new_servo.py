# SPDX-License-Identifier: Apache-2.0
"""``bam servos new``: a file for a servo that the library does not have, from its data sheet."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from bam_core.cli.data_sheet_questions import CONTROLLER, LAWS, SHEET, answers
from bam_core.cli.derive_servo import derive_servo
from bam_core.cli.new_servo_file import new_file
from bam_core.cli.new_servo_law import law_of, require_one_law
from bam_core.errors import Missing

if TYPE_CHECKING:
    from bam_core.servo.data_sheet import DataSheet


_NUMBER = re.compile(r"[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)  # without a unit


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
        return derive_servo(arguments)
    if arguments.gear_ratio is not None:
        raise Missing(
            "--from",
            "the servo with the motor that --gear-ratio is for",
            advice="leave it out if torque and speed are those of the output shaft",
        )
    if arguments.motors is not None:
        raise Missing("--from", "the servo of which --motors are on one joint")
    path = new_file(arguments.file)
    name = arguments.name or path.stem
    require_one_law(arguments)
    sheet = DataSheet(**answers(SHEET, arguments))
    law = law_of(name, sheet, arguments)
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
    print(f"wrote {path}; friction and armature are guesses until you identify the servo")
    print(f"simulate it: bam simulate --servo {path} --script sin_sin --output simulated")
    print(f"identify it: bam identify recordings --servo {path} --models all --output identified")
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
