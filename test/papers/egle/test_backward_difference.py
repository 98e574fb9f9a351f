# SPDX-License-Identifier: Apache-2.0
"""Backward differences: equation (6.3), late by what they say, and noise that their kernel tells."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.whole_body import JointLog, differentiate
from papers.egle.backward_difference import BackwardDifference

DT = 1e-3
TIME = DT * np.arange(2000)


def log(position: np.ndarray) -> JointLog:
    two_d = position[:, None]
    return JointLog(names=("joint",), time=TIME, position=two_d, effort=np.cos(two_d))


def test_backward_differences_are_equation_6_3() -> None:
    values = np.array([0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0])
    assert BackwardDifference().first(values, 1.0)[3] == 9.0 - 4.0
    assert BackwardDifference().second(values, 1.0)[3] == 2.0


def test_a_kernel_gives_the_noise_that_passes() -> None:
    noise = np.random.default_rng(0).standard_normal(20_000)
    passed = BackwardDifference().second(noise, DT)[50:-50]
    expected = np.linalg.norm(BackwardDifference().kernel(2, DT))
    assert np.sqrt(np.mean(passed**2)) == pytest.approx(expected, rel=0.05)


def test_backward_differences_are_late_and_compensation_mends_it() -> None:
    rate = 20.0
    true = -(rate**2) * np.sin(rate * TIME)
    plain = differentiate(log(np.sin(rate * TIME)), BackwardDifference())
    mended = differentiate(log(np.sin(rate * TIME)), BackwardDifference(compensated=True))
    part = slice(10, None)
    one_late = np.roll(true, 1)
    assert np.abs(plain.acceleration[part, 0] - true[part]).max() > 0.9 * rate**3 * DT
    np.testing.assert_allclose(plain.acceleration[part, 0], one_late[part], atol=0.02)
    np.testing.assert_allclose(mended.acceleration[part, 0], one_late[part], atol=0.02)
    # ... and then velocities, positions and torques are late alike
    np.testing.assert_allclose(
        mended.velocity[part, 0], np.roll(rate * np.cos(rate * TIME), 1)[part], atol=2e-3
    )
    np.testing.assert_allclose(mended.position[part, 0], np.roll(np.sin(rate * TIME), 1)[part], atol=1e-12)
    np.testing.assert_allclose(
        mended.effort[part, 0], np.roll(np.cos(np.sin(rate * TIME)), 1)[part], atol=1e-12
    )
