# SPDX-License-Identifier: Apache-2.0
"""How far errors scatter and how long they stay alike, from errors of which both are known."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.robot.noise import measured_noise

STEP = 0.02


def remembered(share: float, count: int, seed: int, scale: float) -> np.ndarray:
    """Gaussian errors of which each keeps a share of the one before: AR(1)."""
    random = np.random.default_rng(seed)
    errors = np.empty(count)
    errors[0] = random.normal()
    for index in range(1, count):
        errors[index] = share * errors[index - 1] + np.sqrt(1.0 - share**2) * random.normal()
    return scale * errors


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_time_is_the_integral_of_the_autocorrelation(share: float) -> None:
    runs = [remembered(share, 20_000, seed, 2e-3)[:, None] for seed in range(4)]
    noise = measured_noise(runs, [STEP] * 4)
    expected = STEP * (1.0 + share) / (1.0 - share)  # sum of a geometric series
    assert noise.independent[0] == pytest.approx(expected, rel=0.1)
    assert noise.scale[0] == pytest.approx(2e-3, rel=0.05)


def test_each_joint_has_its_own() -> None:
    runs = [
        np.stack([remembered(0.0, 5000, seed, 1e-3), remembered(0.9, 5000, seed + 9, 5e-3)], axis=1)
        for seed in range(3)
    ]
    noise = measured_noise(runs, [STEP] * 3)
    assert noise.independent[1] > 10 * noise.independent[0]
    assert noise.scale[1] > 4 * noise.scale[0]


def test_an_error_that_stays_for_a_whole_run_tells_once() -> None:
    noise = measured_noise([np.full((50, 1), 1e-3), np.full((50, 1), -1e-3)], [STEP, STEP])
    assert noise.independent[0] == pytest.approx(50 * STEP * 2, rel=0.03)


def test_no_errors_at_all_are_still_some() -> None:
    noise = measured_noise([np.zeros((50, 1))], [STEP])
    assert noise.scale[0] > 0.0
    assert noise.independent[0] == STEP
