# SPDX-License-Identifier: Apache-2.0
"""Joint draws of a servo's parameters as a file: one row per episode, named columns, units, origin."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.uncertainty.drawn_servos import draw_servos
from bam_core.identification.uncertainty.prediction_file import drawable
from bam_core.mujoco.step_law import Number
from bam_core.servo.friction import coefficient_names
from bam_core.servo.model import load_servo, servo_path
from bam_core.servo.parameters import PARAMETER_UNITS


@dataclass(frozen=True, kw_only=True)
class ServoDraws:
    """Draws of a servo, each a run of its own: estimates and what varies from run to run, drawn together.

    Attributes:
        parameters: (draws,) by parameter name, SI.
        servo: its name.
        friction_model: "m1" to "m6".
        servo_sha256: hash of the servo's file.
        seed: of the draws.
        varies: whether the servo's identification found how runs vary; else only estimates are drawn.
    """

    parameters: dict[str, Array]
    servo: str
    friction_model: str
    servo_sha256: str
    seed: int
    varies: bool

    def npz(self) -> bytes:
        """Return the content of an .npz file; `units` is JSON, from parameter name to unit."""
        buffer = io.BytesIO()
        np.savez(
            buffer,
            allow_pickle=False,
            **self.parameters,
            units=np.array(json.dumps({name: PARAMETER_UNITS[name] for name in self.parameters})),
            levels=np.array("estimate, run" if self.varies else "estimate"),
            servo=np.array(self.servo),
            friction_model=np.array(self.friction_model),
            servo_sha256=np.array(self.servo_sha256),
            seed=np.array(self.seed),
        )
        return buffer.getvalue()


def servo_draws(source: str | os.PathLike[str], count: int, seed: int = 0) -> ServoDraws:
    """Return joint draws of a servo's motor constants, friction and effects.

    Args:
        source: library name, or path of a file that `bam identify` wrote.
        count: draws, one or more.
        seed: the same seed gives the same draws.

    Raises:
        BamError: a file cannot be read or has no errors, or the servo has a gear.
    """
    servo = load_servo(source)
    rows = [drawn.parameters for drawn in draw_servos(source, count=count, seed=seed)]
    return ServoDraws(
        parameters={name: np.array([row[name] for row in rows]) for name in servo.parameters},
        servo=servo.name,
        friction_model=servo.friction_model,
        servo_sha256=hashlib.sha256(servo_path(source).read_bytes()).hexdigest(),
        seed=seed,
        varies=drawable(source).variation is not None,
    )


def drawn_numbers(parameters: Mapping[str, Array]) -> dict[str, Array]:
    """Return those draws that mjlab's `servo_actuator` applies, by name in `step_law.Number`.

    `load` and `load_stribeck` of M3 and M4 are two numbers each. The armature is the model's, not the law's.
    """
    numbers = {name: values for own, values in parameters.items() for name in coefficient_names(own)}
    return {
        name: values for name, values in numbers.items() if name in Number.__members__ and name != "armature"
    }
