# SPDX-License-Identifier: Apache-2.0
"""A servo as a parameter file of BAM's own program; the reverse of `bam_parameters`."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bam_core.errors import UnknownName, Unsupported
from bam_core.exchange.bam_actuators import (
    ACTUATORS,
    BAM_NAMES,
    CURRENT,
    DELAY,
    RATIO,
    SPEED,
    UNSUPPORTED,
    bam_name,
    law_keys,
)
from bam_core.exchange.bam_parameters import INTEGRATOR, KEYS, MOTOR, QUADRATIC_RULE
from bam_core.servo.bench_effects_file import BenchEffectsLike, load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.firmware_laws import CurrentFirmware, VoltageFirmware
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.servo.parameters import PARAMETER_UNITS

_HELD: Mapping[str, str] = MappingProxyType(
    {RATIO: "firmware_gain", SPEED: "goal_slew_time", DELAY: "command_delay"}
)
"""Key -> the effect that it holds."""


def bam_parameters(
    servo: ServoLike, actuator: str | None = None, bench_effects: BenchEffectsLike = IDEAL_BENCH
) -> tuple[dict[str, Any], list[str]]:
    """Return a servo as BAM's program reads it, and one line about everything that it cannot hold.

    Args:
        servo: any without a gear.
        actuator: BAM's name of it; default the one for the servo's own.
        bench_effects: of the bench on which it was recorded: BAM's parameters hold zero offset and delay.

    Raises:
        BamError: BAM's program has no such actuator, or the servo has a gear.
    """
    servo = load_servo(servo)
    servo.require_no_gear("BAM's program")
    actuator = BAM_NAMES.get(servo.name, servo.name) if actuator is None else actuator
    actuator = bam_name(actuator)
    if actuator in UNSUPPORTED:
        raise Unsupported("actuator", UNSUPPORTED[actuator], advice="choose another one with --actuator")
    if actuator not in ACTUATORS:
        raise UnknownName("actuator of BAM", actuator, ACTUATORS)
    bench_effects = load_bench_effects(bench_effects)
    values = {**servo.parameters, "zero_offset": -bench_effects.zero_offset}
    law = FRICTION_MODELS[servo.friction_model]
    motor = (*MOTOR, *(("zero_offset",) if values["zero_offset"] else ()))
    keys = law_keys(servo.firmware, servo.servo_effects, bench_effects, ACTUATORS[actuator])
    data: dict[str, Any] = {KEYS[name]: values[name] for name in motor}
    data |= keys
    data |= {key: values[name] for name, key in KEYS.items() if name in law.parameters}
    return {**data, "model": law.name, "actuator": actuator}, _losses(servo, bench_effects, actuator, keys)


def bam_parameters_text(data: Mapping[str, Any]) -> str:
    """Return the text of a parameter file; every number reads back exactly."""
    return json.dumps(data, indent=4) + "\n"


def _losses(
    servo: ServoModel, bench_effects: BenchEffects, actuator: str, keys: Mapping[str, float]
) -> list[str]:
    held = {"zero_offset", *(name for key, name in _HELD.items() if key in keys)}
    losses = [
        f"{name}: {value:g} {PARAMETER_UNITS[name]} is left out, BAM's program has no such effect"
        for name, value in {**servo.effect_values, **vars(bench_effects)}.items()
        if value and name not in held
    ]
    if servo.integrator != INTEGRATOR:
        losses.append(
            f"integrator: the parameters were fitted with {servo.integrator}, BAM's program adds the "
            f"numerical damping of its own ({INTEGRATOR})"
        )
    friction = servo.friction
    if friction.quadratic_rule != QUADRATIC_RULE and (
        friction.quadratic_motor or friction.quadratic_external
    ):
        losses.append(
            f"quadratic_rule: is {friction.quadratic_rule}, BAM's program applies the quadratic term only "
            f"where motor and load torque oppose"
        )
    theirs = load_servo(ACTUATORS[actuator].servo).firmware
    if _without_keys(servo.firmware, keys) != _without_keys(theirs, keys):
        losses.append(
            f"firmware: is {servo.firmware.name}, BAM's program simulates {actuator} with "
            f"{theirs.name}, whose control law is another"
        )
    return losses


def _without_keys(firmware: PositionFirmware, keys: Mapping[str, float]) -> PositionFirmware:
    """Return a firmware without what keys of the file hold of it, and without its name where it has any."""
    if RATIO in keys and isinstance(firmware, VoltageFirmware):
        firmware = dataclasses.replace(firmware, duty_per_kp_rad=1.0)
    if SPEED in keys:
        firmware = dataclasses.replace(firmware, goal_speed_limit=math.inf)
    if CURRENT in keys and isinstance(firmware, CurrentFirmware):
        firmware = dataclasses.replace(firmware, current_limit=1.0)
    return dataclasses.replace(firmware, name="") if keys else firmware
