# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's section 6.1: what is said of a rod that is driven onto a spring, of gears of several kinds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bam_core.gears import Asymmetry, Gear
from bam_core.servo.friction import Friction
from papers.claim import Claim, Kind, claim
from papers.kikuuwe.examples import RodRun, run_rod

ROD_SIDES = (0.2, 0.5, 0.95, 1.05)
"""γ_v of fig. 9."""

_DRIVE = 40.0  # N·m, of section 6.1
_MUCH = 3.0 * _DRIVE
_MUCH_REASON = (
    "a gear without friction presses at rest with the drive itself, 40 N·m; 'much larger' is read as three"
    " times that"
)
_COULOMB = tuple(np.arange(0.0, 202.0, 2.0).tolist())  # N·m, past five times the drive
_FEEDBACK = 0.425  # ρ̂ of γ_v = 1.05


def rod_claims(rods: Sequence[RodRun], case: str = "", *, rigid: bool = True) -> list[Claim]:
    """Return what section 6.1 says of its four gears.

    Args:
        rods: one run for each of ROD_SIDES.
        case: appended to the section's number.
        rigid: whether the gears are the paper's; else they have elastic teeth, and to be stuck allows for
            what these give way.
    """
    kind: Kind = "construction" if rigid else "synthetic"
    nearly, locking = rods[2], rods[3]
    bounces = [_bounces(rod) for rod in rods]
    pushed_back = min(float(rod.position[_at(1.4)]) for rod in rods[:3])
    pressed = max(float(rod.position[_at(0.89)]) for rod in rods[:3])
    idle = locking.position[_at(0.9) : _at(1.4) - 1]
    moved = 100.0 * float(np.ptp(idle) / -idle[0]) if idle[0] < 0.0 else float("inf")
    held = float(-locking.contact[_at(1.39)])

    def row(name: str, paper: str, ours: float | str, holds: bool, threshold: str, unit: str = "") -> Claim:
        return claim(kind, f"6.1{case}, {name}", paper, ours, holds, threshold, unit, contradicts=True)

    stuck_reason = (
        "the implicit step (45) holds a gear at rest exactly"
        if rigid
        else "a tenth of the indentation: teeth and presliding give way a little, a gear that is pushed back"
        " by all of it"
    )
    return [
        row(
            "bounces at γ_v = 0.2, 0.5, 0.95, 1.05",
            "with smaller γ_v",
            ", ".join(map(str, bounces)),
            min(bounces[:2]) > 0 and max(bounces[2:]) == 0,
            "'smaller' is the lower half of the four: these leave the spring at least once, the others never",
        ),
        *(
            row(
                f"pushing with 40 N·m, f_v at γ_v = {side:g}",
                "much larger than f_u",
                float(-rod.contact[_at(0.89)]),
                -rod.contact[_at(0.89)] > _MUCH,
                _MUCH_REASON,
                "N·m",
            )
            for side, rod in ((0.95, nearly), (1.05, locking))
        ),
        row(
            "drive off, γ_v < 1: p at 1.4 s, least",
            "pushed back (> 0)",
            pushed_back,
            pushed_back > 0.0 > pressed,
            "the spring's surface is at p = 0; at 0.89 s, before the drive is off, all are in it",
            "rad",
        ),
        row(
            "drive off, γ_v = 1.05: movement, share of the indentation",
            "still stuck (0)",
            moved,
            moved == 0.0 if rigid else moved < 10.0,
            stuck_reason,
            "%",
        ),
        row(
            "drive off, γ_v = 1.05: contact force",
            "still large",
            held,
            held > _MUCH,
            "the same as while it is pushed; without friction it would be none",
            "N·m",
        ),
        row(
            "pulled, γ_v = 1.05: p at 2 s",
            "detached (> 0)",
            float(locking.position[-1]),
            locking.position[_at(1.39)] < 0.0 < locking.position[-1],
            "the spring's surface is at p = 0; until it is pulled it is pressed into it",
            "rad",
        ),
    ]


def coulomb_rod_claim(locking: RodRun, tried: Sequence[float] = _COULOMB) -> Claim:
    """Look for a load-independent friction with which the rod does what it does at γ_v = 1.05.

    Args:
        locking: that rod; without its features it would be nothing that another one has not all of them.
        tried: load-independent friction, N·m.
    """
    none = Asymmetry(input_side=0.0, output_side=0.0)
    best, most = 0.0, -1
    for coulomb in tried:
        gear = Gear(asymmetry=none, input_inertia=1.0, output_inertia=1.0, friction=Friction(coulomb=coulomb))
        done = _features(run_rod(gear))
        if done > most:
            best, most = coulomb, done
    asymmetric = _features(locking)
    return claim(
        "synthetic",
        "6.1, of four features, those of the gear with γ_v = 1.05, and most of load-independent friction to"
        f" {tried[-1]:g} N·m (at {best:g} N·m)",
        "4, not all: cannot be produced",
        f"{asymmetric}, {most}",
        asymmetric == 4 and most < 4,
        "the features are: moved onto the spring by 40 N·m, large force while pushed, stuck with a large"
        " force as the drive is off, detached by 20 N·m",
        contradicts=most == 4,
    )


def _features(rod: RodRun) -> int:
    """Count what a rod has of the four features of γ_v = 1.05."""
    idle = rod.velocity[_at(0.9) : _at(1.4) - 1]
    return sum(
        (
            bool(rod.position[_at(0.89)] < 0.0),
            bool(-rod.contact[_at(0.89)] > _MUCH),
            bool(not idle.any() and -rod.contact[_at(1.39)] > _MUCH),
            bool(rod.position[-1] > 0.0),
        )
    )


def well_posed_claim(rods: Sequence[RodRun]) -> Claim:
    """Check |ρ̂| < 1 of (29)."""
    largest = max(abs(rod.gear.feedback) for rod in rods)
    return claim(
        "construction",
        "6.1, largest |ρ̂|: well-posed",
        "< 1",
        largest,
        abs(largest - _FEEDBACK) < 1e-12,
        f"{_FEEDBACK:g}, which is below 1: (29) by hand for γ_v = 1.05, |0.2 - 1.05|/2",
    )


def _bounces(rod: RodRun) -> int:
    """Count how often the rod leaves the spring while it is driven towards it."""
    touching = rod.position[: _at(0.9)] < 0.0
    return int(np.sum(touching[:-1] & ~touching[1:]))


def _at(time: float) -> int:
    return round(1000.0 * time) - 1
