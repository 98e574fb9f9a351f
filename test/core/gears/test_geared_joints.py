# SPDX-License-Identifier: Apache-2.0
"""Laws of the step (69) of many joints behind gears."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import Conflict, OutOfRange, WrongShape
from bam_core.gears import Asymmetry, Gear, GearedJoints
from bam_core.servo.friction import Friction
from papers.kikuuwe.benchmark import DT, random_problem
from test.core.refusals import refused

seeds = st.integers(0, 2**32 - 1)
counts = st.integers(1, 12)
relaxed = settings(deadline=None, max_examples=50)


@relaxed
@given(seeds, counts)
def test_a_step_solves_the_inclusion_that_it_discretises(seed: int, count: int) -> None:
    """Equations (48a, 48b) with q̈ = (v_k - v_{k-1})/h."""
    problem = random_problem(np.random.default_rng(seed), count)
    joints, M, drive, load = problem.joints, problem.inertia, problem.drive, problem.load
    made = joints.step(problem.velocity, drive, load, M, DT)
    acceleration = (made.velocity - problem.velocity) / DT
    m = np.diag(joints.input_inertia)
    hidden = (joints.input_side[:, None] * m - joints.output_side[:, None] * M) @ acceleration
    internal = joints.input_side * drive + joints.output_side * load - hidden
    scale = 1.0 + np.max(np.abs(acceleration)) * np.max(np.abs(m + M)) + np.max(np.abs(drive))
    assert (m + M) @ acceleration == pytest.approx(drive - load - made.friction, abs=1e-9 * scale)
    assert made.internal_force == pytest.approx(internal, abs=1e-8 * scale)
    assert np.all(np.abs(made.friction) <= np.abs(internal) + 1e-8 * scale)
    moving = made.velocity != 0.0
    expected = np.abs(internal) * np.sign(made.velocity)
    assert made.friction[moving] == pytest.approx(expected[moving], abs=1e-8 * scale)


@relaxed
@given(seeds, counts)
def test_friction_never_adds_energy(seed: int, count: int) -> None:
    problem = random_problem(np.random.default_rng(seed), count)
    made = problem.joints.step(problem.velocity, problem.drive, problem.load, problem.inertia, DT)
    assert np.all(made.friction * made.velocity >= -1e-12)
    total = np.diag(problem.joints.input_inertia) + problem.inertia
    gained = 0.5 * (made.velocity @ total @ made.velocity - problem.velocity @ total @ problem.velocity)
    work = DT * made.velocity @ (problem.drive - problem.load)
    assert gained <= work + 1e-12 * (1.0 + abs(work))


@relaxed
@given(seeds)
def test_one_joint_is_a_gear(seed: int) -> None:
    random = np.random.default_rng(seed)
    problem = random_problem(random, 1)
    friction = Friction(coulomb=float(random.uniform(0, 2)), viscous=float(random.uniform(0, 2)))
    asymmetry = Asymmetry(
        input_side=float(problem.joints.input_side[0]), output_side=float(problem.joints.output_side[0])
    )
    joints = GearedJoints([asymmetry], problem.joints.input_inertia, [friction])
    gear = Gear(
        asymmetry=asymmetry,
        input_inertia=float(problem.joints.input_inertia[0]),
        output_inertia=float(problem.inertia[0, 0]),
        friction=friction,
    )
    many = joints.step(problem.velocity, problem.drive, problem.load, problem.inertia, DT)
    one = gear.step(*(float(x[0]) for x in (problem.velocity, problem.drive, problem.load)), DT)
    assert many.velocity[0] == pytest.approx(one.velocity, abs=1e-12)
    assert many.friction[0] == pytest.approx(one.friction, abs=1e-9)
    assert many.internal_force[0] == pytest.approx(one.internal_force, abs=1e-9)
    assert many.gain == pytest.approx(abs(gear.feedback))


def test_without_gears_it_is_the_plain_equation_of_motion() -> None:
    problem = random_problem(np.random.default_rng(0), 5)
    none = GearedJoints([Asymmetry(input_side=0.0, output_side=0.0)] * 5, np.zeros(5))
    made = none.step(problem.velocity, problem.drive, problem.load, problem.inertia, DT)
    expected = problem.velocity + DT * np.linalg.solve(problem.inertia, problem.drive - problem.load)
    assert made.velocity == pytest.approx(expected, abs=1e-12)
    assert made.gain == 0.0


@pytest.mark.long
def test_self_locking_joints_creep_not_at_all_however_the_load_changes() -> None:
    random = np.random.default_rng(2)
    joints = GearedJoints([Asymmetry(input_side=0.1, output_side=1.1)] * 2, [1.0, 1.0])
    inertia = np.array([[5.0, 2.0], [2.0, 1.0]])
    velocity, friction = np.zeros(2), None
    for load in random.normal(0.0, 300.0, (20_000, 2)):
        made = joints.step(velocity, np.zeros(2), load, inertia, DT, start=friction)
        velocity, friction = made.velocity, made.friction
        assert not velocity.any()


def test_the_gain_is_that_of_the_feedback_matrix() -> None:
    problem = random_problem(np.random.default_rng(4), 6)
    made = problem.joints.step(problem.velocity, problem.drive, problem.load, problem.inertia, DT)
    m = np.diag(problem.joints.input_inertia)
    u, v = np.diag(problem.joints.input_side), np.diag(problem.joints.output_side)
    P = (u @ m - v @ problem.inertia) @ np.linalg.inv(m + problem.inertia)  # (52)
    assert made.gain == pytest.approx(np.linalg.svd(P)[1][0])


@pytest.mark.parametrize(
    ("inertia", "kind", "thing"),
    [
        (np.ones((2, 3)), WrongShape, "geared joints M, shape"),
        (np.eye(3), WrongShape, "geared joints M, shape"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), Conflict, "geared joints M"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), OutOfRange, "geared joints M"),
        (np.zeros((2, 2)), Conflict, "geared joints"),
        (np.diag([1.0, -1.0]), Conflict, "geared joints"),
    ],
)
def test_what_is_no_inertia_matrix_is_refused(inertia: np.ndarray, kind: type, thing: str) -> None:
    joints = GearedJoints([Asymmetry(input_side=0.1, output_side=0.2)] * 2, [0.0, 0.0])
    with refused(kind, thing=thing):
        joints.step(np.zeros(2), np.zeros(2), np.zeros(2), inertia, DT)


@pytest.mark.parametrize(
    ("arguments", "kind", "thing"),
    [
        ({"velocity": np.zeros(3)}, WrongShape, "velocity, shape"),
        ({"input_torque": [1.0]}, WrongShape, "input_torque, shape"),
        ({"input_torque": [1.0, np.nan]}, OutOfRange, "input_torque"),
        ({"output_torque": np.zeros((2, 1))}, WrongShape, "output_torque, shape"),
        ({"extra": np.zeros(3)}, WrongShape, "extra, shape"),
        ({"dt": 0.0}, OutOfRange, "step dt"),
        ({"dt": -1e-3}, OutOfRange, "step dt"),
        ({"dt": np.nan}, OutOfRange, "step dt"),
    ],
)
def test_what_does_not_fit_the_joints_is_refused_by_its_name(
    arguments: dict[str, object], kind: type, thing: str
) -> None:
    joints = GearedJoints([Asymmetry(input_side=0.1, output_side=0.2)] * 2, [1.0, 1.0])
    fitting = {"velocity": [0, 0], "input_torque": [1, 2], "output_torque": [0, 0], "dt": DT}
    with refused(kind, thing=f"geared joints {thing}"):
        joints.step(output_inertia=np.eye(2), **(fitting | arguments))


def test_gears_and_inertias_of_different_number_are_refused() -> None:
    with refused(WrongShape, thing="geared joints"):
        GearedJoints([Asymmetry(input_side=0.1, output_side=0.2)], [1.0, 1.0])
    with refused(OutOfRange) as caught:
        GearedJoints([Asymmetry(input_side=0.1, output_side=0.2)], [-1.0])
    assert caught.value.thing.endswith("input_inertia")
