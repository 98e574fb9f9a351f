# SPDX-License-Identifier: Apache-2.0
"""The log factors of a run are found, also where they decide whether the arm sticks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.identification.variation.run_factors import Runs, _time_scale
from bam_core.servo.effects import BenchEffects
from test.core.identification_cases import mx106, record

SERVO = mx106("m4")
PRIOR = np.array([0.3, 0.3, 0.1])


def test_factors_of_a_run_are_found_as_well_as_encoder_counts_allow() -> None:
    friction = SERVO.friction.scaled(no_load=1.25, load=0.85)
    runs = [record(replace(SERVO, friction=friction), "sin_sin", 16.0), record(SERVO, "sin_sin", 16.0)]
    both = Runs(SERVO, runs)
    both.factors(PRIOR)
    found = both.factors(PRIOR)  # knows what is left over
    for own, truth in zip((0, 1), ([1.25, 0.85, 1.0], [1.0, 1.0, 1.0]), strict=True):
        solved = np.linalg.solve(found.information[own], found.pull[own])  # without the prior
        errors = np.sqrt(np.diag(np.linalg.inv(found.information[own])))
        assert np.all(np.abs(solved - np.log(truth)) < 3.0 * errors)
        assert np.all(errors < [0.05, 0.05, 0.005])
        assert np.exp(found.optimum[own]) == pytest.approx(truth, abs=0.1)
    assert np.all(found.deviation < 1.5 * SERVO.firmware.resolution)


def test_an_arm_that_sticks_where_the_fit_slips_is_followed() -> None:
    """Between both the slope is useless: positions jump from one branch to the other."""
    stiff = replace(SERVO, friction=SERVO.friction.scaled(no_load=1.7, load=1.7))
    run = record(stiff, "lift_and_drop", 16.0)
    runs = Runs(SERVO, [run])
    at_the_fit = float(np.sqrt(np.mean(runs._runs[0].residuals(np.zeros((1, 3)))[0] ** 2)))
    found = runs.factors(PRIOR)
    assert found.deviation[0] < 0.1 * at_the_fit


def test_what_a_run_does_not_show_has_no_information() -> None:
    """Without friction under load in the law, a factor on it changes nothing."""
    found = Runs(mx106("m1"), [record(mx106("m1"), "sin_sin", 16.0)]).factors(PRIOR)
    assert found.information[0, 1] == pytest.approx([0.0, 0.0, 0.0])
    assert found.optimum[0, 1] == 0.0


def test_the_bench_of_the_recordings_is_simulated_too() -> None:
    run = record(SERVO, "sin_sin", 16.0)
    tilted = Runs(SERVO, [run], BenchEffects(zero_offset=0.05)).factors(PRIOR)
    assert tilted.deviation[0] > 2.0 * Runs(SERVO, [run]).factors(PRIOR).deviation[0]


def test_independent_errors_count_as_many_as_they_are_and_slow_ones_less() -> None:
    random = np.random.default_rng(0)
    white = random.standard_normal(4000)
    assert _time_scale([white], [0.01]) == pytest.approx(0.005, rel=0.3)
    slow = np.zeros(4000)
    for k in range(1, len(slow)):  # of an AR(1) process with correlation time 0.2 s
        slow[k] = np.exp(-0.01 / 0.2) * slow[k - 1] + white[k]
    assert _time_scale([slow, slow], [0.01, 0.01]) == pytest.approx(0.2, rel=0.4)
    assert _time_scale([np.zeros(10)], [0.01]) == 0.005
