# SPDX-License-Identifier: Apache-2.0
"""Egle's figure 6.1: on one foot friction is recovered exactly, on two it is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bam_core.plots.save import save_figure
from bam_core.reproduce._egle_walks import KNEE, Walks
from bam_core.reproduce.claim import Claim
from bam_core.whole_body import FrictionEstimate, estimate_friction, known_motion
from bam_core.whole_body.humanoid import LEGS, RIGHT_LEG, SOLES
from bam_core.whole_body.joint_friction_plots import plot_supports

Say = Callable[[str], None]

_EXACT = 1e-9  # N·m


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
    scale = _inertia_ratio(estimate)
    return [
        Claim(
            claim="section 5.3, single support, rank of M_mod⁻¹ of 25",
            paper=25,
            ours=one.rank,
            holds=one.rank == 25,
        ),
        Claim(
            claim="section 5.3, double support, rank of M_mod⁻¹ of 25",
            paper="singular",
            ours=two.rank,
            holds=two.rank < 25,
        ),
        Claim(
            claim="section 5.3, double support, joints not identifiable (ours: the legs')",
            paper="several",
            ours=len(two.unidentifiable),
            holds=two.unidentifiable == LEGS,
        ),
        Claim(
            claim="figure 6.1, single support, knee, largest error",
            paper="recovered exactly",
            ours=float(wrong[alone, knee].max()),
            unit="N·m",
            holds=bool(wrong[alone, knee].max() < _EXACT),
        ),
        Claim(
            claim="figure 6.1, single support, other joints, largest torque",
            paper=0.0,
            ours=float(others.max()),
            unit="N·m",
            holds=bool(others.max() < _EXACT),
        ),
        Claim(
            claim="figure 6.1, double support, leg joints, largest error",
            paper="not the friction",
            ours=float(legs.max()),
            unit="N·m",
            holds=bool(legs.max() > 1.0),
        ),
        Claim(
            claim="section 6.1.2, inertia felt by a joint, standing over swinging leg",
            paper="up to 1000",
            ours=scale,
            holds=scale >= 1000,
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
