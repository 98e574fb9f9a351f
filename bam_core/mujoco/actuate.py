# SPDX-License-Identifier: Apache-2.0
"""What drives joints: plain servos, or servos some of which have a gear."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from bam_core.mujoco.actuation import ServoActuation
from bam_core.mujoco.geared_servos import GearedServos
from bam_core.servo.model import ServoLike, load_servo


def actuate(model: mujoco.MjModel, data: mujoco.MjData, servos: Mapping[str, ServoLike]) -> ServoActuation:
    """Return what drives these joints: `GearedServos` where a servo has a gear, else `ServoActuation` itself.

    Raises:
        BamError: as of `ServoActuation`.
    """
    models = {name: load_servo(servo) for name, servo in servos.items()}
    if all(servo.gear is None for servo in models.values()):
        return ServoActuation(model, data, models)
    return GearedServos(model, data, models)
