# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's remarks 1, 2, 4 and 5, figure 7, and what section 5.3 says of solving (67)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bam_core.arrays import Array
from bam_core.gears import Asymmetry, Gear, GearedJoints, axproj, internal_forces, largest_gain
from papers.claim import Claim, claim
from papers.kikuuwe.all_pieces import all_solutions
from papers.kikuuwe.benchmark import (
    FIXED_STEP_LIMIT,
    MOST_JOINTS,
    Problem,
    measure_axproj,
    measure_fixed_steps,
    random_problem,
)
from papers.kikuuwe.examples import run_rod
from papers.kikuuwe.figure_8 import figure_8_claims
from papers.kikuuwe.fixed_steps import fixed_step_axproj
from papers.kikuuwe.rod import ROD_SIDES

_TIMESTEPS = (1e-3, 5e-4, 2.5e-4, 1.25e-4)  # s
_UNTIL = 0.85  # s; within the first phase, whose borders every time step meets
_FEW = 4  # joints, 5⁴ = 625 systems a problem
_ANY_C = (1.0, 0.3, 3.0, 0.1, 10.0, 0.03, 0.01)
_MAX_ITERATIONS = 20_000  # iterations
_TOLERANCE = 1e-6  # rad/s; joints of the problems have up to 1 rad/s, and A is ill conditioned

Arguments = tuple[Array, Array, Array, Array]
"""v, A, φ, P of `axproj`."""


def remark_claims(
    *, gears: int, projections: int, problems: int, enumerated: int, fixed: int
) -> tuple[list[Claim], list[Claim]]:
    """Return claims about the remarks, and checks: of these the paper says nothing.

    Args:
        gears: random ones, for remark 2 and figure 7.
        projections: random ones, for figure 8.
        problems: random ones, for `axproj`.
        enumerated: those for remark 5.
        fixed: those for the paper's iteration.
    """
    random = np.random.default_rng(2)
    claims = [
        _existence(),
        _uniqueness(random, gears),
        _figure_7(random, gears),
        *figure_8_claims(random, projections),
    ]
    all_signs, several = _all_signs(random, enumerated)
    solved = _solved(problems)
    claims += [all_signs, *_solvers(problems, fixed, solved)]
    return claims, [_two_solutions_check(), several, _solved_check(problems, solved)]


def _existence() -> Claim:
    """Remark 1: as time steps are halved, the motion converges."""
    least = np.inf
    for side in ROD_SIDES:
        places = []
        for step in _TIMESTEPS:
            every = round(_TIMESTEPS[0] / step)
            places.append(run_rod(side, duration=_UNTIL, timestep=step).position[every - 1 :: every])
        apart = [float(np.max(np.abs(one - two))) for one, two in pairwise(places)]
        least = min(least, *(one / two if two > 0.0 else 0.0 for one, two in pairwise(apart)))
    return claim(
        "construction",
        "remark 1: distance of motions with h and h/2, over that with h/2 and h/4, least",
        "a solution exists",
        least,
        least > 1.5,
        "2 where implicit Euler converges with its order, 1; below 1 it would not converge. Bounces cost some"
        " of it: 1.5 is half way",
    )


def _uniqueness(random: np.random.Generator, count: int) -> Claim:
    """Remark 2: two motions under the same torques never come further apart, as (33) is monotone in v."""
    worst, still = -np.inf, 0
    for _ in range(count):
        v = random.uniform(-0.9, 1.5)
        gear = Gear(
            asymmetry=Asymmetry(input_side=random.uniform(max(-v, -0.9), 0.9), output_side=v),
            input_inertia=float(np.exp(random.normal())),
            output_inertia=float(np.exp(random.normal())),
        )
        if not gear.is_well_posed:
            continue
        (one, _), other = random.normal(0.0, 0.1, 2), 0.0
        for drive, load in random.normal(0.0, 20.0, (20, 2)):
            apart = abs(one - other)
            at_rest = other == 0.0
            one = gear.step(one, drive, load, 1e-3).velocity
            other = gear.step(other, drive, load, 1e-3).velocity
            worst = max(worst, abs(one - other) - apart)
            still += at_rest and other == 0.0 and not gear.asymmetry.holds(drive, load)
    return claim(
        "construction",
        f"remark 2: {count} gears, |ρ̂| < 1, by how much two motions come apart in a step, most",
        "<= 0: unique solutions",
        float(worst),
        worst <= 1e-12 and still == 0,
        "a monotone right-hand side lets no two solutions part; 1e-12 is rounding. One of the two begins at"
        f" rest, and sets out where (23) does not hold it (left at rest there: {still}, to be 0): what never"
        " moves does not part either",
        "rad/s",
    )


