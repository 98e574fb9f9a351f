# SPDX-License-Identifier: Apache-2.0
"""Egle's tables 6.1 and 6.2: the parameters of the legs' friction, from clean positions and torques."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.plots.save import save_figure
from bam_core.reproduce._egle_tables import (
    BOTH,
    PRINTED_HIPS,
    PRINTED_TARGET,
    STRAIGHT,
    SYMBOLS,
    TARGETS,
    Row,
)
from bam_core.reproduce._egle_walks import Walks, legs_table
from bam_core.reproduce.claim import Claim
from bam_core.whole_body import FilteredEstimate, FrictionEstimate, estimate_filtered, single_support
from bam_core.whole_body.humanoid import LEGS, RIGHT_LEG, SOLES
from bam_core.whole_body.joint_friction_plots import plot_curves, plot_parameter_errors

Say = Callable[[str], None]

_ROUNDED = 0.005  # %, half of the last digit that the tables print
_MISPRINT = 0.02  # %, what rounding of the printed values and errors allows


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Tables 6.1 and 6.2, from clean positions and torques.

    Attributes:
        found: friction of the legs.
        straight, both: errors in %, by joint, (6,): of the steps ahead alone, and of all.
    """

    found: FilteredEstimate
    straight: dict[str, Array]
    both: dict[str, Array]

    @classmethod
    def make(cls, walks: Walks, say: Say) -> Tables:
        """Find the friction of the legs and fit its parameters."""
        say("friction of all legs")
        log = walks.legs.log
        found = estimate_filtered(walks.robot, log, single_support(log), walks.swings)
        say("tables 6.1 and 6.2")
        ahead = {joint: mask & (log.time < walks.turn) for joint, mask in walks.swings.items()}
        return cls(
            found=found,
            straight=legs_table(found.estimate, ahead),
            both=legs_table(found.estimate, walks.swings),
        )

    def claims(self) -> list[Claim]:
        """Return each error beside the paper's."""
        claims = [_target()]
        for name, paper, ours in (("6.1", STRAIGHT, self.straight), ("6.2", BOTH, self.both)):
            claims += [
                claim for joint in LEGS for claim in row(f"table {name}", joint, paper[joint], ours[joint])
            ]
        return claims

    def draw(self, output: Path) -> None:
        """Draw errors and curves."""
        save_figure(
            plot_parameter_errors(
                "Parameters found while walking straight and sideways, without noise (table 6.2)",
                SYMBOLS,
                LEGS,
                {
                    "Egle, table 6.2": np.array([BOTH[joint] for joint in LEGS]),
                    "ours": np.array([self.both[joint] for joint in LEGS]),
                },
            ),
            output / "parameters.png",
        )
        estimate = self.found.estimate
        curves = [
            (joint, estimate.velocity[:, estimate.column(joint)], -estimate.torque[:, estimate.column(joint)])
            for joint in LEGS
        ]
        shown = []
        for joint, velocity, friction in curves:
            swinging = np.isfinite(friction) & _swinging(estimate, joint)
            shown.append((joint, velocity[swinging], friction[swinging]))
        save_figure(
            plot_curves("Friction of the swinging legs, without noise (fig. 6.5b)", shown, TARGETS),
            output / "legs.png",
        )


def _swinging(estimate: FrictionEstimate, joint: str) -> NDArray[np.bool_]:
    stance = SOLES[1] if joint in RIGHT_LEG else SOLES[0]
    return np.array([feet == (stance,) for feet in estimate.contacts])


def row(table: str, joint: str, paper: Row, ours: Array) -> list[Claim]:
    """Return the claims about a joint in a table; they hold where ours is no further off than is printed."""
    return [
        Claim(
            claim=f"{table}, {joint.replace('_', ' ')}, {symbol} error",
            paper=theirs,
            ours=float(our),
            unit="%",
            holds=bool(our < theirs + _ROUNDED),
        )
        for symbol, theirs, our in zip(SYMBOLS, paper, ours, strict=True)
    ]


def _target() -> Claim:
    """Both targets that the paper may mean, against the values and errors that it prints beside them."""
    printed, true = PRINTED_TARGET, TARGETS["right_hip_pitch"].coulomb
    off = {target: max(_misprint(target, *pair) for pair in PRINTED_HIPS) for target in (printed, true)}
    ours = min(off, key=lambda target: off[target])
    return Claim(
        claim=(
            "tables 6.1, 6.2, hip pitch and yaw, target of F_c and τ_os that errors belong to, to one digit"
        ),
        paper=printed,
        ours=ours,
        unit="N·m",
        holds=off[ours] < _MISPRINT and abs(ours - printed) <= 0.05 + 1e-9,
    )


def _misprint(target: float, value: float, error: float) -> float:
    return abs(100.0 * abs(value - target) / target - error)
