# SPDX-License-Identifier: Apache-2.0
"""``bam servos new --from``: a servo with the motor of another one."""

from __future__ import annotations

import argparse
from dataclasses import replace

from bam_core.cli.data_sheet_questions import CONTROLLER, LAWS, SHEET, Question
from bam_core.cli.new_servo_file import new_file
from bam_core.errors import Conflict, Missing


def derive_servo(arguments: argparse.Namespace) -> int:
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
    path = new_file(arguments.file or f"{base.name}{suffix}.yaml")
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