def _figure_7(random: np.random.Generator, count: int) -> Claim:
    """Figure 7: how many λ solve (31), found from the two straight branches of λ - ρ·|λ|."""
    wrong = 0
    for _ in range(count):
        phi, rho = random.normal(0.0, 10.0), random.uniform(-3.0, 3.0)
        # On each side of zero the left side is straight, with slopes 1 - ρ and 1 + ρ.
        roots = int((1.0 - rho) * phi > 0.0) + int((1.0 + rho) * phi < 0.0)
        expected = 1 if abs(rho) < 1.0 else 2 if phi * rho < 0.0 else 0
        wrong += not roots == expected == len(internal_forces(phi, rho))
    return claim(
        "construction",
        f"fig. 7, section 4.3: λ(φ, ρ) single-valued where |ρ| < 1, else empty or dual-valued, exceptions of"
        f" {count}",
        0,
        wrong,
        wrong == 0,
        "a theorem has no exceptions",
    )


def two_solutions() -> Problem:
    """Return a step with σ_max(P) < 1 that leaves two joints at rest or moving."""
    return Problem(
        joints=GearedJoints(
            [Asymmetry(input_side=0.1, output_side=0.7), Asymmetry(input_side=0.4, output_side=1.4)],
            [0.5, 0.6],
        ),
        inertia=np.array([[4.3, -1.6], [-1.6, 2.2]]),
        velocity=np.zeros(2),
        drive=np.array([13.0, -2.0]),
        load=np.array([7.0, 7.0]),
    )


def _two_solutions_check() -> Claim:
    """Look for what remark 4 leaves open: the paper has not proven that (58) has one solution."""
    arguments = two_solutions().arguments()
    count = len(all_solutions(*arguments))
    return claim(
        "construction",
        f"remark 4: solutions of a step of two joints, σ_max(P) = {largest_gain(arguments[3]):.3f}",
        None,
        count,
        count > 1,
        "more than one, found by trying all combinations: what the remark leaves open is not so in general."
        " While one joint sticks, the other has |ρ̂| > 1 and jams, so that Φ is not monotone in s; it takes"
        " γ_v > 1",
    )


def _all_signs(random: np.random.Generator, count: int) -> tuple[Claim, Claim]:
    """Remark 5: Dupont's trial of all combinations, made to know joints that stick.

    Returns:
        that axproj solves the same; a check of how many solutions there are, which remark 4 leaves open.
    """
    several = missed = stuck = unsolved = 0
    for index in range(count):
        problem = random_problem(random, 1 + index % _FEW)
        arguments = problem.arguments()
        solutions = all_solutions(*arguments)
        made = axproj(*arguments).velocity
        scale = float(np.max(np.abs(arguments[0])) + np.max(np.abs(arguments[1] @ arguments[2])))
        missed += not any(np.max(np.abs(made - solution)) < 1e-7 * scale for solution in solutions)
        several += len(solutions) > 1
        unsolved += not len(solutions)
        stuck += bool((made == 0.0).any())
    return (
        claim(
            "construction",
            f"remark 5: of {count} problems to {_FEW} joints, {stuck} with a joint in static friction, those"
            " where axproj is not among the solutions of all combinations",
            0,
            missed,
            missed == 0,
            "both solve the same equations",
        ),
        claim(
            "construction",
            f"of {count} problems to {_FEW} joints, those with more than one solution",
            None,
            several,
            several == 0 and unsolved == 0,
            "none: random problems are no more than rarely like that of remark 4, and each has a solution"
            f" (without: {unsolved})",
        ),
    )


