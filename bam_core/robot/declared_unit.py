# SPDX-License-Identifier: Apache-2.0
"""Whether positions have the unit that is declared: what the steps between values show counts."""

from __future__ import annotations

from collections.abc import Mapping

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.robot.value_steps import COUNTS, DEGREES, RADIANS, unit_proof

_WORDS = {DEGREES: "degrees", RADIANS: "radians", COUNTS: "counts of the encoder"}
_CURES = {
    DEGREES: "give the unit: --unit deg, or unit: deg in a map",
    RADIANS: "leave --unit out, and unit in a map",
    COUNTS: "convert goals and positions: times 2π/4096, after the count of their zero is subtracted",
}


def require_declared_unit(name: str, positions: Mapping[str, Array], unit: str) -> None:
    """Refuse positions whose values are in another unit than declared.

    Args:
        name: of the recording.
        positions: joint -> (samples,) as they were recorded; NaN: not recorded.
        unit: that is declared, "rad" or "deg".

    Raises:
        BadData: the steps between the values of all joints are those of another unit.
    """
    proof = unit_proof(positions)
    if proof.unit in _WORDS and proof.unit != unit:
        joint, step = next(iter(proof.steps.items()))
        raise BadData(
            f"{name}, position of '{joint}'",
            f"has steps of {step:.3g}: these are {_WORDS[proof.unit]}",
            expected=unit,
            advice=_CURES[proof.unit],
        )
