# SPDX-License-Identifier: Apache-2.0
"""Egle, Whole-body Joint Friction Modeling in a Torque-controlled Humanoid Walking Robot, redone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bam_core.plots.joint_friction import (
    plot_curves,
    plot_parameter_errors,
    plot_schemes,
    plot_supports,
)
from bam_core.plots.save import save_figure
from bam_core.reproduce._egle_noise import chapter_7
from bam_core.reproduce._egle_tables import BOTH, PRINTED_TARGET, STRAIGHT, SYMBOLS, TARGETS, Row
from bam_core.reproduce._egle_walks import KNEE, Walks, legs_table, walk_both
from bam_core.reproduce.claim import Claim
from bam_core.whole_body import (
    BackwardDifference,
    CentralDifference,
    FilteredEstimate,
    FrictionEstimate,
    Scheme,
    differentiate,
    estimate_filtered,
    estimate_friction,
    known_motion,
    single_support,
)
from bam_core.whole_body.contact_phases import AFTER_LIFT_OFF, BEFORE_TOUCH_DOWN
from bam_core.whole_body.gait import Support
from bam_core.whole_body.humanoid import LEGS, RIGHT_LEG, SOLES

Array = NDArray[np.float64]
Say = Callable[[str], None]

_EXACT = 1e-9  # N·m
_ROUNDED = 0.005  # %, half of the last digit that the tables print


def run(output: Path, say: Say) -> list[Claim]:
    """Redo chapters 6 and 7; see `bam_core.reproduce.paper`."""
    walks = walk_both(say)
    claims = _supports(output, walks, say)
    claims += _schemes(output, walks, say)
    tables = _Tables.make(walks, say)
    claims += tables.claims()
    tables.draw(output)
    claims += chapter_7(output, walks, tables.found, say)
    return claims


def _supports(output: Path, walks: Walks, say: Say) -> list[Claim]:
    """Figure 6.1."""
    say("single and double support")
    robot, walk = walks.robot, walks.knee
    log = walk.log.arranged(robot)
    estimate = estimate_friction(robot, known_motion(log, walk.velocity, walk.acceleration))
    save_figure(plot_supports(walk, estimate, KNEE), output / "supports.png")
    alone = np.array([len(feet) == 1 for feet in estimate.contacts])
    wrong = np.abs(estimate.torque - walk.friction)
    knee = estimate.column(KNEE)
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
            ours=float(wrong[~alone].max()),
            unit="N·m",
            holds=bool(wrong[~alone].max() > 1.0),
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


def _schemes(output: Path, walks: Walks, say: Say) -> list[Claim]:
    """Figures 6.2 and 6.3."""
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


@dataclass(frozen=True, kw_only=True)
class _Tables:
    """Tables 6.1 and 6.2, from clean positions and torques."""

    found: FilteredEstimate
    straight: dict[str, Array]
    both: dict[str, Array]

    @classmethod
    def make(cls, walks: Walks, say: Say) -> _Tables:
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
        claims = [
            Claim(
                claim="tables 6.1, 6.2, hip pitch and yaw, F_c and τ_os that the printed errors are from",
                paper=PRINTED_TARGET,
                ours=TARGETS["right_hip_pitch"].coulomb,
                unit="N·m",
                holds=False,
            )
        ]
        for name, paper, ours in (("6.1", STRAIGHT, self.straight), ("6.2", BOTH, self.both)):
            claims += [
                claim for joint in LEGS for claim in _row(f"table {name}", joint, paper[joint], ours[joint])
            ]
        return claims

    def draw(self, output: Path) -> None:
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


def _row(table: str, joint: str, paper: Row, ours: Array) -> list[Claim]:
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
