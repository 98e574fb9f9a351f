# SPDX-License-Identifier: Apache-2.0
"""Terms of a randomisation that do nothing, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from bam_core.text.finding import Finding

CAUSES: Mapping[str, str] = MappingProxyType(
    {
        "unknown_name": "No parameter has this name.",
        "no_parameter": "This servo's model does not have this parameter.",
        "ignored": "The target does not read it.",
        "zero_width": "Its range has no width.",
        "zero_value": "The value that it scales is zero.",
        "no_motion": "Neither end of its range changes the motion.",
    }
)
"""Why a term does nothing, in words."""


@dataclass(frozen=True, kw_only=True)
class NoOp(Finding):
    """A term that does nothing.

    Attributes:
        term: its name in the file.
        cause: key of `CAUSES`.
        low: lower end of its range; SI, or a factor.
        high: upper end, likewise.
    """

    kind: str = field(default="no_op", init=False)
    term: str
    cause: str
    low: float
    high: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What does nothing, and why."""
        return (f"{self.term}, {self.low:.6g} to {self.high:.6g}, does nothing.", CAUSES[self.cause])
