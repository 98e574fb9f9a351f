# SPDX-License-Identifier: Apache-2.0
"""Random steps of robots with gears, and what it takes to solve them by `axproj` and as the paper does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.gears.axproj import axproj, largest_gain
from bam_core.gears.geared_joints import GearedJoints
from bam_core.servo.asymmetry import Asymmetry
from papers.kikuuwe.fixed_steps import fixed_step_axproj

DT = 1e-3
"""h, s."""

MOST_JOINTS = 12

FIXED_STEP = 1.0
"""c of the paper's iteration, relative to 1/(‖A‖·‖φ‖): of 0.3, 1, 3, 10 the one with which most converge."""

FIXED_STEP_LIMIT = 5000
"""Iterations after which the paper's has failed."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One step (69) of n joints.

    Attributes:
        joints: their gears.
        inertia: M, (n, n) kg·m².
        velocity: v_{k-1}, (n,) rad/s.
        drive: τ_u, (n,) N·m.
        load: τ_v, (n,) N·m.
    """

    joints: GearedJoints
    inertia: Array
    velocity: Array
    drive: Array
    load: Array

    def arguments(self) -> tuple[Array, Array, Array, Array]:
        """Return v, A, φ, P of `axproj` (69d-69f)."""
        joints, net = self.joints, self.drive - self.load
        total = np.diag(joints.input_inertia) + self.inertia
        A = np.asarray(DT * np.linalg.inv(total), dtype=np.float64)
        P = joints.feedback(self.inertia)
        phi = joints.input_side * self.drive + joints.output_side * self.load - P @ net
        return self.velocity + A @ net, A, phi, P


def random_problem(random: np.random.Generator, count: int) -> Problem:
    """Draw a well-posed problem, σ_max(P) < 1, with γ_v up to 1.3, joints at rest and loads nearly balanced.

    Args:
        random: where it is drawn from.
        count: of joints.
    """
    while True:
        root = random.normal(size=(count, count))
        inertia = root @ root.T / count * np.exp(random.normal()) + np.diag(random.uniform(0.05, 1.0, count))
        sides = zip(random.uniform(0.0, 0.5, count), random.uniform(0.0, 1.3, count), strict=True)
        joints = GearedJoints(
            [Asymmetry(input_side=u, output_side=v) for u, v in sides],
            np.exp(random.normal(-0.5, 1.0, count)),
        )
        if largest_gain(joints.feedback(inertia)) < 1.0:
            break
    drive = random.normal(0.0, 20.0, count)
    return Problem(
        joints=joints,
        inertia=inertia,
        velocity=random.normal(0.0, 0.1, count) * random.choice([0.0, 0.05, 1.0], count),
        drive=drive,
        load=drive + random.normal(0.0, 20.0, count) * random.choice([0.02, 0.3, 1.0]),
    )


@dataclass(frozen=True, kw_only=True)
class SolverFigures:
    """What a solver took.

    Attributes:
        problems: that it was given.
        solved: share of them that it solved to 1e-10 rad/s.
        residual: largest of those that it solved, rad/s.
        seconds: median time per problem, with all checks of arguments.
        iterations: median per problem.
        most_iterations: of any problem that it solved.
    """

    problems: int
    solved: float
    residual: float
    seconds: float
    iterations: float
    most_iterations: int


def measure_axproj(count: int, seed: int = 0) -> SolverFigures:
    """Solve random problems of 1 to MOST_JOINTS joints from a cold start."""

    def solve(arguments: tuple[Array, Array, Array, Array]) -> tuple[int, float]:
        solved = axproj(*arguments)
        return solved.iterations, solved.residual

    return _measure(solve, count, seed)


def measure_fixed_steps(count: int, seed: int = 0) -> SolverFigures:
    """Solve the first of the same problems by the iteration that the paper mentions, compiled as well."""

    def solve(arguments: tuple[Array, Array, Array, Array]) -> tuple[int, float]:
        _, iterations = fixed_step_axproj(
            *arguments, step=FIXED_STEP, tolerance=1e-10, limit=FIXED_STEP_LIMIT
        )
        return iterations, 1e-10 if iterations < FIXED_STEP_LIMIT else np.inf

    return _measure(solve, count, seed)


def _measure(
    solve: Callable[[tuple[Array, Array, Array, Array]], tuple[int, float]], count: int, seed: int
) -> SolverFigures:
    random = np.random.default_rng(seed)
    solve(random_problem(np.random.default_rng(seed), 2).arguments())  # compiled before the clock runs
    seconds, iterations, residuals = np.empty(count), np.empty(count, dtype=np.int64), np.empty(count)
    for index in range(count):
        arguments = random_problem(random, 1 + index % MOST_JOINTS).arguments()
        start = time.perf_counter()
        iterations[index], residuals[index] = solve(arguments)
        seconds[index] = time.perf_counter() - start
    solved = residuals <= 1e-10
    return SolverFigures(
        problems=count,
        solved=float(solved.mean()),
        residual=float(residuals[solved].max(initial=0.0)),
        seconds=float(np.median(seconds)),
        iterations=float(np.median(iterations)),
        most_iterations=int(iterations[solved].max(initial=0)),
    )
