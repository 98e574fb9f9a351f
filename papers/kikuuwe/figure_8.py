# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's figure 8: where a point lies tells where `axproj` takes it; two joints."""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.gears import Asymmetry, GearedJoints, axproj
from papers.claim import Claim, claim
from papers.kikuuwe.benchmark import DT, random_problem
from papers.kikuuwe.internal_force_plots import MARGIN

_GRID = 21  # places each way
_COUPLING, _LOOSE = 1.2, 0.3  # kg·m², inertia between the joints, as drawn and another one


def figure_8_claims(random: np.random.Generator, count: int) -> list[Claim]:
    """Figure 8: where v lies tells where its projection lies; two joints."""
    edges = inside = off = 0
    oblique: dict[bool, list[float]] = {True: [], False: []}  # by whether the vertex is the closest
    for _ in range(count):
        problem = random_problem(random, 2)
        v, A, phi, P = problem.arguments()
        corners = vertices_of(A, phi, P)
        v = corners.mean(axis=0) + 1.5 * np.ptp(corners, axis=0) * random.uniform(-1.0, 1.0, 2)
        made = axproj(v, A, phi, P)
        sticks = made.velocity == 0.0
        if sticks.all():
            inside += 1
            continue
        if sticks.any():
            edges += 1
            continue
        away = np.linalg.norm(corners - v, axis=1)
        mine = np.linalg.norm(corners - made.projection, axis=1)
        off += mine.min() > 1e-9 * float(np.max(np.abs(corners)))
        sides = np.diff(corners[:3], axis=0)
        oblique[bool(np.argmin(away) == np.argmin(mine))].append(float(np.linalg.cond(sides)))
    nearest, vertices = len(oblique[True]), len(oblique[True]) + len(oblique[False])
    near, far = (
        float(np.median(oblique[is_nearest])) if oblique[is_nearest] else np.nan
        for is_nearest in (True, False)
    )
    elsewhere = _all_closest(_LOOSE)
    return [
        claim(
            "construction",
            f"fig. 8: {count} projections of two joints, {inside} inside, {edges} on an edge, {vertices} at a"
            " vertex; of these not a vertex A·Φ(s)",
            0,
            off,
            off == 0 and min(inside, edges, vertices) > 0,
            "both joints slip there, so that s is a corner of the square; some are at a vertex, on an edge"
            " and inside each, for none at a vertex would be none that is off",
        ),
        claim(
            "construction",
            f"fig. 8: of {vertices} projections to a vertex, those to the one closest to v",
            100.0,
            100.0 * nearest / max(vertices, 1),
            nearest == vertices > 0,
            "the caption: 'y is the closest vertex', of random joints. It is the caption of one figure, whose"
            " gears and inertias the paper does not give: not decided where it holds all over the figure with"
            " some inertia, contradicted where it does not",
            "%",
            contradicts=vertices > 0 and not elsewhere,
            undecided=elsewhere,
            reason="the vertex is the one whose signs are those of v - y, axis by axis. Where another one is"
            f" closer, the quadrilateral is long and oblique: its sides have a condition number of {far:.0f},"
            f" elsewhere of {near:.0f} (medians). All over the figure as it is drawn here, with an inertia of"
            f" {_COUPLING:g} kg·m² between the joints, the caption {_words(_all_closest(_COUPLING))}; with"
            f" {_LOOSE:g} kg·m² it {_words(elsewhere)}",
        ),
    ]


def _all_closest(coupling: float) -> bool:
    """Return whether, all over the figure, what goes to a vertex goes to the closest one.

    Args:
        coupling: inertia between the joints, kg·m².
    """
    A, phi, P = figure_8_problem(coupling)
    corners = vertices_of(A, phi, P)
    low, high = corners.min(axis=0), corners.max(axis=0)
    axes = np.linspace(low - MARGIN * (high - low), high + MARGIN * (high - low), _GRID).T
    for v in np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2):
        made = axproj(v, A, phi, P)
        if made.velocity.all():
            away, mine = (np.linalg.norm(corners - point, axis=1) for point in (v, made.projection))
            if np.argmin(away) != np.argmin(mine):
                return False
    return True


def _words(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def figure_8_problem(coupling: float = _COUPLING) -> tuple[Array, Array, Array]:
    """Return A, φ, P of figure 8 as it is drawn here; the paper does not give its own.

    Args:
        coupling: inertia between the joints, kg·m².
    """
    joints = GearedJoints(
        [Asymmetry(input_side=0.1, output_side=side) for side in (0.5, 0.8)], np.array([1.0, 1.0])
    )
    inertia = np.array([[3.0, coupling], [coupling, 1.5]])
    drive, load = np.array([12.0, -5.0]), np.array([4.0, 9.0])
    A = DT * np.linalg.inv(np.diag(joints.input_inertia) + inertia)
    P = joints.feedback(inertia)
    phi = joints.input_side * drive + joints.output_side * load - P @ (drive - load)
    return A, phi, P


def vertices_of(A: Array, phi: Array, P: Array) -> Array:
    """Return A·Φ(s) of two joints for s = (1, 1), (1, -1), (-1, -1), (-1, 1), (4, 2) rad/s."""
    return edge_of(A, phi, P, np.array([(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)]))


def edge_of(A: Array, phi: Array, P: Array, sides: Array) -> Array:
    """Return A·Φ(s) for rows of s, by remark 3."""
    points = []
    for s in sides:
        internal = phi
        change = np.inf
        while change > 1e-12 * float(np.max(np.abs(phi))):  # a contraction: it ends
            last, internal = internal, phi + P @ (s * np.abs(internal))
            change = float(np.max(np.abs(internal - last)))
        points.append(A @ (s * np.abs(internal)))
    return np.array(points)
