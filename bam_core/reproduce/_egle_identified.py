# SPDX-License-Identifier: Apache-2.0
"""What Egle's section 7.3 asks for: inertia and friction found together, where neither is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bam_core.plots.save import save_figure
from bam_core.reproduce._egle_tables import TARGETS
from bam_core.reproduce._egle_walks import CLEAN, Walks
from bam_core.reproduce.claim import Claim
from bam_core.whole_body import JointLog, SavitzkyGolay, differentiate, identify_inertia
from bam_core.whole_body.humanoid import LEGS
from bam_core.whole_body.inertia_error_plots import plot_identified_inertia

Say = Callable[[str], None]

_GROUPS = {
    "thighs": ("right_thigh", "left_thigh"),
    "shanks": ("right_shank", "left_shank"),
    "feet": ("right_foot", "left_foot"),
}
_WRONG = {"thighs": (1.06, 1.3), "shanks": (0.93, 0.75), "feet": (1.08, 1.4)}
"""What the model says over what is true: mass, moments of inertia."""


def identified(output: Path, walks: Walks, noisy: JointLog, say: Say) -> list[Claim]:
    """Do what section 7.3 asks for: find inertia and friction at once."""
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
    found = {}
    for name, motion in motions.items():
        say(f"inertia and friction at once, {name}")
        found[name] = identify_inertia(wrong, motion, walks.swings, _GROUPS, every=8)
    save_figure(plot_identified_inertia(found, true), output / "inertia_identified.png")
    claims = []
    for name, result in found.items():
        off = max(abs(each.factor - true[each.group, each.kind]) for each in result.scales)
        allowed = 0.001 if name == "without noise" else 0.1
        claims.append(
            Claim(
                claim=(
                    f"section 7.3, inertia and friction at once, {name}, factor most off (model: up to 40 %)"
                ),
                paper=None,
                ours=100.0 * off,
                unit="%",
                holds=off < allowed,
            )
        )
    result = found["without noise"]
    error = max(
        float(np.max(np.abs(result.friction[joint].values - TARGETS[joint].values) / TARGETS[joint].values))
        for joint in LEGS
    )
    claims.append(
        Claim(
            claim="section 7.3, inertia and friction at once, without noise, parameter of friction most off",
            paper=None,
            ours=100.0 * error,
            unit="%",
            holds=error < 0.02,
        )
    )
    claims.append(
        Claim(
            claim=(
                f"section 7.3, left over, once inertia is found too (friction alone: {result.rms_before:.2g})"
            ),
            paper=None,
            ours=result.rms,
            unit="N·m",
            holds=result.rms < 0.1 * result.rms_before,
        )
    )
    return claims
