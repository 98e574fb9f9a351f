# SPDX-License-Identifier: Apache-2.0
"""The four scripts of BAM."""

import json
import math

import numpy as np
import pytest

from bam_core.errors import UnknownName
from bam_core.recordings.trajectories import SCRIPTS, script
from test.core.refusals import refused


def test_there_are_the_four_scripts_of_the_paper_of_6_seconds_each():
    assert {"sin_time_square", "sin_sin", "up_and_down", "lift_and_drop"} <= set(SCRIPTS)
    assert all(s.duration == 6.0 for s in SCRIPTS.values())


def test_sines_follow_their_formulas():
    assert script("sin_time_square").goal_position(1.3) == pytest.approx(math.sin(1.69))
    t = 1.3
    expected = math.sin(t) * math.pi / 2 + math.sin(5 * t) * 0.5 * math.sin(2 * t)
    assert script("sin_sin").goal_position(t) == pytest.approx(expected)


def test_up_and_down_passes_its_knots_with_zero_slope():
    goal = script("up_and_down").goal_position
    for time, angle in ((0.0, 0.0), (3.0, math.pi / 2), (6.0, 0.8 * math.pi / 2)):
        assert goal(time) == pytest.approx(angle)
        assert goal(time + 1e-4) - goal(time - 1e-4) == pytest.approx(0.0, abs=1e-7)


def test_lift_and_drop_releases_torque_at_2_seconds():
    goal, enabled = script("lift_and_drop")(np.array([0.0, 1.0, 1.999, 2.0, 6.0]))
    assert goal == pytest.approx([0.0, -math.pi / 4, -math.pi / 2, -math.pi / 2, -math.pi / 2], abs=1e-5)
    assert enabled.tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_start_at_rest_hanging_down_and_never_jump(name):
    trajectory = script(name)
    time = np.linspace(0.0, trajectory.duration, 6001)
    goal, enabled = trajectory(time)
    assert goal.shape == enabled.shape == time.shape
    assert goal[0] == 0.0
    assert enabled[0]
    assert np.max(np.abs(np.diff(goal))) < 0.02


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_what_was_recorded(name, xl330):
    entries = json.loads((xl330 / f"kp200_{name}.json").read_text())["entries"]
    time = np.array([e["timestamp"] for e in entries])
    goal = np.array([e["goal_position"] for e in entries])
    # The authors' recorder computes the goal some milliseconds before it takes the time stamp.
    possible = np.array([script(name).goal_position(time - lead) for lead in np.linspace(0.0, 0.008, 17)])
    assert np.all(goal <= possible.max(axis=0) + 1e-5)
    assert np.all(goal >= possible.min(axis=0) - 1e-5)


def test_an_unknown_script_is_answered_with_the_valid_ones():
    with refused(UnknownName, kind="trajectory script", name="sin_sine"):
        script("sin_sine")