def _solved_check(problems: int, solved: float) -> Claim:
    return claim(
        "construction",
        f"5.3, axproj: {problems} well-posed problems to {MOST_JOINTS} joints, solved",
        None,
        100.0 * solved,
        solved == 1.0,
        f"all: a solver leaves none, to {_TOLERANCE:g} rad/s of what it is asked for, in (67) itself,"
        " whatever it says of its residual",
        "%",
    )


def _solvers(problems: int, fixed_problems: int, solved: float) -> list[Claim]:
    ours, fixed = measure_axproj(problems), measure_fixed_steps(fixed_problems)
    unsolved = _unsolved(fixed_problems)
    return [
        claim(
            "construction",
            f"5.3, axproj: the paper's iteration with a c that suits the problem, {fixed.problems} of the"
            f" same, not solved (with one c for all and {FIXED_STEP_LIMIT} iterations:"
            f" {round(fixed.problems * (1.0 - fixed.solved))})",
            0,
            unsolved,
            unsolved == 0,
            "'one simple way to solve', 'with a small positive number c': it leaves none, to 1e-10 rad/s by"
            f" its residual and {_TOLERANCE:g} rad/s in (67), if c may be any of"
            f" {', '.join(f'{c:g}' for c in _ANY_C)}, relative to 1/(‖A‖·‖φ‖), and iterations"
            f" {_MAX_ITERATIONS}; the paper limits neither",
            chosen_after="5000 iterations, tried first, left two",
        ),
        claim(
            "construction",
            f"5.3, axproj: median of linear systems (the paper's iteration, as programmed here:"
            f" {fixed.iterations:.0f} iterations)",
            "more efficient schemes can be constructed",
            ours.iterations,
            ours.iterations < 0.1 * fixed.iterations and solved == 1.0,
            "one linear system costs about as much as a few of the paper's iterations: a tenth of its count;"
            " of a scheme that solves them all",
            contradicts=ours.iterations > fixed.iterations,
        ),
    ]


def _solved(count: int) -> float:
    """Return the share of the problems of `measure_axproj` whose result solves (67)."""
    random = np.random.default_rng(0)
    good = 0
    for index in range(count):
        arguments = random_problem(random, 1 + index % MOST_JOINTS).arguments()
        made = axproj(*arguments)
        good += miss_of(arguments, made.velocity, made.friction) < _TOLERANCE
    return good / count


def _unsolved(count: int) -> int:
    """Count those of the problems of `measure_fixed_steps` that the paper's iteration solves with no c."""
    random = np.random.default_rng(0)
    problems = [random_problem(random, 1 + index % MOST_JOINTS).arguments() for index in range(count)]

    def solves(arguments: Arguments, c: float) -> bool:
        y, iterations = fixed_step_axproj(*arguments, step=c, tolerance=1e-10, limit=_MAX_ITERATIONS)
        v, A, *_ = arguments
        friction = np.asarray(np.linalg.solve(A, y), dtype=np.float64)
        return iterations < _MAX_ITERATIONS and miss_of(arguments, v - y, friction) < _TOLERANCE

    return sum(not any(solves(problem, c) for c in _ANY_C) for problem in problems)


def miss_of(arguments: Arguments, velocity: Array, friction: Array) -> float:
    """Return by how much velocities and friction miss (67), rad/s, at worst.

    What slips has f = s·|λ| with the sign s of its velocity, what sticks |f| <= |λ|; λ = φ + P·f.

    Args:
        arguments: v, A, φ, P of `axproj`.
        velocity: after the step, (n,) rad/s.
        friction: (n,) N·m.
    """
    v, A, phi, P = arguments
    limit = np.abs(phi + P @ friction)
    slips = np.abs(velocity) > _TOLERANCE
    off = np.where(
        slips, np.abs(friction - np.sign(velocity) * limit), np.maximum(np.abs(friction) - limit, 0.0)
    )
    return float(max(np.max(np.abs(v - A @ friction - velocity)), np.max(np.diag(A) * off)))
