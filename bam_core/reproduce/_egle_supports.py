# SPDX-License-Identifier: Apache-2.0
"""Egle's figure 6.1: on one foot friction is recovered exactly, on two it is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bam_core.plots.save import save_figure
from bam_core.reproduce._egle_common import Say
from bam_core.reproduce._egle_walks import KNEE, KNEE_FRICTION, Walks
from bam_core.reproduce.claim import Claim, Kind, claim
from bam_core.whole_body import FrictionEstimate, estimate_friction, known_motion
from bam_core.whole_body.humanoid import LEGS, RIGHT_LEG, SOLES
from bam_core.whole_body.joint_friction_plots import plot_supports

_EXACT = 1e-9  # N·m, rounding of systems whose inertias differ by four orders of magnitude


def supports(output: Path, walks: Walks, say: Say) -> list[Claim]:
    """Redo figure 6.1: friction in a knee, found on one foot and on two."""
    say("single and double support")
    robot, walk = walks.robot, walks.knee
    log = walk.log.arranged(robot)
    estimate = estimate_friction(robot, known_motion(log, walk.velocity, walk.acceleration))
    save_figure(plot_supports(walk, estimate, KNEE), output / "supports.png")
    alone = np.array([len(feet) == 1 for feet in estimate.contacts])
    wrong = np.abs(estimate.torque - walk.friction)
    knee = estimate.column(KNEE)
    legs = wrong[~alone][:, [estimate.column(joint) for joint in LEGS]]
    others = np.delete(wrong[alone], knee, axis=1)
    one = next(each for each in estimate.ranks if len(each.contacts) == 1)
    two = next(each for each in estimate.ranks if len(each.contacts) == 2)
    ratio = _inertia_ratio(estimate)
    exact = f"'exactly' and 'zero': below {_EXACT:g} N·m, rounding"
    kind: Kind = "construction"
    return [
        claim(
            kind, "section 5.3, single support, rank of M_mod⁻¹", 25, one.rank, one.rank == 25, "an integer"
        ),
        claim(
            kind,
            "section 5.3, double support, rank of M_mod⁻¹ of 25 (joints that cannot be told: "
            f"{len(two.unidentifiable)})",
            19,
            two.rank,
            two.rank == 19,
            "that of the null space projection, 33 - (m + 2) with m = 12 constraints",
        ),
        claim(
            kind,
            "figure 6.1, single support, largest error, knee",
            "recovered exactly",
            float(wrong[alone, knee].max()),
            bool(wrong[alone, knee].max() < _EXACT),
            exact,
            "N·m",
        ),
        claim(
            kind,
            "figure 6.1, single support, largest torque, other joints",
            0.0,
            float(others.max()),
            bool(others.max() < _EXACT),
            exact,
            "N·m",
        ),
        claim(
            kind,
            "figure 6.1, double support, largest error, leg joints",
            "not the friction",
            float(legs.max()),
            bool(legs.max() > KNEE_FRICTION.coulomb),
            "off by more than the friction that there is, F_c = 1 N·m",
            "N·m",
        ),
        claim(
            kind,
            "section 6.1.2, inertia that a joint feels, standing over swinging leg, most",
            "up to 1000",
            ratio,
            10**2.5 < ratio < 10**3.5,
            "'three orders of magnitude': nearer to three than to two or four",
        ),
    ]


def _inertia_ratio(estimate: FrictionEstimate) -> float:
    felt = np.diagonal(estimate.inertia, axis1=1, axis2=2)
    standing = np.array([feet == (SOLES[0],) for feet in estimate.contacts])
    swinging = np.array([feet == (SOLES[1],) for feet in estimate.contacts])
    columns = [estimate.column(joint) for joint in RIGHT_LEG]
    return float(
        np.max(np.median(felt[standing], axis=0)[columns] / np.median(felt[swinging], axis=0)[columns])
    )
