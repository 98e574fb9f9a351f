# SPDX-License-Identifier: Apache-2.0
"""Whether the positions of a run are radians: what the steps between values show counts."""

from __future__ import annotations

from bam_core.errors import BadData
from bam_core.robot.run import RobotRun
from bam_core.robot.value_steps import COUNTS, DEGREES, unit_proof

_WORDS = {DEGREES: "degrees", COUNTS: "counts of the encoder"}
_FACTORS = {DEGREES: "π/180", COUNTS: "2π/4096, after the count of their zero is subtracted"}


def require_radians(run: RobotRun) -> None:
    """Refuse positions that are degrees or counts.

    Raises:
        BadData: the steps between the values of all joints are those of another unit.
    """
    columns = zip(run.joints, run.position.T, run.is_sound.T, strict=True)
    proof = unit_proof({joint: values[sound] for joint, values, sound in columns})
    if proof.unit in _WORDS:
        joint, step = next(iter(proof.steps.items()))
        raise BadData(
            f"{run.name}, position of '{joint}'",
            f"has steps of {step:.3g}: these are {_WORDS[proof.unit]}",
            expected="rad",
            advice=f"convert goals and positions: times {_FACTORS[proof.unit]}",
        )
