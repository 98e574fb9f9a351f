# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's figures, lemmas and remarks: what is redone of each."""

from __future__ import annotations

from papers.redone import Exhibit

_DRAWING = (
    "a drawing of a mechanism; its equations of motion are solved as they stand for random mechanisms, and"
    " compared with (14)"
)

EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit(name="fig. 1", subject="two carts that slide on each other", redone=False, remark=_DRAWING),
    Exhibit(name="fig. 2", subject="leadscrew", redone=False, remark=_DRAWING),
    Exhibit(name="fig. 3", subject="worm gear", redone=False, remark=_DRAWING),
    Exhibit(name="fig. 4", subject="spur gears", redone=False, remark=_DRAWING),
    Exhibit(
        name="fig. 5",
        subject="backdrivability and forward-drivability over γ_u and γ_v",
        remark="as in the paper, with a leadscrew, a worm gear and spur gears marked",
        pictures=("figure_5.png",),
    ),
    Exhibit(
        name="fig. 6",
        subject="torques with which a gear stays at rest",
        remark="six gears, at least one of each class; the paper does not give its γ_u and γ_v",
        pictures=("figure_6.png",),
    ),
    Exhibit(
        name="fig. 7",
        subject="the set-valued function λ(φ, ρ)",
        remark="as cuts at five ρ in place of a surface, so that both branches can be seen",
        pictures=("figure_7.png",),
    ),
    Exhibit(
        name="fig. 8",
        subject="the operator axproj of two joints",
        remark="two joints with γ_u = 0.1 and γ_v = 0.5, 0.8; the paper does not give its numbers. The"
        " caption's 'closest vertex' hangs on inertias that it does not give, too",
        pictures=("figure_8.png",),
    ),
    Exhibit(
        name="fig. 9",
        subject="a rod is driven onto a spring, γ_v = 0.2, 0.5, 0.95, 1.05",
        remark="(b) and (c), (a) being a drawing; all constants as in section 6.1; the paper does not say"
        " where the rod starts, here 0.5 rad."
        " Once more with gears that have elastic teeth, backlash and presliding, by another integrator",
        pictures=("figure_9.png", "figure_9_elastic_teeth.png"),
        captions=(
            "the rod as in the paper",
            "the rod behind gears with elastic teeth, backlash and presliding",
        ),
    ),
    Exhibit(
        name="fig. 10",
        subject="a robot with two links at a wall",
        redone=False,
        remark="a drawing; the robot is that of figs. 11 and 12",
    ),
    Exhibit(
        name="fig. 11",
        subject="the robot pushes the wall and is pushed, γ_v = 0.1, 0.6, 1.1",
        remark="all constants as in section 6.2. The paper gives neither the wall's stiffness nor the elbow's"
        " side: drawn for 10 kN/m and the elbow in; the claims are tested for 3, 10, 30 and 100 kN/m with"
        " the elbow in, for 10 kN/m with the elbow out as well, and a table tells which hold with walls"
        " between them",
        pictures=("figure_11.png", "wall_stiffness.png"),
        captions=("the wall of 10 kN/m and both joints alike", "γ_v = 1.1 and walls of several stiffnesses"),
    ),
    Exhibit(
        name="fig. 12",
        subject="the robot of fig. 11, γ_v = [0.1, 1.1] and [1.1, 0.1]",
        remark="as fig. 11",
        pictures=("figure_12.png",),
    ),
    Exhibit(name="lemma 1", subject="λ solves λ - ρ|λ| = φ", remark="random φ and ρ, |ρ| < 3"),
    Exhibit(name="lemma 2", subject="Φ is monotone in s", remark="random gears, |ρ̂| < 1"),
    Exhibit(name="lemma 3", subject="λ is single-valued", remark="random P of 1 to 12 joints, σ_max(P) < 1"),
    Exhibit(
        name="lemma 4", subject="λ is bounded and continuous in s", remark="the bounds (81), (85), as lemma 3"
    ),
    Exhibit(
        name="remark 1",
        subject="(33) has a solution",
        remark="the rod's motion converges as the time step is halved from 1 ms to 0.125 ms; a numerical"
        " check, no proof",
    ),
    Exhibit(
        name="remark 2",
        subject="(33) has one solution",
        remark="two motions under the same torques never part; random gears",
    ),
    Exhibit(name="remark 3", subject="λ by iteration", remark="used for lemmas 3 and 4, and for fig. 8"),
    Exhibit(
        name="remark 4",
        subject="whether (58) has one solution is open",
        remark="a step of two joints that has two solutions, found by trying all combinations",
    ),
    Exhibit(
        name="remark 5",
        subject="Dupont's trial of all combinations of signs",
        remark="with joints that stick as further cases, to four joints; compared with axproj",
    ),
    Exhibit(
        name="remark 6",
        subject="lemma 3 is close to a proposition of Blumentals et al.",
        redone=False,
        remark="a remark on literature, with nothing to compute",
    ),
)
