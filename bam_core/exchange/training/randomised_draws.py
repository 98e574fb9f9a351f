# SPDX-License-Identifier: Apache-2.0
"""Terms of `bam export --draws`: they move the servo's full law on a bench."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, BamError, Conflict, Malformed, Missing, OutOfRange, Unreadable
from bam_core.exchange.training.randomised_motion import EXPECTED, STEP, Move, TermRange, bench, goals, times
from bam_core.exchange.training.servo_draws import drawn_numbers
from bam_core.files.npz_file import read_arrays
from bam_core.mujoco.replay import BenchCommands, replay
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel, load_servo, servo_names, servo_path
from bam_core.servo.parameters import MOTOR_EFFECTS, MOTOR_PARAMETERS, PARAMETER_UNITS


def draws_of_file(path: Path, source: str | None, target: str | None) -> tuple[list[TermRange], Move]:
    """Return the terms of draws, and the motion of the servo with one of them.

    Args:
        path: of `bam export --draws`.
        source: library name or file of the servo; None: the library's of the name in the file.
        target: "mjlab": what it ignores counts as ignored. None: nothing is.

    Raises:
        BamError: the file cannot be read, or is of another servo.
    """
    try:
        arrays = read_arrays(path)
    except OSError as error:
        raise Unreadable(path, error) from None
    except ValueError as error:
        raise Malformed(path, str(error), expected=EXPECTED, advice="write it anew") from None
    drawn = {name: values for name, values in arrays.items() if values.ndim == 1}
    if not drawn or "servo_sha256" not in arrays:
        raise Malformed(path, "has no draws", expected=EXPECTED, advice="write it anew")
    for name, values in drawn.items():
        if values.dtype.kind != "f" or not len(values) or not np.isfinite(values).all():
            raise OutOfRange(f"{path}, {name}", "no finite numbers", "draws")
    servo = _drawn_servo(path, source, str(arrays.get("servo")), str(arrays["servo_sha256"]))
    load = bench(servo.stall_torque())
    wanted = goals(times())

    def move(name: str | None, value: float) -> Array:
        commands = BenchCommands(
            goal_position=wanted,
            torque_enabled=np.ones(len(wanted), dtype=bool),
            supply_voltage=servo.nominal_voltage,
        )
        try:
            moved = servo if name is None else _with_parameter(servo, name, value)
            return replay(moved, load, commands, dt=STEP, kp=servo.firmware.factory_kp).position
        except BamError as error:
            if name is None:
                raise
            raise BadData(f"{path}, {name}", f"is {value:g}: {error}", advice="correct this draw") from None

    def cause(name: str) -> str | None:
        if name not in PARAMETER_UNITS:
            return "unknown_name"
        if name not in servo.parameters:
            return "no_parameter"
        return "ignored" if target == "mjlab" and not drawn_numbers({name: drawn[name]}) else None

    ranges = [
        TermRange(name=name, low=float(values.min()), high=float(values.max()), cause=cause(name))
        for name, values in drawn.items()
    ]
    return ranges, move


def _drawn_servo(path: Path, source: str | None, name: str, sha256: str) -> ServoModel:
    if source is None and name not in servo_names():
        raise Missing("--servo", f"the file that {path} was drawn of, servo '{name}'", advice="give it")
    source = name if source is None else source
    servo = load_servo(source)
    if hashlib.sha256(servo_path(source).read_bytes()).hexdigest() != sha256:
        raise Conflict(
            str(path),
            f"is not drawn of servo {source!r}: servo_sha256 differs",
            expected="the file that it was drawn of",
            advice="give it with --servo, or draw anew",
        )
    return servo


def _with_parameter(servo: ServoModel, name: str, value: float) -> ServoModel:
    if name in (*MOTOR_PARAMETERS, *MOTOR_EFFECTS):
        return replace(servo, motor=replace(servo.motor, **{name: value}))
    if name in vars(servo.servo_effects):
        return replace(servo, servo_effects=replace(servo.servo_effects, **{name: value}))
    model = friction_model(servo.friction_model)
    values = {**model.values(servo.friction), name: value}
    return replace(servo, friction=model.friction(values, quadratic_rule=servo.friction.quadratic_rule))
