# SPDX-License-Identifier: Apache-2.0
"""Random servos: parameters drawn jointly from the uncertainty of an identification."""

from __future__ import annotations

import os
from collections.abc import Iterator

from bam_core.errors import OutOfRange, Unsupported
from bam_core.identification.found_servo import found_servo
from bam_core.identification.uncertainty.prediction_file import drawable
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo


def draw_servos(servo: str | os.PathLike[str], *, count: int, seed: int = 0) -> Iterator[ServoModel]:
    """Yield servos as likely as the given one, such as one for each episode of a training.

    Args:
        servo: library name, or path of a file that `bam identify` wrote. Its ``predictions/`` hold how
            parameters vary together, and from run to run; without them they vary independently, with a
            warning.
        count: how many, one or more.
        seed: the same seed gives the same servos.

    Raises:
        BamError: a file cannot be read or has no errors, or the servo has a gear.
    """
    if count < 1:
        raise OutOfRange("count", count, "one or more")
    model = load_servo(servo)
    if model.gear is not None:
        raise Unsupported(
            f"servo '{model.name}'",
            "has a gear, whose uncertainty is not known",
            advice="draw the servo that it was made of",
        )
    vectors = drawable(servo).draw_runs(model, count=count, seed=seed)
    friction_model = FRICTION_MODELS[model.friction_model]
    return (found_servo(model, friction_model, vector)[0] for vector in vectors)
