# SPDX-License-Identifier: Apache-2.0
"""Names and units of the parameters of a servo and of the bench of its recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType

from bam_core.servo.effects import EFFECTS, BenchEffects, ServoEffects
from bam_core.servo.friction import FRICTION_UNITS

MOTOR_PARAMETERS = ("torque_constant", "resistance", "armature")
MOTOR_EFFECTS = ("torque_saturation", "winding_heating")
SERVO_EFFECTS = tuple(field.name for field in fields(ServoEffects))
BENCH_EFFECTS = tuple(field.name for field in fields(BenchEffects))
FRICTION_EFFECTS = ("load_inertia", "friction_direction")
"""Effects of a servo on which friction acts in a state, beyond its law."""
GEAR_COEFFICIENTS = ("input_side", "output_side")
GEAR_FRICTION = ("m1", "m2")
"""Friction models without load: what a servo with a gear has beside it."""

PARAMETER_UNITS: Mapping[str, str] = MappingProxyType(
    {
        "torque_constant": "N·m/A",
        "resistance": "Ω",
        "armature": "kg·m²",
        **FRICTION_UNITS,
        **{effect.name: effect.unit for effect in EFFECTS.values()},
        **dict.fromkeys(GEAR_COEFFICIENTS, "-"),
    }
)
"""Unit of every parameter that an identification can find."""
