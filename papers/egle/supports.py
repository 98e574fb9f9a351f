# SPDX-License-Identifier: Apache-2.0
"""Egle's figure 6.1: on one foot friction is recovered exactly, on two it is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.plots.save import save_figure
from bam_core.whole_body import FrictionEstimate, estimate_friction, known_motion
from papers.claim import Claim, Kind, claim
from papers.egle.common import Say
from papers.egle.humanoid import RIGHT_LEG, SOLES
from papers.egle.joint_friction_plots import plot_supports
from papers.egle.walking import Walk
from papers.egle.walks import CORNERS, KNEE, KNEE_FRICTION, Walks

_EXACT = 1e-9  # N·m, rounding of systems whose inertias differ by four orders of magnitude
_ROUNDED = 0.01
_NOTHING = 0.1


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
    others = np.delete(wrong[alone], knee, axis=1)
    one = next(rank for rank in estimate.ranks if len(rank.contacts) == 1)
    two = next(rank for rank in estimate.ranks if len(rank.contacts) == 2)
    ratio, joint = _inertia_ratio(estimate)
    cornered, there = _cornered_ratio(walks)
    elsewhere = _three_orders(cornered)
    shrunk = _shrunk(walk, estimate)
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
            bool(others.max() < _EXACT and wrong[alone, knee].max() < _EXACT),
            f"{exact}, where that of the knee is found, for zero everywhere would be nothing found",
            "N·m",
        ),
        claim(
            kind,
            "section 5.3, double support before the first step: norm of the torques found over that of the"
            " friction, least and largest",
            "minimal, and not correct in most cases (< 1)",
            f"{shrunk.min():.2f}, {shrunk.max():.2f}",
            bool(
                shrunk.min() > _NOTHING
                and shrunk.max() <= 1.0 + _ROUNDED
                and np.mean(shrunk < 1.0 - _ROUNDED) > 0.5
            ),
            f"'the minimal friction': no sample above 1; 'not correct in most cases': more than half below 1,"
            f" by more than {_ROUNDED:g}, which the regularisation may cost; none below {_NOTHING:g}, for"
            " zero would be nothing found",
            contradicts=bool(shrunk.max() > 1.0 + _ROUNDED),
        ),
        claim(
            kind,
            "section 6.1.2, inertia that a joint feels, standing over swinging leg, most",
            "up to 1000",
            ratio,
            _three_orders(ratio),
            "'three orders of magnitude': half a decade to each side of 1000, 316 to 3160, which is the usual"
            " reading: nearer to three orders than to two or four",
            undecided=elsewhere,
            reason=f"it is that of the {joint}; lengths and masses of the links are a person's and the links"
            f" are uniform, for the thesis tells nothing of TORO's; with {CORNERS:g} times their moments of"
            f" inertia, the most that their masses and sizes allow, it is {cornered:.0f}, of the"
            f" {there}{_open(elsewhere)}",
        ),
    ]


def _three_orders(ratio: float) -> bool:
    return 10**2.5 < ratio < 10**3.5


def _open(elsewhere: bool) -> str:
    return ": not decided" if elsewhere else ". Other lengths and masses were not tried"


def _shrunk(walk: Walk, estimate: FrictionEstimate) -> Array:
    """Return the norm of torques over that of friction, before the first step, where friction is not small.

    Later, a foot that has landed askew is laid flat, which takes torques that no friction explains.
    """
    friction = np.linalg.norm(walk.friction, axis=1)
    chosen = (estimate.time < walk.supports[0].end) & (friction > 0.5 * KNEE_FRICTION.coulomb)
    if not chosen.any():  # a robot that does not move has none
        return np.zeros(1)
    return np.asarray(np.linalg.norm(estimate.torque[chosen], axis=1) / friction[chosen])


def _cornered_ratio(walks: Walks) -> tuple[float, str]:
    """Return the same of the humanoid with the largest moments of inertia, from every tenth sample."""
    log = walks.unseen.log.arranged(walks.cornered)
    some = np.zeros(len(log), dtype=bool)
    some[::10] = True
    motion = known_motion(log, walks.unseen.velocity, walks.unseen.acceleration)
    return _inertia_ratio(estimate_friction(walks.cornered, motion, some))


def _inertia_ratio(estimate: FrictionEstimate) -> tuple[float, str]:
    """Return the largest ratio of a joint of the right leg, and which joint that is."""
    felt = np.diagonal(estimate.inertia, axis1=1, axis2=2)
    standing = np.array([feet == (SOLES[0],) for feet in estimate.contacts])
    swinging = np.array([feet == (SOLES[1],) for feet in estimate.contacts])
    ratios = np.nanmedian(felt[standing], axis=0) / np.nanmedian(felt[swinging], axis=0)
    most = max(RIGHT_LEG, key=lambda joint: ratios[estimate.column(joint)])
    return float(ratios[estimate.column(most)]), most
