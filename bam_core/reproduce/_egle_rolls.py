# SPDX-License-Identifier: Apache-2.0
"""Egle's section 6.2.2: straight ahead, hip rolls are too slow for some of their parameters to be found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.reproduce._egle_tables import PRINTED_ROLLS, STRAIGHT, SYMBOLS, TARGETS
from bam_core.reproduce._egle_walks import Walks, legs_table
from bam_core.reproduce.claim import Claim, claim
from bam_core.whole_body import FrictionFit, JointFriction

ROLLS = ("right_hip_roll", "left_hip_roll")

_LOST = ("F_v", "F_c", "S")
"""Parameters that the thesis cannot estimate of hip rolls: those that only speeds beyond the Stribeck part
tell apart."""
_OFF = min(error for joint in ROLLS for error in STRAIGHT[joint][:3])
_FOUND = max(error for joint in ROLLS for error in STRAIGHT[joint][3:])
_VISIBLE = 0.05  # of F_c, by which a fit leaves the true curve where it has seen no data
_NOISE = "the rest is what encoder steps and torque noise leave after the filters that they take"
_LESS = (
    "noise moves it less than the thesis' disturbances do, with which F_v ends at ten times its value, and"
    " F_c and S make up for that. Which these are is not understood: its simulator has no significant noise"
)


@dataclass(frozen=True, kw_only=True)
class Rolls:
    """Parameters of the hip rolls, %; of all steps ahead, and of those of their samples that are slow.

    Attributes:
        errors: by joint, (6,).
        uncertain: standard errors over targets, by joint, (6,), as if samples were independent.
    """

    errors: tuple[Mapping[str, Array], Mapping[str, Array]]
    uncertain: tuple[Mapping[str, Array], Mapping[str, Array]]

    @classmethod
    def make(cls, straight: Mapping[str, FrictionFit], slow: Mapping[str, FrictionFit]) -> Rolls:
        """Take them from fits, by joint."""

        def share(fits: Mapping[str, FrictionFit]) -> dict[str, Array]:
            return {
                joint: 100.0 * fits[joint].standard_errors / np.abs(TARGETS[joint].values) for joint in ROLLS
            }

        return cls(errors=(legs_table(straight), legs_table(slow)), uncertain=(share(straight), share(slow)))


def their_speed(joint: str) -> float:
    """Return the highest speed of a hip roll in table 6.1, as its own parameters tell it, rad/s.

    They are a fit to the speeds that occurred: up to there their curve is the true one.
    """
    true = TARGETS[joint]
    speed = np.arange(0.5 * true.stribeck_velocity, 2.0, 1e-3)
    apart = np.abs(JointFriction.from_values(PRINTED_ROLLS[joint]).curve(speed) - true.curve(speed))
    return float(speed[np.argmax(apart > _VISIBLE * true.coulomb)])


def highest_speed(walks: Walks) -> float:
    """Return the highest speed of the hip rolls, steps ahead, in the swing, rad/s."""
    log = walks.legs.log
    return max(
        float(np.max(np.abs(walks.legs.velocity[walks.swings[joint] & (log.time < walks.turn), column])))
        for joint in ROLLS
        for column in (log.names.index(joint),)
    )


def roll_claims(noisy: Rolls, clean: Rolls, speed: float) -> list[Claim]:
    """Return what table 6.1 shows of each parameter of the hip rolls.

    Args:
        noisy: from sensors.
        clean: from clean signals.
        speed: highest of our hip rolls, rad/s.
    """
    speeds = ", ".join(f"{their_speed(joint):.2f}" for joint in ROLLS)
    faster = (
        f"; our hip rolls reach {speed:.2f} rad/s, those of the thesis, as its parameters tell, {speeds}"
        " rad/s. It gives neither its double support nor how far it sways: not decided; slower samples:"
        " next rows"
    )
    claims = []
    for place, (case, words) in enumerate((("", faster), (f", below {speeds} rad/s as in the thesis", ""))):
        for index, symbol in enumerate(SYMBOLS):
            lost = symbol in _LOST
            ours, sigma, without = (
                [float(each[joint][index]) for joint in ROLLS]
                for each in (noisy.errors[place], noisy.uncertain[place], clean.errors[place])
            )
            both = list(zip(ours, sigma, strict=True))
            claims.append(
                claim(
                    "synthetic",
                    f"table 6.1, sensors, hip rolls right and left{case}, error of {symbol} (standard error:"
                    f" {_figures(sigma)} %)",
                    ("not possible to estimate: " if lost else "")
                    + ", ".join(f"{STRAIGHT[joint][index]:g}" for joint in ROLLS),
                    _figures(ours),
                    min(map(min, both)) >= _OFF if lost else max(ours) <= _FOUND,
                    f"error and standard error of both at least {_OFF:g} %, the least of the thesis' six of"
                    " F_v, F_c and S: an estimator that returns 0 has an error as large, and none of noise"
                    if lost
                    else f"both within {_FOUND:g} %, the largest of the thesis' six of v_s, τ_os and a",
                    "%",
                    contradicts=lost and bool(case) and max(map(max, both)) < _OFF,
                    undecided=not case,
                    reason=f"from clean signals {_figures(without)} %;"
                    f" {_why(ours, sigma) if lost else _NOISE}{words}",
                )
            )
    return claims


def _why(ours: list[float], sigma: list[float]) -> str:
    """Return why a parameter that cannot be estimated seems to be."""
    if min(ours) < _OFF:
        return _LESS
    return (
        f"errors are as large, at least {min(ours):.3g} %, but not all standard errors: {_figures(sigma)} %"
    )


def _figures(errors: list[float]) -> str:
    return ", ".join(f"{error:.3g}" for error in errors)


def speed_claim(speed: float) -> Claim:
    """Compare the hip rolls' speed, steps ahead, with that from which the Stribeck part is over."""
    limit = 2.0 * TARGETS[ROLLS[0]].stribeck_velocity
    speeds = ", ".join(f"{their_speed(joint):.2f}" for joint in ROLLS)
    return claim(
        "synthetic",
        "section 6.2.2, walking straight, hip rolls, highest speed",
        "not high enough to clear the Stribeck part",
        speed,
        speed < limit,
        f"below 2·v_s = {limit:g} rad/s, where 2 % of the Stribeck part are left",
        "rad/s",
        undecided=True,
        reason=f"the thesis' own parameters of table 6.1 tell {speeds} rad/s; it gives neither its double"
        " support nor how far it sways: not decided",
    )
