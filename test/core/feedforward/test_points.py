# SPDX-License-Identifier: Apache-2.0
"""From points and from inverse dynamics to pieces that continue each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import Conflict, OutOfRange, UnknownName, WrongShape, WrongType
from bam_core.feedforward import InverseDynamics, Points, pieces_from_dynamics, pieces_from_points
from bam_core.mujoco import bench_spec, compile_robot
from bam_core.servo.pendulum import PendulumBench
from papers.dynaban.motions import through_keys
from papers.dynaban.stand import FOOT
from test.core.feedforward_cases import MODEL
from test.core.leg_cases import KICK_DURATION, LEG_JOINTS, kick, leg_spec
from test.core.refusals import refused

BENCH = PendulumBench(mass=0.28, arm_mass=0.05, length=0.12)


def check_joined(pieces) -> None:
    for before, after in pairwise(pieces):
        assert after.start == pytest.approx(before.end)
        one, two = before.at(before.end), after.at(after.start)
        assert one.position == pytest.approx(two.position, abs=1e-9)
        assert one.velocity == pytest.approx(two.velocity, abs=1e-7)
        assert one.torque == pytest.approx(two.torque, abs=1e-9)


@given(
    st.lists(st.floats(-2.0, 2.0), min_size=4, max_size=4),
    st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_pieces_meet_the_points_and_join_without_jumps(places, rates, with_acceleration) -> None:
    time = np.array([0.0, 0.3, 0.45, 0.9])
    position = np.stack((places, np.flip(places)), axis=1)
    velocity = np.stack((rates, np.flip(rates)), axis=1)
    pieces = pieces_from_points(
        time, position, velocity, 0.0 * velocity if with_acceleration else None, position, start=2.0
    )
    assert len(pieces) == 6
    check_joined(pieces)
    for index, piece in ((0, 0), (1, 2), (2, 3)):
        found = pieces[piece].at(2.0 + time[index])
        assert found.position == pytest.approx(position[index], abs=1e-9)
        assert found.velocity == pytest.approx(velocity[index], abs=1e-7)
        assert found.torque == pytest.approx(position[index], abs=1e-9)
    assert pieces[-1].at(9.0).position == pytest.approx(position[-1], abs=1e-9)


def test_positions_alone_begin_and_end_at_rest_without_torque() -> None:
    pieces = pieces_from_points([0.0, 0.5, 1.0], [[0.0], [1.0], [0.5]], piece_duration=0.1)
    assert len(pieces) == 10
    check_joined(pieces)
    assert pieces[0].at(0.0).velocity == pytest.approx([0.0], abs=1e-9)
    assert pieces[-1].at(1.0).velocity == pytest.approx([0.0], abs=1e-9)
    assert np.all(pieces[3].torque == 0.0)


@pytest.mark.parametrize(
    ("arguments", "kind", "thing"),
    [
        (([0.0, 0.0], [[0.0], [1.0]]), OutOfRange, "points time, point 1"),
        (([0.0, 1.0, 0.5], [[0.0], [1.0], [2.0]]), OutOfRange, "points time, point 2"),
        (([0.0], [[0.0]]), WrongShape, "points time, shape"),
        (([0.0, 1.0], [[0.0, 1.0], [1.0]]), WrongType, "points position"),
        (([0.0, 2e9], [[0.0], [1.0]]), OutOfRange, "pieces"),
        (([0.0, 1.0], [0.0, 1.0]), WrongShape, "points position, shape"),
        (([0.0, 1.0], [[0.0], [np.nan]]), OutOfRange, "points position, point 1, joint 0"),
        (([0.0, 1.0], [[0.0], [1.0]], [[0.0]]), WrongShape, "points velocity, shape"),
        (([0.0, 1.0], [[0.0], [1.0]], None, [[0.0], [0.0]]), Conflict, "points acceleration"),
        (
            ([0.0, 1.0], [[0.0], [1.0]], None, None, [[0.0], [np.inf]]),
            OutOfRange,
            "points torque, point 1, joint 0",
        ),
    ],
)
def test_points_that_make_no_sense_are_named(arguments, kind, thing) -> None:
    with refused(kind, thing=thing):
        pieces_from_points(*arguments)


@pytest.mark.parametrize(
    ("fields", "kind", "thing"),
    [
        ({"time": [], "position": np.zeros((0, 2))}, WrongShape, "points time, shape"),
        ({"time": [[1.0]], "position": [[0.0]]}, WrongShape, "points time, shape"),
        ({"time": [0.2, 0.1], "position": [[0.0], [0.0]]}, OutOfRange, "points time, point 1"),
        ({"time": [1.0], "position": [0.0]}, WrongShape, "points position, shape"),
        (
            {"time": [1.0], "position": [[0.0, 0.0]], "velocity": [[0.0]]},
            WrongShape,
            "points velocity, shape",
        ),
        (
            {"time": [0.0, 1.0], "position": [[0.0, 0.0], [0.0, np.nan]]},
            OutOfRange,
            "points position, point 1, joint 1",
        ),
        (
            {"time": [1.0], "position": [[0.0]], "velocity": [[np.inf]]},
            OutOfRange,
            "points velocity, point 0, joint 0",
        ),
        ({"time": [np.nan], "position": [[0.0]]}, OutOfRange, "points time, point 0"),
        (
            {"time": [1.0], "position": [[0.0]], "torque": [[np.nan]]},
            OutOfRange,
            "points torque, point 0, joint 0",
        ),
    ],
)
def test_a_trajectory_is_checked_where_it_is_made(fields, kind, thing) -> None:
    with refused(kind, thing=thing):
        Points(**fields)


def test_a_trajectory_may_be_made_of_lists() -> None:
    points = Points(time=[0, 1], position=[[0], [1]], velocity=[[0], [0]])
    assert points.pieces(2.0)[-1].at(3.0).position == pytest.approx([1.0])


def test_inverse_dynamics_of_a_pendulum_is_its_equation_of_motion() -> None:
    model = compile_robot(bench_spec(BENCH))
    model.dof_armature[:] = MODEL.armature  # the servo's own business
    model.dof_damping[:] = 1.0
    dynamics = InverseDynamics(model, ["joint"])
    angle, rate, bend = np.array([[0.3], [-1.0]]), np.array([[2.0], [0.0]]), np.array([[5.0], [-3.0]])
    expected = BENCH.inertia * bend - BENCH.external_torque(angle)
    assert dynamics.torque(angle, rate, bend) == pytest.approx(expected, rel=1e-6)
    assert model.dof_armature[0] == MODEL.armature


def test_pieces_of_the_kick_are_close_to_it_and_to_its_torques() -> None:
    dynamics = InverseDynamics(compile_robot(leg_spec()), LEG_JOINTS)
    pieces = pieces_from_dynamics(dynamics, kick(), KICK_DURATION)
    assert all(piece.duration <= 0.15 for piece in pieces)
    check_joined(pieces)
    time = np.linspace(0.0, KICK_DURATION, 201)
    position, velocity, acceleration = kick()(time)
    torque = dynamics.torque(position, velocity, acceleration)
    index = np.minimum((time / pieces[0].duration).astype(int), len(pieces) - 1)
    found = [pieces[i].at(t) for i, t in zip(index, time, strict=True)]
    assert np.max(np.abs([each.position for each in found] - position)) < np.radians(0.6)
    assert np.max(np.abs([each.torque for each in found] - torque)) < 0.15 * np.max(np.abs(torque))


@pytest.mark.parametrize("motion", [kick(), kick(0.5)])
def test_motions_are_at_rest_at_both_ends_and_smooth_between(motion) -> None:
    time = np.linspace(-0.5, 3.0, 3501)
    position, velocity, acceleration = motion(time)
    for rates in (velocity, acceleration):
        assert np.all(rates[time <= 0.0] == 0.0)
        assert np.all(rates[-100:] == 0.0)
    assert np.allclose(np.gradient(position, time, axis=0), velocity, atol=2e-2)
    assert np.allclose(np.gradient(velocity, time, axis=0), acceleration, atol=1.0)


def test_what_is_not_there_is_named() -> None:
    with refused(UnknownName, kind="joint", name="nee"):
        InverseDynamics(compile_robot(leg_spec()), ["nee"])
    with refused(OutOfRange, thing="motion keys"):
        through_keys([0.5, 1.0], [[0.0], [1.0]])
    assert compile_robot(leg_spec()).site(FOOT).id == 0
