# SPDX-License-Identifier: Apache-2.0
"""An arm of two links in a vertical plane: masses, lengths, forward and inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import OutOfRange
from bam_core.errors.checks import require_not_negative, require_positive

JOINTS = ("shoulder", "elbow")


@dataclass(frozen=True, kw_only=True)
class Link:
    """A uniform rod with a point mass at its far end.

    Attributes:
        length: m, above zero.
        mass: of the rod, kg.
        tip_mass: at its end, kg: the next servo, or the load.

    Raises:
        BamError: a value is out of range.
    """

    length: float
    mass: float
    tip_mass: float

    def __post_init__(self) -> None:
        require_positive("link", length=self.length)
        require_not_negative("link", mass=self.mass, tip_mass=self.tip_mass)
        require_positive("link", total_mass=self.mass + self.tip_mass)


@dataclass(frozen=True, kw_only=True)
class TwoLinkArm:
    """Two links that hang down at angles of zero; positive angles turn counter-clockwise.

    The plane is spanned by y, to the right of one who looks against the axes (+x), and z, up.

    Attributes:
        name: key in ARMS.
        title: for people.
        servos: at shoulder and elbow, names from the servo library.
        upper: from shoulder to elbow; its tip mass is the elbow's servo.
        lower: from elbow to tip; its tip mass is the load.
        low_gain, high_gain: kp as in BAM's figure 7, firmware units.
        centre: of the paths, (y, z) m from the shoulder.
        size: of the paths, half their width, m.
    """

    name: str
    title: str
    servos: tuple[str, str]
    upper: Link
    lower: Link
    low_gain: float
    high_gain: float
    centre: tuple[float, float]
    size: float

    def forward(self, angles: ArrayLike) -> Array:
        """Return the tip (..., 2) in m: y and z, for (..., 2) joint angles in rad."""
        shoulder, elbow = np.moveaxis(np.asarray(angles, dtype=np.float64), -1, 0)
        both = shoulder + elbow
        y = self.upper.length * np.sin(shoulder) + self.lower.length * np.sin(both)
        z = -self.upper.length * np.cos(shoulder) - self.lower.length * np.cos(both)
        return np.stack([y, z], axis=-1)

    def inverse(self, points: ArrayLike) -> Array:
        """Return joint angles (..., 2) in rad that bring the tip to (..., 2) points in m, elbow bent upwards.

        Raises:
            BamError: a point is out of reach.
        """
        y, z = np.moveaxis(np.asarray(points, dtype=np.float64), -1, 0)
        one, two = self.upper.length, self.lower.length
        cosine = (y**2 + z**2 - one**2 - two**2) / (2.0 * one * two)
        if np.any(np.abs(cosine) > 1.0):
            worst = int(np.argmax(np.abs(np.atleast_1d(cosine))))
            point = f"({np.atleast_1d(y)[worst]:.3f}, {np.atleast_1d(z)[worst]:.3f}) m"
            raise OutOfRange(
                f"arm {self.name}, point",
                (float(np.atleast_1d(y)[worst]), float(np.atleast_1d(z)[worst])),
                f"{abs(one - two):g} to {one + two:g} m from the shoulder",
                printed=f"{point}, out of reach",
                advice="move it",
            )
        elbow = np.arccos(cosine)
        shoulder = np.arctan2(y, -z) - np.arctan2(two * np.sin(elbow), one + two * np.cos(elbow))
        return np.stack([shoulder, elbow], axis=-1)


ARMS: Mapping[str, TwoLinkArm] = MappingProxyType(
    {
        arm.name: arm
        for arm in (
            # The paper names the servos and shows photographs; lengths and masses are ours, so that loads are
            # of the size that the servos were identified with.
            TwoLinkArm(
                name="dynamixel_2r",
                title="2R arm, MX-106 and MX-64",
                servos=("mx106", "mx64"),
                upper=Link(length=0.15, mass=0.08, tip_mass=0.135),
                lower=Link(length=0.15, mass=0.06, tip_mass=0.6),
                low_gain=8.0,
                high_gain=32.0,
                centre=(0.17, -0.12),
                size=0.06,
            ),
            TwoLinkArm(
                name="erob_2r",
                title="2R arm, eRob80:100 and eRob80:50",
                servos=("erob80_100", "erob80_50"),
                upper=Link(length=0.40, mass=1.5, tip_mass=2.5),
                lower=Link(length=0.40, mass=1.0, tip_mass=4.0),
                low_gain=25.0,
                high_gain=100.0,
                centre=(0.45, -0.32),
                size=0.16,
            ),
        )
    }
)
"""The arms of BAM section VI-B by name."""
