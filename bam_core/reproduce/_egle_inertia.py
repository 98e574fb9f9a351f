# SPDX-License-Identifier: Apache-2.0
"""Egle's figures 7.4 to 7.6: the power of friction, and what a wrong model of inertia makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bam_core.plots.save import save_figure
from bam_core.reproduce._egle_walks import CLEAN, KNEE, KNEE_FRICTION, Walks
from bam_core.reproduce.claim import Claim
from bam_core.whole_body import differentiate, estimate_friction, power_check, single_support
from bam_core.whole_body.humanoid import SOLES
from bam_core.whole_body.inertia_error import InertiaError, study_inertia_error
from bam_core.whole_body.inertia_error_plots import plot_inertia_errors, plot_power

Say = Callable[[str], None]

_FACTORS = (0.8, 0.9, 1.0, 1.1, 1.2)


def power(output: Path, walks: Walks, say: Say) -> list[Claim]:
    """Redo figure 7.4, without noise: friction takes power."""
    say("power of friction")
    robot, log = walks.robot, walks.knee.log.arranged(walks.robot)
    swing = single_support(log, SOLES[1])
    estimate = estimate_friction(robot, differentiate(log, CLEAN), swing)
    check = next(each for each in power_check(estimate) if each.joint == KNEE)
    step = [each for each in walks.knee.supports if each.feet == (SOLES[1],)][1]
    part = slice(*(int(np.searchsorted(log.time, at)) for at in (step.start + 0.1, step.end - 0.05)))
    column = estimate.column(KNEE)
    lacking = np.einsum("nj,nj->n", np.linalg.inv(estimate.inertia[part])[:, column], estimate.torque[part])
    save_figure(plot_power(log.time[part], estimate.velocity[part, column], lacking), output / "power.png")
    return [
        Claim(
            claim="figure 7.4a, right knee swings, samples in which friction drives it (7.9)",
            paper=0.0,
            ours=100.0 * check.share,
            unit="%",
            holds=check.share < 0.005,
        )
    ]


def wrong_inertia(output: Path, walks: Walks, say: Say) -> list[Claim]:
    """Redo figures 7.5 and 7.6: masses and moments of inertia off by up to 20 %."""
    robot, log = walks.robot, walks.knee.log.arranged(walks.robot)
    motion = differentiate(log, CLEAN)
    swing = single_support(log, SOLES[1])
    thin = np.zeros_like(swing)
    thin[np.flatnonzero(swing)[::3]] = True
    studies = {}
    for kind, title in (
        ("both", "all inertia scaled (7.5)"),
        ("mass", "masses scaled"),
        ("rotation", "moments of inertia scaled (7.6)"),
    ):
        say(f"wrong inertia: {title}")
        studies[title] = study_inertia_error(robot, motion, KNEE, thin, kind, _FACTORS)
    save_figure(plot_inertia_errors(studies, KNEE_FRICTION), output / "inertia.png")
    both, mass, rotation = studies.values()
    shifts = [each.shift for each in both]
    monotone = bool(np.all(np.diff(shifts) > 0.0) or np.all(np.diff(shifts) < 0.0))
    right = both[_FACTORS.index(1.0)]
    return [
        Claim(
            claim="figure 7.5, all inertia 20 % low, shift of the knee's curve (ours: flexion positive)",
            paper="down",
            ours=both[0].shift,
            unit="N·m",
            holds=both[0].shift < 0.0,
        ),
        Claim(
            claim="figure 7.5, all inertia 20 % high, shift of the knee's curve",
            paper="up",
            ours=both[-1].shift,
            unit="N·m",
            holds=both[-1].shift > 0.0,
        ),
        Claim(
            claim="figure 7.5, less and more inertia shift the curve to opposite sides, ever further",
            paper=True,
            ours=monotone and both[0].shift * both[-1].shift < 0.0,
            holds=monotone and both[0].shift * both[-1].shift < 0.0,
        ),
        Claim(
            claim="figure 7.5, masses alone 20 % high, shift over that of all inertia",
            paper="very similar",
            ours=mass[-1].shift / both[-1].shift,
            holds=0.5 < mass[-1].shift / both[-1].shift < 2.0,
        ),
        Claim(
            claim="figure 7.6, moments of inertia 20 % high, shift over that of all inertia",
            paper="none",
            ours=rotation[-1].shift / both[-1].shift,
            holds=abs(rotation[-1].shift / both[-1].shift) < 0.1,
        ),
        Claim(
            claim="figure 7.6, moments of inertia 20 % high, branches apart (right model: "
            f"{right.separation:.3f})",
            paper="more pronounced",
            ours=rotation[-1].separation,
            unit="N·m",
            holds=rotation[-1].separation > right.separation,
        ),
        Claim(
            claim="section 7.2, energy that friction seems to put in, worst of all factors",
            paper="unphysical",
            ours=100.0 * _worst(both),
            unit="%",
            holds=_worst(both) > 2.0 * right.driven,
        ),
    ]


def _worst(study: Sequence[InertiaError]) -> float:
    return max(each.driven for each in study)
