# SPDX-License-Identifier: Apache-2.0
"""Whether positions are radians: what the steps between values show counts."""

from __future__ import annotations

from collections.abc import Mapping

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.robot.value_steps import COUNTS, DEGREES, unit_proof

_WORDS = {DEGREES: "degrees", COUNTS: "counts of the encoder"}
_CURES = {
    DEGREES: "give the unit: --unit deg, or unit: deg in a map",
    COUNTS: "convert goals and positions: times 2π/4096, after the count of their zero is subtracted",
}


def require_radians(name: str, positions: Mapping[str, Array]) -> None:
    """Refuse positions that are degrees or counts.

    Args:
        name: of the recording.
        positions: joint -> (samples,) as they were read; NaN: not recorded.

    Raises:
        BadData: the steps between the values of all joints are those of another unit.
    """
    proof = unit_proof(positions)
    if proof.unit in _WORDS:
        joint, step = next(iter(proof.steps.items()))
        raise BadData(
            f"{name}, position of '{joint}'",
            f"has steps of {step:.3g}: these are {_WORDS[proof.unit]}",
            expected="rad",
            advice=_CURES[proof.unit],
        )
