# SPDX-License-Identifier: Apache-2.0
"""Friction estimates: exact where they can be, and told where they cannot."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BadData, UnknownName, WrongShape
from bam_core.whole_body import (
    ConstrainedDynamics,
    JointFriction,
    JointLog,
    Motion,
    estimate_friction,
    known_motion,
    single_support,
)
from bam_core.whole_body.estimate import regularised
from papers.egle.humanoid import LEGS, SOLES
from test.core.refusals import refused
from test.core.whole_body_cases import arm, robot, walk


def walked(every: int = 10) -> tuple[Motion, np.ndarray]:
    log = walk().log
    chosen = np.zeros(len(log), dtype=bool)
    chosen[::every] = True
    return known_motion(log, walk().velocity, walk().acceleration), chosen


def posed(friction: np.ndarray, seed: int) -> Motion:
    """Random postures on the left foot, with accelerations that include a known friction."""
    random = np.random.default_rng(seed)
    body, dynamics = robot(), ConstrainedDynamics(robot())
    count = 4
    position = 0.3 * random.standard_normal((count, len(body.names)))
    velocity = random.standard_normal((count, len(body.names)))
    velocity[:, body.held_columns] = 0.0
    effort = np.full((count, len(body.names)), np.nan)
    effort[:, body.torque_columns] = 20.0 * random.standard_normal((count, len(body.joints)))
    acceleration = np.empty_like(position)
    for row in range(count):
        state = dynamics.at(*dynamics.place(position[row], velocity[row], SOLES[1]), SOLES[1:])
        torque = effort[row, body.torque_columns] + friction
        acceleration[row] = state.acceleration(torque)[body.dofs]
    log = JointLog(
        names=body.names,
        time=1e-3 * np.arange(count),
        position=position,
        effort=effort,
        contacts={SOLES[0]: np.zeros(count, dtype=bool), SOLES[1]: np.ones(count, dtype=bool)},
    )
    return known_motion(log, velocity, acceleration)


def test_a_walk_gives_back_its_friction_exactly_on_one_foot() -> None:
    motion, chosen = walked()
    estimate = estimate_friction(robot(), motion, chosen & single_support(motion.log))
    error = np.abs(estimate.torque - walk().friction)
    assert np.isfinite(error).any()
    assert np.nanmax(error) < 1e-9


@settings(max_examples=8, deadline=None)
@given(joint=st.sampled_from(robot().joints), seed=st.integers(0, 1000), speed=st.floats(-3.0, 3.0))
def test_friction_in_one_joint_shows_in_that_joint_alone(joint: str, seed: int, speed: float) -> None:
    friction = np.zeros(len(robot().joints))
    column = robot().joints.index(joint)
    friction[column] = JointFriction(viscous=0.2, coulomb=1.0, offset=0.5).torque(speed)
    found = estimate_friction(robot(), posed(friction, seed))
    np.testing.assert_allclose(found.torque, np.tile(friction, (4, 1)), atol=1e-8)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-7)


def test_two_feet_are_named_as_not_enough_and_which_joints_are_meant() -> None:
    motion, chosen = walked(20)
    estimate = estimate_friction(robot(), motion, chosen)
    two = next(each for each in estimate.ranks if len(each.contacts) == 2)
    assert two.rank == 19
    assert set(two.unidentifiable) == set(LEGS)
    assert two.deficit().unidentifiable == two.unidentifiable
    for each in estimate.ranks:
        if len(each.contacts) == 1:
            assert (each.rank, each.unidentifiable) == (25, ())


def test_on_two_feet_the_estimate_still_explains_the_accelerations() -> None:
    motion, chosen = walked(20)
    both = np.logical_and(*motion.log.contacts.values()) & (motion.log.time < 0.4)
    estimate = estimate_friction(robot(), motion, chosen & both)
    known = np.isfinite(estimate.residual[:, 0])
    assert np.abs(estimate.residual[known]).max() < 0.02  # of more than 100 rad/s² that friction makes
    assert np.isnan(estimate.inertia[known]).all()
    true = walk().friction[known]
    assert np.linalg.norm(estimate.torque[known]) < np.linalg.norm(true)  # the least that does


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), weight=st.floats(1e-12, 1e-2))
def test_regularisation_minimises_equation_6_1(seed: int, weight: float) -> None:
    random = np.random.default_rng(seed)
    factor = random.standard_normal((6, 4))
    mobility, lacking = factor @ factor.T, random.standard_normal(6)
    found = regularised(mobility, lacking, weight)
    price = weight * np.linalg.eigvalsh(mobility)[-1] ** 2
    gradient = mobility @ (mobility @ found - lacking) + price * found
    assert np.abs(gradient).max() < 1e-8 * np.abs(mobility @ lacking).max()


def test_a_fixed_base_needs_no_contacts() -> None:
    body, dynamics = arm(), ConstrainedDynamics(arm())
    law = JointFriction(viscous=0.1, coulomb=0.3)
    time = 1e-3 * np.arange(50)
    position = np.column_stack((np.sin(3 * time), np.cos(2 * time)))
    velocity = np.column_stack((3 * np.cos(3 * time), -2 * np.sin(2 * time)))
    effort = np.zeros_like(position)
    acceleration = np.empty_like(position)
    for row in range(len(time)):
        state = dynamics.at(position[row], velocity[row], ())
        acceleration[row] = state.acceleration(law.torque(velocity[row]))
    log = JointLog(names=body.names, time=time, position=position, effort=effort)
    found = estimate_friction(body, known_motion(log, velocity, acceleration))
    np.testing.assert_allclose(found.torque, law.torque(velocity), atol=1e-10)
    assert found.ranks[0].contacts == ()


def test_a_joint_that_is_not_driven_has_no_column() -> None:
    found = estimate_friction(robot(), posed(np.zeros(25), 2))
    assert found.column("waist") == 12
    with refused(UnknownName, kind="driven joint", name="rigth_knee"):
        found.column("rigth_knee")


def test_flags_for_another_log_are_refused() -> None:
    motion, chosen = walked()
    with refused(WrongShape, thing="wanted, shape"):
        estimate_friction(robot(), motion, chosen[:-1])


def test_nothing_left_to_look_at_is_an_error() -> None:
    motion, _ = walked()
    with refused(BadData, thing="joint log"):
        estimate_friction(robot(), motion, np.zeros(len(motion.log), dtype=bool))


def test_samples_in_flight_are_left_out() -> None:
    motion = posed(np.zeros(25), 1)
    flags = {SOLES[0]: np.zeros(4, dtype=bool), SOLES[1]: np.array([True, False, True, True])}
    flying = dataclasses.replace(motion, log=dataclasses.replace(motion.log, contacts=flags))
    found = estimate_friction(robot(), flying)
    assert np.isnan(found.torque[1]).all()
    assert np.isfinite(found.torque[[0, 2, 3]]).all()
