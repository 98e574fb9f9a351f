# SPDX-License-Identifier: Apache-2.0
"""Findings about a servo model beside recordings that may not be of its servo, bench or unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bam_core.text.finding import Finding


@dataclass(frozen=True, kw_only=True)
class OtherServo(Finding):
    """Recordings of another servo, or of another control law, that a model is compared with.

    Attributes:
        kind: "other_servo" or "other_law".
        servo: name of the model.
        firmware: name of its law.
        others: names of servos, or of laws.
    """

    servo: str
    firmware: str
    others: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is compared with what."""
        if self.kind == "other_servo":
            others = ", ".join(f"'{name}'" for name in self.others)
            return (f"Servo model '{self.servo}' is compared with recordings of {others}.",)
        return (
            f"Servo model '{self.servo}' has firmware {self.firmware}.",
            f"It is compared with recordings under {', '.join(self.others)}.",
        )


@dataclass(frozen=True, kw_only=True)
class PriorOfOneUnit(Finding):
    """A prior that is an identified unit, not a type.

    Attributes:
        file: of the prior.
    """

    kind: str = field(default="prior_of_one_unit", init=False)
    file: Path

    @property
    def sentences(self) -> tuple[str, ...]:
        """Whose prior it is, and what to take for another unit."""
        return (
            f"{self.file}: the prior is of one unit.",
            "Use it for further runs of the same unit.",
            "For another unit, use the file that 'bam fleet' wrote.",
        )


@dataclass(frozen=True, kw_only=True)
class BenchLeftOut(Finding):
    """A library servo whose bench effects are not simulated.

    Attributes:
        kind: "own_recordings" (it was identified from these recordings) or "other_bench" (it was not).
        servo: name.
    """

    servo: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is left out, and how to include it."""
        option = f"--bench-effects {self.servo}"
        if self.kind == "own_recordings":
            return (
                f"{self.servo} was identified from these recordings, but its bench effects are not used.",
                f"Give {option} to simulate them as well.",
            )
        return (
            f"{self.servo}: delay, offset and arm of the bench of its identification are not used.",
            f"Give {option} if these recordings are from that bench.",
        )
