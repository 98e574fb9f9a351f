# SPDX-License-Identifier: Apache-2.0
"""Egle's figures 7.5 and 7.6: what a wrong model of inertia makes of a knee's friction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bam_core.plots.save import save_figure
from bam_core.whole_body import WholeBody, differentiate, single_support
from papers.claim import UNEXPECTED, Claim, Kind, claim
from papers.egle.common import Say
from papers.egle.humanoid import SOLES
from papers.egle.inertia_error import InertiaError, study_inertia_error
from papers.egle.inertia_error_plots import plot_inertia_errors
from papers.egle.walking import Walk
from papers.egle.walks import CLEAN, CORNERS, KNEE, KNEE_FRICTION, Walks

_FACTORS = (0.8, 0.9, 1.0, 1.1, 1.2)
_SIGNS = (
    "the thesis does not say which way its knee counts. With flexion positive, as here, a model too light"
    " shows the torque that holds the shank against gravity as friction upwards; with extension positive the"
    " curve is turned by 180° and both directions come out as in the thesis: not decided"
)


def wrong_inertia(output: Path, walks: Walks, say: Say) -> list[Claim]:
    """Redo figures 7.5 and 7.6: masses and moments of inertia off by up to 20 %."""
    studies = {}
    for kind, title in (
        ("both", "all inertia scaled (7.5)"),
        ("mass", "masses scaled"),
        ("rotation", "moments of inertia scaled (7.6)"),
    ):
        say(f"wrong inertia: {title}")
        studies[title] = _study(walks.robot, walks.knee, kind, _FACTORS)
    save_figure(plot_inertia_errors(studies, KNEE_FRICTION), output / "inertia.png")
    both, mass, rotation = studies.values()
    say(f"wrong inertia: a humanoid with {CORNERS:g} times the moments of inertia")
    all_high, moments_high = (
        _study(walks.cornered, walks.unseen, kind, _FACTORS[-1:])[0].separation
        for kind in ("both", "rotation")
    )
    return inertia_claims(both, mass, rotation, moments_high / all_high)


def _study(robot: WholeBody, walk: Walk, kind: str, factors: tuple[float, ...]) -> tuple[InertiaError, ...]:
    """Look at every third sample in which the right leg swings."""
    log = walk.log.arranged(robot)
    swing = single_support(log, SOLES[1])
    thin = np.zeros_like(swing)
    thin[np.flatnonzero(swing)[::3]] = True
    return study_inertia_error(robot, differentiate(log, CLEAN), KNEE, thin, kind, factors)


def _ratio(one: float, other: float) -> float:
    """Return it, infinite where there is nothing to compare with."""
    return one / other if other != 0.0 else float("inf")


def inertia_claims(
    both: Sequence[InertiaError],
    mass: Sequence[InertiaError],
    rotation: Sequence[InertiaError],
    cornered: float,
) -> list[Claim]:
    """Return what is said of figures 7.5 and 7.6.

    Args:
        both, mass, rotation: studies with factors from low to high.
        cornered: distance of the branches with moments of inertia 20 % high over that with all inertia, of a
            humanoid whose links have their mass in the corners.
    """
    right = both[_FACTORS.index(1.0)]
    shifts = np.array([study.shift for study in both])
    diverges = bool(np.all(np.diff(shifts) > 0.0) or np.all(np.diff(shifts) < 0.0))
    diverges = diverges and both[0].shift * both[-1].shift < 0.0
    worst = max(study.driven for study in both)
    ratio = _ratio(rotation[-1].separation, both[-1].separation)
    shift = _ratio(rotation[-1].shift, both[-1].shift)
    kind: Kind = "synthetic"
    return [
        claim(
            kind,
            "figure 7.5, all inertia 20 % low and high, shift of the knee's curve",
            "down, up (< 0, > 0)",
            f"{both[0].shift:.3g}, {both[-1].shift:.3g}",
            both[0].shift < 0.0 < both[-1].shift,
            "the directions; the inverse is linear in the factor, so that both are one number. Not decided"
            " where both are the other way, for that hangs on which way the knee counts; contradicted where"
            " both are to the same side, which is wrong whichever way it counts",
            "N·m",
            contradicts=both[0].shift * both[-1].shift > 0.0,
            undecided=diverges,
            reason=_SIGNS if diverges else UNEXPECTED,
        ),
        claim(
            "construction",
            "figure 7.5, lower and higher inertia shift the curve to opposite sides, ever further",
            True,
            diverges,
            diverges,
            "the order of the five curves; the inverse is linear in the factor, so that it checks the code",
            contradicts=True,
        ),
        claim(
            kind,
            "figure 7.6, moments of inertia 20 % high, shift over that of all inertia",
            "no longer present (0)",
            shift,
            abs(shift) < 0.1,
            "a tenth of the shift in figure 7.5; what masses alone shift, 'very similar' there, is the rest",
        ),
        claim(
            kind,
            "figure 7.6, moments of inertia 20 % high, distance of the branches over that with all inertia",
            "more pronounced (> 1)",
            ratio,
            1.0 < ratio < float("inf"),
            "the direction. The thesis gives no inertia of TORO's links: contradicted where it comes out"
            f" neither with uniform links nor with {CORNERS:g} times their moments of inertia, those of a box"
            " with its mass in the corners; links of the same masses and sizes have none that are larger",
            contradicts=cornered <= 1.0,
            undecided=cornered > 1.0,
            reason=f"branches are {rotation[-1].separation:.2f} N·m apart with moments of inertia 20 % high,"
            f" {mass[-1].separation:.2f} N·m with masses: of the inertia of shank and foot about the knee,"
            " most is here that of their masses at a distance from it. In a humanoid with"
            f" {CORNERS:g} times the moments of inertia, and in steps that were drawn for this, it is"
            f" {cornered:.2g}" + (": not decided" if cornered > 1.0 else ""),
        ),
        claim(
            kind,
            "section 7.2, energy that friction seems to put in, worst factor, share of all",
            "unphysical",
            100.0 * worst,
            worst > 0.01 > right.driven,
            "more than 1 %, which `power_check` calls implausible; with the right model less than that,"
            f" {100.0 * right.driven:.2g} %",
            "%",
        ),
    ]
