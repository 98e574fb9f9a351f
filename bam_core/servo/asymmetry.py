# SPDX-License-Identifier: Apache-2.0
"""How much a gear's friction takes of the torque on either side (Kikuuwe 3.1, 4.1, 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.errors import OutOfRange


@dataclass(frozen=True, kw_only=True)
class Asymmetry:
    """The two asymmetry coefficients of a gear.

    Both signs may be changed at once without a change of the dynamics (14), so that a sum of zero or more is
    all there is.

    Attributes:
        input_side: γ_u, share of the input torque that becomes friction, dimensionless.
        output_side: γ_v, share of the output torque that becomes friction, dimensionless.

    Raises:
        BamError: a value is not finite, or γ_u + γ_v < 0.
    """

    input_side: float
    output_side: float

    def __post_init__(self) -> None:
        for name, value in (("input_side (γ_u)", self.input_side), ("output_side (γ_v)", self.output_side)):
            if not _is_number(value):
                raise OutOfRange(f"gear.{name}", value, "a finite number, eq. 14")
        if self.input_side + self.output_side < 0.0:
            both = self.input_side + self.output_side
            raise OutOfRange(
                "gear.input_side + gear.output_side (γ_u + γ_v)",
                both,
                ">= 0: eq. 14 is the same with both signs changed",
                printed=f"{both:g}",
                advice=f"give γ_u = {-self.input_side:g}, γ_v = {-self.output_side:g}",
            )

    @classmethod
    def from_efficiencies(cls, *, forward: float, backward: float) -> Asymmetry:
        """Return the coefficients of a gear with these efficiencies (27).

        Args:
            forward: η_f, output torque per input torque while the input just drives, between 0 and 1.
            backward: η_b, the same while the output drives, below 1; zero or less for a gear that locks
                itself, where it is a slope of the static set and no efficiency.

        Raises:
            BamError: a value is out of range. (With an efficiency of 1, (27) leads to no gear but 0/0.)
        """
        if not (_is_number(forward) and 0.0 < forward < 1.0):
            raise OutOfRange(
                "gear efficiency forward", forward, "between 0 and 1, eq. 27", advice=_cure(forward)
            )
        if not (_is_number(backward) and backward < 1.0):
            raise OutOfRange("gear efficiency backward", backward, "below 1, eq. 27", advice=_cure(backward))
        both = forward * backward
        return cls(
            input_side=(1.0 - 2.0 * forward + both) / (1.0 - both),
            output_side=(1.0 - 2.0 * backward + both) / (1.0 - both),
        )

    @property
    def forward_efficiency(self) -> float:
        """η_f (26); an efficiency of a gear that can be driven both ways, else a slope of the static set."""
        return _ratio(1.0 - self.input_side, 1.0 + self.output_side)

    @property
    def backward_efficiency(self) -> float:
        """η_b (26); an efficiency of a gear that can be driven both ways, else a slope of the static set."""
        return _ratio(1.0 - self.output_side, 1.0 + self.input_side)

    @property
    def is_backdrivable(self) -> bool:
        """Whether some torque on the output alone moves the gear: |γ_v| < 1."""
        return abs(self.output_side) < 1.0

    @property
    def is_forward_drivable(self) -> bool:
        """Whether some torque on the input alone moves the gear: |γ_u| < 1."""
        return abs(self.input_side) < 1.0

    @property
    def drivability(self) -> str:
        """The class of fig. 5: "BD & FD", "nBD & FD", "BD & nFD" or "nBD & nFD"."""
        backward = "BD" if self.is_backdrivable else "nBD"
        return f"{backward} & {'FD' if self.is_forward_drivable else 'nFD'}"

    def holds(self, input_torque: ArrayLike, output_torque: ArrayLike) -> NDArray[np.bool_]:
        """Return whether a gear at rest stays at rest: the static set (23).

        Args:
            input_torque: f_u, N·m seen at the output.
            output_torque: f_v, N·m, from the gear to its load.

        Returns:
            In the broadcast shape of the arguments.
        """
        drive, load = np.asarray(input_torque), np.asarray(output_torque)
        return np.asarray(np.abs(drive - load) <= np.abs(self.input_side * drive + self.output_side * load))


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


def _cure(efficiency: float) -> str:
    if not _is_number(efficiency):
        return "correct it"
    if efficiency == 1.0:
        return "for a gear without friction give γ_u = γ_v = 0"
    if efficiency > 1.0:
        return "give a share, such as 0.8 for 80 %"
    return "for a gear that its input does not drive alone give γ_u and γ_v"


def _ratio(share: float, of: float) -> float:
    """Divide; where (26) divides by zero a border of the static set is an axis, with a slope of infinity."""
    if of != 0.0:
        return share / of
    return math.copysign(math.inf, share) if share != 0.0 else math.nan
