# SPDX-License-Identifier: Apache-2.0
"""Laws that hold in random robots over a floor, stepped by the engine plugin and by `ServoActuation`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from test.core.robot_cases import EXECUTORS, Executor, RandomRobot

Array = NDArray[np.float64]

DT = 1e-3
ARMATURE = 0.02
"""kg·m², of the servos in `robot_cases`."""

COMPLIANCE = 1e-7
"""Of friction rows, relative to the joint's own inverse inertia: `kCompliance` of `servo_joint.h`."""

DRIVEN, STEPS = 200, 400
"""Steps with torque on, and of a run."""

seeds = st.integers(0, 2**31)
each_executor = pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
some_robots = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


def goals(robot: RandomRobot, step: int) -> Array:
    """Goals that jump now and then, (servos,) rad."""
    turn = step // 100
    return np.array([np.sin(5.0 * number + 2.0 * turn) for number in range(len(robot.segments))])


def run(robot: RandomRobot, simulation: Executor, order: int = 1) -> Array:
    """Step through a run with torque on, then off; return the joints' positions at its end."""
    for step in range(STEPS):
        simulation.step(goals(robot, step)[::order], float(step < DRIVEN))
    return np.array([simulation.data.joint(name).qpos[0] for name in robot.servos])


@each_executor
@given(seed=seeds)
@some_robots
def test_friction_opposes_the_motion_in_every_step(executor: type[Executor], seed: int) -> None:
    robot = RandomRobot.of(seed)
    simulation = executor.of(robot, DT)
    before = np.zeros(len(robot.segments))
    for step in range(STEPS):
        simulation.step(goals(robot, step), float(step < DRIVEN))
        friction = simulation.friction
        # Rows that hold are springs, if very stiff ones: where their load changes, they give back a little.
        creep = DT * COMPLIANCE / ARMATURE * np.abs(friction * (friction - before))
        power = friction * simulation.data.qvel[simulation.dof]
        assert (power <= creep + 1e-8).all()
        # A step in which torque is switched has a budget before and another one after.
        assert step == DRIVEN or (np.abs(friction) <= simulation.budget * (1.0 + 1e-9)).all()
        before = friction


class Energy:
    """Kinetic and potential energy of a robot in the middle of its steps, J.

    MuJoCo's velocity belongs half a step before its position, so the mean of the energies with either
    position is that of the time in between, to second order.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY

    def of_step(self, start: Array, end: Array, velocity: Array) -> float:
        """Return the energy of a step between two positions."""
        return 0.5 * (self._of(start, velocity) + self._of(end, velocity))

    def _of(self, position: Array, velocity: Array) -> float:
        self._data.qpos[:], self._data.qvel[:] = position, velocity
        mujoco.mj_fwdPosition(self._model, self._data)
        mujoco.mj_energyPos(self._model, self._data)
        mujoco.mj_energyVel(self._model, self._data)
        return float(self._data.energy.sum())


def released(executor: type[Executor], seed: int) -> tuple[Array, Array]:
    """Let a robot fall with torque off; return energy and work of contacts so far, (steps,) J each."""
    robot = RandomRobot.of(seed)
    simulation = executor.of(robot, DT)
    data, dof = simulation.data, simulation.dof
    energy, work, track = Energy(simulation.model), 0.0, []
    for _ in range(STEPS):
        position, velocity = data.qpos.copy(), data.qvel.copy()
        simulation.step(np.zeros(len(dof)), 0.0)
        contacts = data.qfrc_constraint.copy()
        contacts[dof] -= simulation.friction
        work += DT * float(contacts @ (velocity + data.qvel)) / 2.0
        track.append((energy.of_step(position, data.qpos, data.qvel), work))
    return tuple(np.transpose(track))


def growth(track: Array) -> float:
    """Return how far a quantity ever rose above what it had been."""
    return float((track - np.minimum.accumulate(track)).max())


@each_executor
@given(seed=seeds)
@some_robots
def test_released_robots_never_gain_energy(executor: type[Executor], seed: int) -> None:
    energy, work = released(executor, seed)
    assert energy.max() <= energy[0]
    # Contacts are springs too: what they took in they may give back. All the rest only takes, but for what
    # gyroscopic forces of a free base add, which lag by half a step in MuJoCo: 3 mJ without servos.
    assert growth(energy - work) < (3e-3 if RandomRobot.of(seed).is_free else 2e-4)


@given(seed=seeds)
@some_robots
def test_both_executors_move_robots_alike(seed: int) -> None:
    robot = RandomRobot.of(seed)
    tracks = [run(robot, executor.of(robot, DT)) for executor in EXECUTORS.values()]
    np.testing.assert_allclose(tracks[0], tracks[1], rtol=0.0, atol=1e-9)


@each_executor
@given(seed=seeds)
@example(seed=556984)  # where 50 steps of the line search end too soon in one order
@some_robots
def test_the_order_of_branches_and_servos_does_not_matter(executor: type[Executor], seed: int) -> None:
    robot = RandomRobot.of(seed)
    there, back = executor.of(robot, DT), executor.reversed(robot, DT)
    for simulation in (there, back):
        simulation.model.opt.tolerance = 1e-15  # where the solver stops sooner, depends on the order
        simulation.model.opt.ls_iterations = 500
    np.testing.assert_allclose(run(robot, there), run(robot, back, order=-1), rtol=0.0, atol=1e-9)


@each_executor
def test_stepping_leaves_the_model_as_it_was(executor: type[Executor]) -> None:
    robot = RandomRobot.of(0)
    simulation = executor.of(robot, DT)
    size = mujoco.mj_sizeModel(simulation.model)
    before, after = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
    mujoco.mj_saveModel(simulation.model, None, before)
    run(robot, simulation)
    mujoco.mj_saveModel(simulation.model, None, after)
    np.testing.assert_array_equal(before, after)


@each_executor
def test_two_simulations_of_one_model_in_two_threads_are_what_they_are_one_by_one(
    executor: type[Executor],
) -> None:
    robot = RandomRobot.of(0)
    model = executor.of(robot, DT).model
    alone = run(robot, executor.of(robot, DT, model=model))
    with ThreadPoolExecutor(2) as pool:
        beside = pool.map(lambda _: run(robot, executor.of(robot, DT, model=model)), range(4))
    for positions in beside:
        np.testing.assert_array_equal(positions, alone)
