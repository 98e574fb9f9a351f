# SPDX-License-Identifier: Apache-2.0
"""Friction of a joint in an assembled robot: viscous, Coulomb and Stribeck, smooth at rest; an offset."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.errors.checks import require_finite, require_not_negative, require_positive

JOINT_FRICTION_PARAMETERS: tuple[str, ...] = (
    "viscous",
    "coulomb",
    "stribeck",
    "stribeck_velocity",
    "offset",
    "slope",
)
"""Names of the six parameters, in the order of Egle's tables 6.1 and 6.2."""


@dataclass(frozen=True, kw_only=True)
class JointFriction:
    """Egle's equation (3.5) with the Gaussian Stribeck curve, δ_s = 2.

    Attributes:
        viscous: F_v (τ_v in the equation), N·m·s/rad.
        coulomb: F_c (τ_c), N·m.
        stribeck: S, by how much friction at rest exceeds the Coulomb friction, as a share of it.
        stribeck_velocity: v_s, rad/s.
        offset: τ_os, N·m, of a torque sensor's calibration; no friction, it may drive.
        slope: a, s/rad, how fast the sign of the velocity turns over.

    Raises:
        BamError: a value is not finite, or negative (all but `offset`), or zero (`stribeck_velocity`,
        `slope`).
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    stribeck: float = 0.0
    stribeck_velocity: float = 0.2
    offset: float = 0.0
    slope: float = 40.0

    def __post_init__(self) -> None:
        owner = "joint friction"
        require_not_negative(owner, viscous=self.viscous, coulomb=self.coulomb, stribeck=self.stribeck)
        require_positive(owner, stribeck_velocity=self.stribeck_velocity, slope=self.slope)
        require_finite(owner, offset=self.offset)

    @classmethod
    def from_values(cls, values: Sequence[float] | NDArray[np.float64]) -> JointFriction:
        """Build it from the six values in the order of JOINT_FRICTION_PARAMETERS."""
        return cls(**dict(zip(JOINT_FRICTION_PARAMETERS, (float(value) for value in values), strict=True)))

    @property
    def values(self) -> NDArray[np.float64]:
        """The six values in the order of JOINT_FRICTION_PARAMETERS, shape (6,)."""
        return np.array(dataclasses.astuple(self))

    def curve(self, velocity: ArrayLike) -> NDArray[np.float64]:
        """Return the right side of (3.5) in N·m for velocities in rad/s, same shape; positive as they are.

        This is how Egle draws friction; what acts on the joint is its negative, see `torque`.
        """
        return friction_curve(self.values, np.asarray(velocity, dtype=float))

    def torque(self, velocity: ArrayLike) -> NDArray[np.float64]:
        """Return the torque that acts on the joint, τ_f of (5.2), in N·m: the negative of `curve`."""
        return np.asarray(-self.curve(velocity))


def friction_curve(values: NDArray[np.float64], velocity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (3.5) in N·m from the six values as they come, unchecked, for velocities in rad/s."""
    viscous, coulomb, stribeck, stribeck_velocity, offset, slope = values
    bump = 1.0 + stribeck * np.exp(-((velocity / stribeck_velocity) ** 2))
    return np.asarray(viscous * velocity + coulomb * np.tanh(slope * velocity) * bump + offset)


def friction_curve_jacobian(
    values: NDArray[np.float64], velocity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the derivatives of (3.5) by the six values, shape (n, 6) for n velocities in rad/s."""
    _, coulomb, stribeck, stribeck_velocity, _, slope = values
    sign = np.tanh(slope * velocity)
    ratio = (velocity / stribeck_velocity) ** 2
    weakening = np.exp(-ratio)
    bump = 1.0 + stribeck * weakening
    return np.column_stack(
        (
            velocity,
            sign * bump,
            coulomb * sign * weakening,
            coulomb * sign * stribeck * weakening * 2.0 * ratio / stribeck_velocity,
            np.ones_like(velocity),
            coulomb * bump * velocity * (1.0 - sign**2),
        )
    )
