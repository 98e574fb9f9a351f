# SPDX-License-Identifier: Apache-2.0
"""Curvature of positions in short windows: its weights, its noise, and how torques bend them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.identification.misfit.motion import motions
from bam_core.identification.misfit.windows import Windows, contrasts, noise_gain, window_length
from bam_core.identification.search.sensitivity import normalised
from bam_core.servo.effects import IDEAL_BENCH
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.identification_cases import BENCH, mx106
from test.core.misfit_cases import motion
from test.core.uncertainty_cases import space_for

SERVO = mx106("m1")


def test_contrasts_tell_acceleration_and_ignore_a_line() -> None:
    time = 0.004 * np.arange(26)
    weights = contrasts(26, 0.004)
    np.testing.assert_allclose(weights.T @ (0.7 - 3.0 * time), 0.0, atol=1e-9)
    np.testing.assert_allclose((weights.T @ (0.5 * 7.0 * time**2))[0], 7.0)
    np.testing.assert_allclose((weights.T @ (0.5 * 7.0 * time**2))[1:], 0.0, atol=1e-9)
    products = weights.T @ weights
    np.testing.assert_allclose(products, products[0, 0] * np.eye(3), atol=1e-6 * products[0, 0])


@pytest.mark.parametrize("per_sample", [1, 4])
def test_noise_of_samples_has_its_gain(per_sample: int) -> None:
    dt, points = 0.004, 41
    random = np.random.default_rng(0)
    at = dt * np.arange(points)
    samples = np.arange(-3 * per_sample, points + 3 * per_sample, per_sample) * dt
    found = []
    for _ in range(4000):
        offset = random.uniform(0.0, per_sample * dt)
        noise = random.normal(0.0, 1.0, len(samples))
        found.append(contrasts(points, dt).T @ np.interp(at, samples + offset, noise))
    np.testing.assert_allclose(noise_gain(points, dt, per_sample * dt), np.var(found, axis=0), rtol=0.12)


@pytest.mark.parametrize(("period", "length"), [(0.002, 0.1), (0.02, 0.32)])
def test_a_window_is_a_tenth_of_a_second_or_sixteen_samples(period: float, length: float) -> None:
    logs = [synthesize(SERVO, BENCH, "sin_sin", 8.0, SynthesisSettings(sample_period=period))]
    found = window_length(logs, SERVO.firmware)
    assert length - 1e-9 <= found < length + 4.0 * SERVO.firmware.period + 1e-9
    assert found / (4.0 * SERVO.firmware.period) == pytest.approx(
        round(found / (4.0 * SERVO.firmware.period))
    )


@pytest.fixture(scope="module")
def windows() -> Windows:
    logs = [
        synthesize(SERVO, BENCH, script, 8.0, SynthesisSettings(sample_period=0.005))
        for script in ("sin_sin", "up_and_down")
    ]
    length = window_length(logs, SERVO.firmware)
    return Windows(Rollout.for_servo(logs, SERVO, restart=length), length)


def test_rows_are_of_log_window_and_contrast(windows: Windows) -> None:
    counts = [np.sum(windows.log == index) // 3 for index in range(2)]
    assert windows.log.tolist() == [0] * 3 * counts[0] + [1] * 3 * counts[1]
    assert windows.place.tolist() == [
        *np.repeat(np.arange(counts[0]), 3),
        *np.repeat(np.arange(counts[1]), 3),
    ]
    assert windows.bends.tolist() == [True, False, False] * sum(counts)
    grid = windows.rollout.packed.grid(0)
    cut = windows.cut(grid, 0)
    assert cut.shape == (counts[0], windows.steps)
    np.testing.assert_allclose(cut.ravel(), grid[windows.steps // 2 :][: cut.size])
    assert windows.cut_motion(grid[::2], 0).shape == (counts[0], windows.steps // 2)
    np.testing.assert_allclose(windows.cut_motion(grid[::2], 0)[0, 0], cut[0, 0])


def test_a_torque_accelerates_what_is_free_and_less_what_springs_and_dampers_hold(windows: Windows) -> None:
    steps = len(windows.rollout.packed.grid(0)[::2])
    dt = 2.0 * windows.rollout.dt
    plain = motion(time=dt * np.arange(steps), dt=dt, inertia=0.05)
    torque = np.full((steps, 1), 0.2)
    count = np.sum(windows.log == 0) // 3
    free = np.ones((count, windows.steps // 2))
    found = windows.responses(torque, 0, plain, free)
    assert found.shape == (3 * count, 1)
    np.testing.assert_allclose(found[::3], 0.2 / 0.05, rtol=0.05)
    np.testing.assert_allclose(found[1::3], 0.0, atol=0.05 * 4.0)
    assert np.array_equal(windows.responses(torque, 0, plain, 0.0 * free), 0.0 * found)
    for held in ({"damping": np.full(steps, 1.0)}, {"stiffness": np.full(steps, 30.0)}):
        slower = windows.responses(torque, 0, replace(plain, **held), free)
        assert np.all(slower[::3] < 0.8 * found[::3])
        assert np.all(slower[::3] > 0.0)
    # On a spring: x'' = τ/J - k/J·x.
    stiff = windows.responses(torque, 0, replace(plain, stiffness=np.full(steps, 30.0)), free)
    time = dt * np.arange(windows.steps // 2)
    exact = 0.2 / 30.0 * (1.0 - np.cos(np.sqrt(30.0 / 0.05) * time))
    np.testing.assert_allclose(stiff[:3, 0], contrasts(len(time), dt).T @ exact, atol=0.05 * 4.0)


def test_residuals_answer_to_parameters_as_their_sensitivity_says(windows: Windows) -> None:
    space = space_for(SERVO, windows.rollout.recordings)
    truth = normalised(space, parameter_vector(SERVO))
    moved = motions(windows.rollout, SERVO, IDEAL_BENCH)
    here = windows.see(space, truth, moved)
    step = np.zeros(space.dimension)
    step[0] = 0.02
    there = windows.see(space, truth + step, moved)
    change = here.residual - there.residual
    foretold = here.sensitivity @ step
    assert np.linalg.norm(change - foretold) < 0.2 * np.linalg.norm(change)
    swings = np.sqrt(np.mean(moved[0].acceleration ** 2))
    assert np.sqrt(np.mean(here.residual[windows.bends] ** 2)) < 0.1 * swings
    assert np.mean(here.agrees) > 0.9
    for index, free in enumerate(here.free):
        assert free.shape == (np.sum(windows.log == index) // 3, windows.steps // 2)
        assert set(np.unique(free)) <= {0.0, 1.0}
