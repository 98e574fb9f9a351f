# SPDX-License-Identifier: Apache-2.0
"""Constrained forward dynamics (5.9), (5.10) against the equations that they solve, and against MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bam_core.errors import Conflict, Missing, UnknownName, Unsupported
from bam_core.whole_body import ConstrainedDynamics, WholeBody
from papers.egle.humanoid import SOLES
from test.core.refusals import refused
from test.core.whole_body_cases import ARM, arm, robot

Array = NDArray[np.float64]


def random_state(seed: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    body = robot()
    count = len(body.names)
    position = 0.3 * random.standard_normal(count)
    velocity = random.standard_normal(count)
    velocity[body.held_columns] = 0.0
    return position, velocity, 10.0 * random.standard_normal(len(body.joints))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), feet=st.sampled_from([SOLES[:1], SOLES[1:], SOLES]))
def test_accelerations_and_multipliers_solve_equation_5_5(seed: int, feet: tuple[str, ...]) -> None:
    body, dynamics = robot(), ConstrainedDynamics(robot())
    position, velocity, torque = random_state(seed)
    qpos, qvel = dynamics.place(position, velocity, feet[0])
    state = dynamics.at(qpos, qvel, feet)
    mass = np.zeros((body.model.nv, body.model.nv))
    mujoco.mj_fullM(body.model, dynamics.data, mass)
    pushed = np.zeros(body.model.nv)
    pushed[body.torque_dofs] = torque
    count = len(state.target)
    system = np.block([[mass, -state.jacobian.T], [state.jacobian, np.zeros((count, count))]])
    solved = np.linalg.solve(system, np.concatenate((pushed - state.bias, state.target)))
    scale = np.abs(solved).max()
    np.testing.assert_allclose(state.acceleration(torque), solved[: body.model.nv], atol=1e-9 * scale)
    np.testing.assert_allclose(state.multipliers(torque), solved[body.model.nv :], atol=1e-9 * scale)


def test_m_mod_inverse_is_that_of_equation_5_12() -> None:
    body, dynamics = robot(), ConstrainedDynamics(robot())
    position, velocity, torque = random_state(1)
    state = dynamics.at(*dynamics.place(position, velocity, SOLES[0]), SOLES[:1])
    friction = np.random.default_rng(2).standard_normal(len(body.joints))
    change = state.acceleration(torque + friction) - state.acceleration(torque)
    np.testing.assert_allclose(state.mobility @ friction, change[body.torque_dofs], atol=1e-9)
    np.testing.assert_allclose(state.mobility, state.mobility.T)


def test_the_standing_foot_is_at_rest_where_it_was_put() -> None:
    dynamics = ConstrainedDynamics(robot())
    position, velocity, _ = random_state(3)
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    where = np.array([0.4, -0.2, 0.1])
    dynamics.at(*dynamics.place(position, velocity, SOLES[1], (where, turned)), SOLES[1:])
    found, rotation = dynamics.contact_pose(SOLES[1])
    np.testing.assert_allclose(found, where, atol=1e-12)
    np.testing.assert_allclose(rotation, turned, atol=1e-12)
    np.testing.assert_allclose(dynamics.contact_velocity(SOLES[1]), 0.0, atol=1e-12)


def test_the_drift_of_a_foot_is_the_rate_of_its_velocity() -> None:
    """b = -J̇·q̇, by finite differences along a motion without acceleration."""
    body, dynamics = robot(), ConstrainedDynamics(robot())
    position, velocity, _ = random_state(4)
    qpos, qvel = dynamics.place(position, velocity, SOLES[0])
    step, around = 1e-6, []
    for sign in (1.0, -1.0):
        moved = qpos.copy()
        mujoco.mj_integratePos(body.model, moved, qvel, sign * step)
        dynamics.at(moved, qvel, ())
        around.append(dynamics.contact_velocity(SOLES[1]))
    expected = -(around[0] - around[1]) / (2.0 * step)
    found = dynamics.at(qpos, qvel, SOLES[1:]).target[:6]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_fixed_base_without_contacts_is_plain_forward_dynamics() -> None:
    body, dynamics = arm(), ConstrainedDynamics(arm())
    state = dynamics.at(*dynamics.place(np.array([0.4, -0.9]), np.array([1.0, 2.0])), ())
    torque = np.array([0.7, -0.2])
    data = mujoco.MjData(body.model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = (0.4, -0.9), (1.0, 2.0), torque
    mujoco.mj_forward(body.model, data)
    np.testing.assert_allclose(state.acceleration(torque), data.qacc, rtol=1e-10)


def test_held_joints_do_not_accelerate() -> None:
    body, dynamics = robot(), ConstrainedDynamics(robot())
    position, velocity, torque = random_state(5)
    state = dynamics.at(*dynamics.place(position, velocity, SOLES[0]), SOLES[:1])
    np.testing.assert_allclose(state.acceleration(torque)[body.held_dofs], 0.0, atol=1e-10)


def test_a_models_own_damping_is_no_known_force() -> None:
    damped = WholeBody(
        mujoco.MjModel.from_xml_string(
            ARM.replace('name="elbow"', 'name="elbow" damping="3" frictionloss="1"')
        )
    )
    place = (np.array([0.4, -0.9]), np.array([1.0, 2.0]))
    found = []
    for body in (arm(), damped):
        dynamics = ConstrainedDynamics(body)
        found.append(dynamics.at(*dynamics.place(*place), ()).acceleration(np.zeros(2)))
    np.testing.assert_allclose(found[0], found[1])


def test_contacts_that_hold_twice_are_named() -> None:
    text = ARM.replace('<body name="lower"', '<site name="tip" pos="0 0 -0.3"/><body name="lower"')
    body = WholeBody(mujoco.MjModel.from_xml_string(text), contacts=["tip"])
    dynamics = ConstrainedDynamics(body)
    with refused(Conflict, thing="contacts tip"):
        dynamics.at(np.zeros(2), np.zeros(2), ["tip"])


@pytest.mark.parametrize(
    ("options", "kind", "about"),
    [
        ({"contacts": ["right_sol"]}, UnknownName, {"kind": "contact site", "name": "right_sol"}),
        ({"contacts": SOLES, "held": ["neck"]}, UnknownName, {"kind": "joint", "name": "neck"}),
        ({}, Missing, {}),
    ],
)
def test_names_that_do_not_exist_are_told(
    options: dict[str, list[str]], kind: type, about: dict[str, str]
) -> None:
    with refused(kind, **about):
        WholeBody(robot().model, **options)


@pytest.mark.parametrize(
    ("text", "held", "kind"),
    [
        (ARM.replace('name="elbow" ', ""), (), Missing),
        (ARM, ("shoulder", "elbow"), Conflict),
    ],
)
def test_models_without_names_or_driven_joints_are_refused(
    text: str, held: tuple[str, ...], kind: type
) -> None:
    with refused(kind):
        WholeBody(mujoco.MjModel.from_xml_string(text), held=held)


def test_joints_with_several_axes_are_refused() -> None:
    text = ARM.replace('name="elbow" axis="0 1 0"', 'name="elbow" type="ball"')
    with refused(Unsupported, thing="joint 'elbow'"):
        WholeBody(mujoco.MjModel.from_xml_string(text))
