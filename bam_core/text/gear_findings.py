# SPDX-License-Identifier: Apache-2.0
"""Findings about gears whose friction model is ill-posed with a load (Kikuuwe)."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding


@dataclass(frozen=True, kw_only=True)
class IllPosedGear(Finding):
    """A gear that friction may jam with a load, Kikuuwe eq. 29.

    Attributes:
        servo: name.
        feedback: |ρ̂| with this load; it should be below 1.
        input_side: asymmetry of the gear.
        output_side: asymmetry of the gear.
    """

    kind: str = field(default="ill_posed_gear", init=False)
    servo: str
    feedback: float
    input_side: float
    output_side: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """How far, and what to lower."""
        return (
            f"Servo '{self.servo}', gear: |ρ̂| is {self.feedback:.3g} with this load (expected < 1, eq. 29).",
            "Friction may jam it while it moves.",
            f"Lower gear.input_side = {self.input_side:g} or gear.output_side = {self.output_side:g}.",
        )


@dataclass(frozen=True, kw_only=True)
class IllPosedGears(Finding):
    """Gears that may jam, or have two solutions, with rotor and load in simulation: Kikuuwe eqs. 29, 57.

    Attributes:
        kind: "own_feedback" (of one joint, eq. 29) or "joint_gain" (of all together, eq. 57).
        joints: names.
        gain: |ρ̂| or σ_max(P); it should be below 1.
        servo: name of the joint's servo; empty of several.
        input_side: asymmetry of the joint's gear.
        output_side: asymmetry of the joint's gear.
    """

    joints: tuple[str, ...]
    gain: float
    servo: str = ""
    input_side: float = 0.0
    output_side: float = 0.0

    @property
    def sentences(self) -> tuple[str, ...]:
        """How far, and what to lower."""
        if self.kind == "joint_gain":
            return (
                f"Gears: σ_max(P) is {self.gain:.3g} in this pose with this load (expected < 1, eq. 57).",
                "A step may have two solutions.",
                f"Lower gear.output_side of {', '.join(self.joints)}.",
            )
        return (
            f"Joint '{self.joints[0]}': |ρ̂| of its gear is {self.gain:.3g} (expected < 1, eq. 29).",
            "Friction may jam it while it moves.",
            f"Lower gear.input_side = {self.input_side:g} or gear.output_side = {self.output_side:g} "
            f"of servo '{self.servo}'.",
        )
