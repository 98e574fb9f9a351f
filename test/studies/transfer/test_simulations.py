# SPDX-License-Identifier: Apache-2.0
"""The simulations of the study, the population of hidden servos, and the tasks."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.servo.model import load_servo
from studies.transfer.episodes import DIVERGED, Simulator
from studies.transfer.policy import Gains, dimension
from studies.transfer.population import LEAST_SUPPLY, hidden_episodes, recordings_of_units
from studies.transfer.replay import library_servo
from studies.transfer.simulations import (
    DRAWS,
    HAND_SET,
    HAND_SET_M1,
    HAND_SET_PD,
    M1,
    PUBLISHED,
    PUBLISHED_PD,
    hidden_models,
    simulation,
)
from studies.transfer.tasks import TASKS, Task

REACH = TASKS["reach"]
KNOWN = library_servo("sts3215")


def final_postures(models: list[mujoco.MjModel]) -> Array:
    """Return where each robot is a second after a step of its goals, rad."""
    postures = []
    for model in models:
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.4
        mujoco.mj_step(model, data, nstep=100)
        postures.append(data.qpos.copy())
    return np.array(postures)


def test_the_published_drive_is_that_of_the_description() -> None:
    (model,) = simulation(PUBLISHED_PD, REACH, KNOWN, seed=0)
    drive = PUBLISHED["sts3215"]
    assert model.dof_frictionloss == pytest.approx([drive.frictionloss] * 4)
    assert model.dof_damping == pytest.approx([drive.damping] * 4)
    assert model.actuator_gainprm[:, 0] == pytest.approx([drive.stiffness] * 4)
    assert model.actuator_forcerange[:, 1] == pytest.approx([drive.effort] * 4)


def test_hand_set_ranges_are_those_of_the_published_drive() -> None:
    models = simulation(HAND_SET_PD, REACH, KNOWN, seed=0, count=40)
    factors = np.array([model.dof_frictionloss for model in models]) / PUBLISHED["sts3215"].frictionloss
    assert factors.min() == pytest.approx(HAND_SET[0], abs=0.02)
    assert factors.max() == pytest.approx(HAND_SET[1], abs=0.02)


@pytest.mark.parametrize("name", [HAND_SET_PD, HAND_SET_M1, DRAWS])
def test_randomised_simulations_move_differently(name: str) -> None:
    postures = final_postures(simulation(name, REACH, KNOWN, seed=0, count=4))
    assert np.ptp(postures, axis=0).max() > 1e-3


@pytest.mark.parametrize("name", [PUBLISHED_PD, M1])
def test_other_simulations_are_one_model(name: str) -> None:
    assert len(simulation(name, REACH, KNOWN, seed=0)) == 1


def test_units_sessions_and_runs_differ_in_that_order() -> None:
    servo = load_servo("sts3215")
    robots = hidden_episodes(servo, 1, robots=30, episodes=6, random=np.random.default_rng(1))
    load = np.log([[episode.servos[0].friction.load_external for episode in robot] for robot in robots])
    within, between = load.std(axis=1).mean(), load.mean(axis=1).std()
    assert within == pytest.approx(np.hypot(0.10, 0.06), rel=0.3)
    assert between == pytest.approx(0.18, rel=0.4)
    supplies = np.array([[episode.supply for episode in robot] for robot in robots])
    assert LEAST_SUPPLY * 12.0 <= supplies.min() < supplies.max() <= 12.0


def test_recordings_name_their_unit_and_session() -> None:
    runs = recordings_of_units(
        load_servo("xl330"), (200.0, 400.0), units=2, runs=2, random=np.random.default_rng(1)
    )
    assert [run.unit for run in runs] == ["unit0", "unit0", "unit1", "unit1"]
    assert len({run.session for run in runs}) == 4
    assert len({run.name for run in runs}) == 4


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_policy_that_holds_still_stays_as_far_from_its_marks_as_the_start(task: Task) -> None:
    random = np.random.default_rng(2)
    robots = hidden_episodes(load_servo(task.servo), len(task.joints), robots=1, episodes=3, random=random)
    (models,), marks = hidden_models(task, robots), task.marks(3, random)
    still = Gains.of(np.zeros((3, dimension(len(task.joints)))), len(task.joints))
    moved = Simulator(task).distances(models, still, marks)
    assert moved.shape == (3, task.actions - task.first_counted)
    # Without feed-forward and feedback the servos' own loops leave centimetres, not the whole way.
    assert 0.0 < moved.mean() < 0.06 < DIVERGED
