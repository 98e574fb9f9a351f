# SPDX-License-Identifier: Apache-2.0
"""Does what was found as friction take power from the robot, as friction must? (Egle, eq. 7.9)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.whole_body.estimate import FrictionEstimate


@dataclass(frozen=True, kw_only=True)
class PowerCheck:
    """Power of a joint's friction, q̇·τ_f.

    Attributes:
        joint: its name.
        share: of the samples in which it drives the joint, 0 to 1.
        driven: energy that it puts in there, as a share of all that it turns over, 0 to 1.
        worst: highest power, W; negative: none.
    """

    joint: str
    share: float
    driven: float
    worst: float

    @property
    def plausible(self) -> bool:
        """Whether this can be friction, but for what noise does."""
        return self.driven < 0.01


def power_check(
    estimate: FrictionEstimate,
    wanted: Mapping[str, NDArray[np.bool_]] | None = None,
    offsets: Mapping[str, float] | None = None,
) -> tuple[PowerCheck, ...]:
    """Check (7.9) for each joint on its own, which is stricter than its sum over all joints.

    A model whose inertia is wrong shows up here, and so does a torque sensor's offset, which is no friction:
    give it, and it is taken out first.

    Args:
        estimate: of friction.
        wanted: by joint, (n,) samples to look at.
        offsets: τ_os by joint, N·m.
    """
    checks = []
    for column, joint in enumerate(estimate.joints):
        torque = estimate.torque[:, column] + (offsets or {}).get(joint, 0.0)
        power = torque * estimate.velocity[:, column]
        if wanted is not None and joint in wanted:
            power = power[wanted[joint]]
        power = power[np.isfinite(power)]
        if not len(power):
            continue
        total = float(np.abs(power).sum())
        checks.append(
            PowerCheck(
                joint=joint,
                share=float(np.mean(power > 0.0)),
                driven=float(power[power > 0.0].sum()) / total if total > 0.0 else 0.0,
                worst=float(power.max()),
            )
        )
    return tuple(checks)
