# SPDX-License-Identifier: Apache-2.0
"""What measurement alone leaves over: known noise, known rounding, runs that repeat each other."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bam_core.identification.misfit.floor import Floor, configuration, floor, noise
from bam_core.recordings.recording import Recording
from bam_core.servo.pendulum import PendulumBench
from test.core.physics_cases import run

TIME = np.arange(0.0, 8.0, 0.01)
SWING = 0.5 * np.sin(2.0 * TIME)


def log(name: str, position: np.ndarray, **changes: Any) -> Recording:
    return replace(run(TIME, 0.0, position=position), name=name, **changes)


def test_noise_is_told_beside_motion() -> None:
    random = np.random.default_rng(0)
    noisy = log("a", SWING + random.normal(0.0, 2e-3, len(TIME)))
    assert noise(noisy, 1e-5) == pytest.approx(2e-3, rel=0.1)


def test_noise_is_no_less_than_rounding_also_of_an_arm_at_rest() -> None:
    assert noise(log("a", SWING), 3e-3) == pytest.approx(3e-3 / math.sqrt(12.0))
    assert noise(log("a", np.zeros(len(TIME))), 3e-3) == pytest.approx(3e-3 / math.sqrt(12.0))


def test_the_floor_is_a_mean_absolute_error() -> None:
    random = np.random.default_rng(1)
    logs = [
        log(f"{i}", SWING + random.normal(0.0, s, len(TIME)), kp=8.0 + i) for i, s in enumerate((1e-3, 3e-3))
    ]
    found = floor(logs, 4e-4)
    assert found.encoder == pytest.approx(1e-4)
    assert found.noise == pytest.approx(math.sqrt(2.0 / math.pi) * 2e-3, rel=0.1)
    assert (found.repeats, found.pairs, found.farthest) == (None, 0, ())
    assert found.value == found.noise


def test_repeated_runs_scatter_by_a_root_of_two_less_than_they_differ() -> None:
    apart = 0.01
    found = floor([log("a", SWING), log("b", SWING + apart)], 1e-5)
    assert found.repeats == pytest.approx(apart / math.sqrt(2.0))
    assert (found.pairs, found.farthest) == (1, ("a", "b"))


@pytest.mark.parametrize(
    "change",
    [
        {"script": "up_and_down"},
        {"kp": 99.0},
        {"supply_voltage": 13.5},
        {"bench": PendulumBench(mass=0.9, length=0.15, arm_mass=0.05)},
        {"bench": PendulumBench(mass=1.0, length=0.16, arm_mass=0.05)},
        {"bench": PendulumBench(mass=1.0, length=0.15, arm_mass=0.06)},
        {"bench": PendulumBench(mass=1.0, length=0.15, arm_mass=0.05, flywheel=0.01)},
    ],
)
def test_runs_of_another_set_up_are_no_repetition(change: dict[str, Any]) -> None:
    first = log("a", SWING, bench=PendulumBench(mass=1.0, length=0.15, arm_mass=0.05))
    second = replace(first, name="b", **change)
    assert configuration(first) != configuration(second)
    assert floor([first, second], 1e-5).pairs == 0


def test_runs_to_other_goals_or_at_other_times_are_no_repetition() -> None:
    first = log("a", SWING)
    other_goal = replace(first, name="b", goal_position=first.goal_position + 0.05)
    later = replace(first, name="c", time=first.time + 50.0)
    assert floor([first, other_goal], 1e-5).pairs == 0
    assert floor([first, later], 1e-5).pairs == 0
    assert floor([first, replace(first, name="d", goal_position=first.goal_position + 0.01)], 1e-5).pairs == 1


def plain(**changes: Any) -> Floor:
    return Floor(
        **{"encoder": 1e-3, "noise": 2e-3, "repeats": 5e-3, "pairs": 1, "farthest": ("a", "b"), **changes}
    )


def test_the_highest_counts_and_repeats_only_where_the_fit_does_not_deny_them() -> None:
    assert plain().value == 5e-3
    assert plain(repeats=None).value == 2e-3
    assert plain(steps=4e-3, repeats=None).value == 4e-3
    assert plain(encoder=6e-3).value == 6e-3
    assert plain().beside(0.004).value == 5e-3
    assert plain().beside(0.003).value == 2e-3
    assert plain(steps=4e-3, repeats=None).report(0.1).kind == "simulation_steps"
    assert plain(repeats=None).report(0.1).kind == "measurement"
    assert plain().report(0.1).kind == "repeated_runs"
