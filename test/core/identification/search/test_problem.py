# SPDX-License-Identifier: Apache-2.0
"""What searches simulate: few logs stand for many in drafts, and steps suit the firmware."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest

from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.problem import TrainingData, representative
from bam_core.identification.search.space import search_space
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, parameter_vector
from bam_core.simulation.short_horizon import short_horizon_errors
from bam_core.simulation.synthetic import SynthesisSettings, commanded

SERVO = load_servo("mx106")


def logs(masses: int, gains: int) -> list[Recording]:
    return [
        commanded(
            SERVO,
            PendulumBench(mass=0.2 + 0.1 * i, length=0.15),
            script,
            4.0 + j,
            SynthesisSettings(sample_period=10e-3),
        )
        for i in range(masses)
        for j in range(gains)
        for script in SCRIPTS
    ]


def test_few_logs_are_all_there_and_many_are_thinned_evenly() -> None:
    few, many = logs(2, 2), logs(6, 8)
    assert representative(few, 100) is few
    chosen = representative(many, 48)
    assert len(chosen) == 48
    assert set(Counter(each.script for each in chosen).values()) == {12}
    assert set(Counter(each.bench.mass for each in chosen).values()) == {8}
    assert [many.index(each) for each in chosen] == sorted(many.index(each) for each in chosen)


@pytest.mark.parametrize("delay", [0.0, 23.1e-3])
@pytest.mark.parametrize("limit", [np.inf, 4.8, 1.0])
def test_a_search_takes_long_steps_that_move_the_servo_as_short_ones_do(limit: float, delay: float) -> None:
    firmware = dataclasses.replace(SERVO.firmware, name="slewing", goal_speed_limit=limit)
    data = TrainingData(logs(1, 1), firmware)
    problem = data.problem(search_space(FRICTION_MODELS["m6"], data.recordings, SERVO.search.ranges, ()))
    vector = parameter_vector(SERVO, BenchEffects(command_delay=delay))[None]
    assert data.search.dt == pytest.approx(4e-3)
    assert problem.objective(vector) == data.rollout.errors(vector).mean()
    found, exact = (np.concatenate(each.positions(vector)) for each in (data.search, data.rollout))
    assert np.abs(found - exact).mean() < 0.2e-3


def test_a_search_for_the_time_of_set_points_takes_a_step_per_period() -> None:
    data = TrainingData(logs(1, 1), SERVO.firmware)
    effects = ("goal_slew_time",)
    problem = data.problem(search_space(FRICTION_MODELS["m6"], data.recordings, SERVO.search.ranges, effects))
    vector = parameter_vector(SERVO)[None]
    assert data.rollout.dt == pytest.approx(1e-3)
    assert problem.objective(vector) == data.rollout.errors(vector).mean()


def test_the_way_to_a_draft_goes_over_short_horizons() -> None:
    data = TrainingData(logs(1, 1), SERVO.firmware)
    problem = data.problem(search_space(FRICTION_MODELS["m6"], data.recordings, SERVO.search.ranges, ()))
    truth = parameter_vector(SERVO)
    off = truth[None] * np.where(np.array(PARAMETERS) == "torque_constant", 1.2, 1.0)
    short, whole = problem.short(off)[0], problem.error(off)[0]
    assert short == pytest.approx(short_horizon_errors(data.recordings, SERVO, off, dt=8e-3).mean(), rel=0.1)
    assert short < 0.5 * whole
    spent: list[int] = []
    reached = [
        slide(off[0], evaluations_for(problem.space.dimension, 4), spent.append).vector
        for slide in problem.approach
    ]
    assert len(reached) == 2
    assert problem.error(np.array(reached)).max() < 0.2 * whole
