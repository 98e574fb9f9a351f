# SPDX-License-Identifier: Apache-2.0
"""Egle's figures 6.2 and 6.3: what ways to differentiate make of a knee's friction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.plots.save import save_figure
from bam_core.reproduce._egle_walks import KNEE, Walks
from bam_core.reproduce.claim import Claim
from bam_core.whole_body import (
    BackwardDifference,
    CentralDifference,
    FrictionEstimate,
    Scheme,
    differentiate,
    estimate_friction,
    single_support,
)
from bam_core.whole_body.contact_phases import AFTER_LIFT_OFF, BEFORE_TOUCH_DOWN
from bam_core.whole_body.gait import Support
from bam_core.whole_body.humanoid import SOLES
from bam_core.whole_body.joint_friction_plots import plot_schemes

Say = Callable[[str], None]


def differences(output: Path, walks: Walks, say: Say) -> list[Claim]:
    """Redo figures 6.2 and 6.3: central and backward differences, and the delay of the latter."""
    robot, walk = walks.robot, walks.knee
    log = walk.log.arranged(robot)
    used = single_support(log)
    schemes: dict[str, Scheme] = {
        "central (6.2)": CentralDifference(),
        "backward (6.3)": BackwardDifference(),
        "backward, delay compensated": BackwardDifference(compensated=True),
    }
    found = {}
    for name, scheme in schemes.items():
        say(f"differences: {name}")
        found[name] = estimate_friction(robot, differentiate(log, scheme), used)
    late = {"backward, delay compensated": 1}
    errors = {
        name: {
            foot: _knee_error(walk.friction, estimate, single_support(log, foot), late.get(name, 0))
            for foot in SOLES
        }
        for name, estimate in found.items()
    }
    steps = [support for support in walk.supports if len(support.feet) == 1]
    save_figure(
        plot_schemes(
            walk,
            KNEE,
            found,
            stance=_part(log.time, next(step for step in steps[1:] if step.feet == (SOLES[0],))),
            swing=_part(log.time, next(step for step in steps[1:] if step.feet == (SOLES[1],))),
        ),
        output / "differences.png",
    )
    central, backward, mended = (errors[name] for name in schemes)
    stance, swing = SOLES
    return [
        Claim(
            claim="figure 6.2, right knee swings, central differences, RMS error",
            paper="very accurate",
            ours=central[swing],
            unit="N·m",
            holds=central[swing] < 0.02,
        ),
        Claim(
            claim="figure 6.2, right knee swings, backward differences, RMS error",
            paper="very accurate",
            ours=backward[swing],
            unit="N·m",
            holds=backward[swing] < 0.05,
        ),
        Claim(
            claim="figure 6.3, right leg stands, central differences, RMS error",
            paper="accurate",
            ours=central[stance],
            unit="N·m",
            holds=central[stance] < 0.1 * backward[stance],
        ),
        Claim(
            claim=f"figure 6.3, backward differences, standing ({backward[stance]:.2g} N·m) over swinging",
            paper="notable, over very small",
            ours=backward[stance] / backward[swing],
            holds=backward[stance] > 1.5 * backward[swing],
        ),
        Claim(
            claim="figure 6.3, right leg stands, backward, delay compensated, RMS error",
            paper="more accurate",
            ours=mended[stance],
            unit="N·m",
            holds=mended[stance] < 0.1 * backward[stance],
        ),
    ]


def _knee_error(true: Array, estimate: FrictionEstimate, used: NDArray[np.bool_], late: int) -> float:
    column = estimate.column(KNEE)
    error = estimate.torque[:, column] - np.roll(true[:, column], late)
    return float(np.sqrt(np.nanmean(error[used] ** 2)))


def _part(time: Array, support: Support) -> slice:
    start, end = support.start + AFTER_LIFT_OFF, support.end - BEFORE_TOUCH_DOWN
    return slice(int(np.searchsorted(time, start)), int(np.searchsorted(time, end)))
