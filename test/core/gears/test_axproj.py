# SPDX-License-Identifier: Apache-2.0
"""The projection along axes (Kikuuwe eqs. 67-73, lemmas 3 and 4) and how it is solved."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bam_core.errors import OutOfRange, Unsupported, WrongShape
from bam_core.gears import Asymmetry, Gear, GearedJoints, axproj, friction_torque, largest_gain
from bam_core.gears._path import follow
from bam_core.gears._pieces import newton, residual_of
from papers.kikuuwe.benchmark import Problem, measure_axproj, measure_fixed_steps, random_problem
from papers.kikuuwe.fixed_steps import fixed_step_axproj
from test.core.gear_cases import check_inclusion
from test.core.refusals import refused

seeds = st.integers(0, 2**32 - 1)
counts = st.integers(1, 12)
relaxed = settings(deadline=None, max_examples=50)


@relaxed
@given(seeds, counts)
def test_a_solution_satisfies_the_inclusion(seed: int, count: int) -> None:
    problem = random_problem(np.random.default_rng(seed), count)
    v, A, phi, P = problem.arguments()
    solved = axproj(v, A, phi, P)
    check_inclusion(v, A, phi, P, solved.projection, solved.friction)
    assert solved.velocity == pytest.approx(v - solved.projection, abs=1e-14)


@pytest.mark.long
def test_well_posed_problems_of_up_to_twelve_joints_are_solved_to_1e_10_in_a_few_steps() -> None:
    figures = measure_axproj(2400, seed=11)  # `python -m papers kikuuwe` solves 10 000
    assert figures.solved == 1.0
    assert figures.residual < 1e-12
    assert figures.iterations <= 2
    assert figures.most_iterations < 100


@pytest.mark.long
def test_the_papers_iteration_takes_far_more_of_them_and_solves_fewer() -> None:
    ours, fixed = measure_axproj(240), measure_fixed_steps(240)
    assert ours.solved == 1.0
    assert fixed.solved < 1.0
    assert fixed.iterations > 20 * ours.iterations


@relaxed
@given(seeds, counts)
def test_a_warm_start_at_the_solution_takes_one_step(seed: int, count: int) -> None:
    arguments = random_problem(np.random.default_rng(seed), count).arguments()
    cold = axproj(*arguments)
    warm = axproj(*arguments, start=cold.friction)
    assert warm.velocity == pytest.approx(cold.velocity, abs=1e-10)
    assert warm.iterations <= 2


@relaxed
@given(seeds, counts)
def test_the_path_from_piece_to_piece_arrives_where_newton_does_or_at_another_solution(
    seed: int, count: int
) -> None:
    v, A, phi, P = random_problem(np.random.default_rng(seed), count).arguments()
    f, w, internal, none = np.zeros(count), np.empty(count), np.empty(count), np.zeros(count)
    follow((v, A, phi, P, none), (f, w, internal), 2000)
    newton((v, A, phi, P, none), (f, w, internal), 1)
    assert residual_of(A, none, f, w, internal) < 1e-10
    check_inclusion(v, A, phi, P, v - w, f)


@relaxed
@given(seeds, counts)
def test_where_newton_runs_in_circles_the_path_takes_over(seed: int, count: int) -> None:
    """Feedback of any form, no mechanics behind it: here circles are not rare."""
    random = np.random.default_rng(seed)
    root = random.normal(size=(count, count))
    A = (root @ root.T + 0.05 * np.eye(count)) * 1e-3
    P = random.normal(size=(count, count))
    P *= random.uniform(0.1, 0.99) / np.linalg.norm(P, 2)
    v, phi = random.normal(0.0, 0.05, count), random.normal(0.0, 10.0, count)
    solved = axproj(v, A, phi, P)
    assert solved.residual < 1e-10
    check_inclusion(v, A, phi, P, solved.projection, solved.friction)


@relaxed
@given(seeds, counts)
def test_diagonal_problems_are_projections_joint_by_joint(seed: int, count: int) -> None:
    """Equation (70)."""
    random = np.random.default_rng(seed)
    A, P = np.diag(random.uniform(1e-4, 1e-2, count)), np.diag(random.uniform(-0.95, 0.95, count))
    v, phi = random.normal(0.0, 0.1, count), random.normal(0.0, 10.0, count)
    expected = [
        float(np.clip(v[i], *(A[i, i] * friction_torque(s, phi[i], P[i, i]) for s in (-1.0, 1.0))))
        for i in range(count)
    ]
    assert axproj(v, A, phi, P).projection == pytest.approx(expected, abs=1e-13)


@pytest.mark.long
@relaxed
@given(seeds, counts)
def test_lemmas_3_and_4_every_friction_state_has_one_bounded_internal_force(seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    P = random.normal(size=(count, count))
    P *= random.uniform(0.1, 0.95) / np.linalg.norm(P, 2)
    sigma = largest_gain(P)
    phi = random.normal(0.0, 10.0, count)
    s, near = random.uniform(-1, 1, count), random.uniform(-1e-4, 1e-4, count)

    def internal(s: np.ndarray, start: np.ndarray) -> np.ndarray:
        for _ in range(3000):
            start = phi + P @ (s * np.abs(start))
        return start

    one, other = internal(s, phi), internal(s, random.normal(0.0, 100.0, count))
    assert one == pytest.approx(other, abs=1e-9)  # lemma 3
    size = float(np.linalg.norm(phi))
    assert np.linalg.norm(one) <= size / (1.0 - sigma) * (1.0 + 1e-9)  # (81)
    moved = np.clip(s + near, -1.0, 1.0)
    step = np.linalg.norm(internal(moved, phi) - one)
    limit = sigma * size / (1.0 - sigma) ** 2 * np.linalg.norm(moved - s)  # (85)
    assert step <= limit * (1.0 + 1e-9) + 1e-9


@relaxed
@given(seeds, st.integers(1, 3))
def test_the_papers_iteration_arrives_at_the_same_solution(seed: int, count: int) -> None:
    arguments = random_problem(np.random.default_rng(seed), count).arguments()
    slow, iterations = fixed_step_axproj(*arguments, step=1.0, tolerance=1e-9, limit=2000)
    assume(iterations < 2000)
    assert slow == pytest.approx(axproj(*arguments).projection, abs=1e-6)


@relaxed
@given(seeds, counts, st.floats(0.01, 5.0))
def test_load_independent_friction_widens_what_holds(seed: int, count: int, coulomb: float) -> None:
    v, A, phi, P = random_problem(np.random.default_rng(seed), count).arguments()
    solved = axproj(v, A, phi, P, extra=np.full(count, coulomb))
    check_inclusion(v, A, phi, P, solved.projection, solved.friction, extra=coulomb)


def test_a_small_gain_does_not_make_the_projection_unique() -> None:
    """Remark 4 leaves open whether Φ is monotone: that does not follow from σ_max(P) < 1.

    While the first joint sticks, the second alone has ρ̂ = -1.01. From rest, it may stay or go.
    """
    joints = GearedJoints(
        [Asymmetry(input_side=0.1, output_side=0.7), Asymmetry(input_side=0.4, output_side=1.4)], [0.5, 0.6]
    )
    inertia = np.array([[4.3, -1.6], [-1.6, 2.2]])
    alone = Gear(asymmetry=Asymmetry(input_side=0.4, output_side=1.4), input_inertia=0.6, output_inertia=2.2)
    assert not alone.is_well_posed
    problem = Problem(
        joints=joints,
        inertia=inertia,
        velocity=np.zeros(2),
        drive=np.array([13.0, -2.0]),
        load=np.array([7.0, 7.0]),
    )
    v, A, phi, P = problem.arguments()
    assert largest_gain(P) < 0.96
    found = set()
    for start in np.random.default_rng(0).normal(0.0, 20.0, (40, 2)):
        solved = axproj(v, A, phi, P, start=start)
        assert solved.residual < 1e-12
        check_inclusion(v, A, phi, P, solved.projection, solved.friction)
        found.add(tuple(np.round(solved.velocity, 7)))
    assert {(0.0, 0.0), (0.0, -0.0031915)} <= found


@relaxed
@given(seeds, st.integers(1, 4))
def test_without_self_locking_every_piece_has_the_same_orientation(seed: int, count: int) -> None:
    """With σ_max(P) < 1 and γ_v <= 1; so there is one solution."""
    random = np.random.default_rng(seed)
    problem = random_problem(random, count)
    while max(problem.joints.output_side) > 1.0:
        problem = random_problem(random, count)
    _, A, _, P = problem.arguments()
    for piece in itertools.product((0, 1, -1), repeat=count):
        rows = [
            A[i] / A[i, i] if sign == 0 else np.eye(count)[i] - sign * P[i] for i, sign in enumerate(piece)
        ]
        assert np.linalg.det(np.array(rows)) > 0.0


@pytest.mark.parametrize(
    ("arguments", "kind", "thing"),
    [
        (([0.0, 0.0], np.eye(3), [0.0, 0.0], np.eye(2)), WrongShape, "axproj mobility A, shape"),
        (([0.0, 0.0], np.eye(2), [0.0, 0.0], np.ones((2, 3))), WrongShape, "axproj feedback P, shape"),
        (([0.0, 0.0], np.eye(2), [0.0], np.eye(2)), WrongShape, "axproj drive φ, shape"),
        (([0.0, np.nan], np.eye(2), [0.0, 0.0], np.eye(2)), OutOfRange, "axproj velocity v"),
    ],
)
def test_what_is_no_problem_is_refused(arguments, kind, thing: str) -> None:
    with refused(kind, thing=thing):
        axproj(*arguments)


def test_a_problem_without_solution_is_refused_with_the_condition_that_it_breaks() -> None:
    with refused(Unsupported, thing="axproj") as caught:
        axproj([-0.001, -0.006], np.eye(2) * 1e-3, [-1.0, -7.0], [[1.0, -0.3], [-3.5, 1.7]])
    assert "4.03" in str(caught.value)  # σ_max(P)


def test_a_joint_that_jams_stops() -> None:
    """One ill-posed joint: what (35) calls infinite friction is whatever stops it, as for `Gear`."""
    solved = axproj([1.0], [[1e-3]], [5.0], [[2.0]])
    assert solved.velocity[0] == 0.0
