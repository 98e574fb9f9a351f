# SPDX-License-Identifier: Apache-2.0
"""Findings about a supply voltage that is none of the servo that is named."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding


@dataclass(frozen=True, kw_only=True)
class UnusualSupply(Finding):
    """A supply that is far from the nominal one of a servo.

    Attributes:
        servo: name.
        supply: of the recordings, V; of several the one that is furthest off.
        nominal: of the servo, V.
    """

    kind: str = field(default="unusual_supply", init=False)
    servo: str
    supply: float
    nominal: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both, and what to check."""
        return (
            f"vin: {self.supply:g} V, and {self.servo} is a servo for {self.nominal:g} V.",
            "Check the supply, and which servo it is.",
        )
