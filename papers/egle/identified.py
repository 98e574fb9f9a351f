# SPDX-License-Identifier: Apache-2.0
"""What Egle's section 7.3 asks for: inertia and friction found together, where neither is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bam_core.plots.save import save_figure
from bam_core.whole_body import JointLog, SavitzkyGolay, differentiate
from papers.claim import Claim, claim
from papers.egle.common import Say
from papers.egle.inertia_error_plots import plot_identified_inertia
from papers.egle.inertia_identification import JointIdentification, identify_inertia
from papers.egle.walks import CLEAN, Walks

_GROUPS = {
    "thighs": ("right_thigh", "left_thigh"),
    "shanks": ("right_shank", "left_shank"),
    "feet": ("right_foot", "left_foot"),
}
_WRONG = {"thighs": (1.06, 1.3), "shanks": (0.93, 0.75), "feet": (1.08, 1.4)}
"""What the model says over what is true: mass, moments of inertia."""


def identified(output: Path, walks: Walks, noisy: JointLog, say: Say) -> list[Claim]:
    """Do what section 7.3 asks for: find inertia and friction at once; return checks.

    The thesis says that this "should be performed" to examine whether unphysical friction goes away, which
    nothing that is found here could bear out.
    """
    robot = walks.robot
    mass, rotation = np.ones(robot.model.nbody), np.ones(robot.model.nbody)
    true: dict[tuple[str, str], float] = {}
    for group, (heavier, fatter) in _WRONG.items():
        for body in _GROUPS[group]:
            index = robot.model.body(body).id
            mass[index], rotation[index] = heavier, fatter
        true[group, "mass"], true[group, "rotation"] = 1.0 / heavier, 1.0 / fatter
    wrong = robot.with_inertia(mass, rotation)
    motions = {
        "without noise": differentiate(walks.legs.log.arranged(robot), CLEAN),
        "with noise": differentiate(noisy, SavitzkyGolay(65)),
    }
    by_motion = {}
    for name, motion in motions.items():
        say(f"inertia and friction at once, {name}")
        by_motion[name] = identify_inertia(wrong, motion, walks.swings, _GROUPS, every=8)
    save_figure(plot_identified_inertia(by_motion, true), output / "inertia_identified.png")
    return [*factor_checks(by_motion, true), eliminated_check(by_motion["without noise"])]


def factor_checks(
    by_motion: dict[str, JointIdentification], true: dict[tuple[str, str], float]
) -> list[Claim]:
    """Compare factors of inertia with those that were put in."""
    checks = []
    wrong = 100.0 * max(abs(factor - 1.0) for factor in true.values())
    for name, result in by_motion.items():
        off = 100.0 * max(abs(scale.factor - true[scale.group, scale.kind]) for scale in result.scales)
        clean = name == "without noise"
        checks.append(
            claim(
                "construction" if clean else "synthetic",
                f"section 7.3, inertia and friction at once, {name}, factor most off (model: {wrong:.0f} %)",
                "those that were put in (0)",
                off,
                off < (0.1 if clean else 0.5 * wrong),
                "an inversion of the simulation's own equations: 0.1 %, what derivatives leave"
                if clean
                else "the worst factor is at least twice as close as in the model that one has",
                "%",
            )
        )
    return checks


def eliminated_check(result: JointIdentification) -> Claim:
    """Return how much is left of the friction that a wrong model makes up."""
    return claim(
        "construction",
        "section 7.3, without noise, torque left over, once inertia is found too, over that with friction"
        " alone",
        None,
        result.rms / result.rms_before,
        result.rms < 0.1 * result.rms_before,
        "a tenth is left at most: the thesis asks whether unphysical friction can be eliminated",
    )
