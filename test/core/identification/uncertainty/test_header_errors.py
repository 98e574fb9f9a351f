# SPDX-License-Identifier: Apache-2.0
"""Errors of the rig move a fit as recordings with other headers do: each by its own quantity and unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bam_core.identification.search.evidence import set_right
from bam_core.identification.search.sensitivity import Sensitivity, residuals_at, slopes
from bam_core.identification.uncertainty.header_errors import HeaderError, header_errors
from bam_core.identification.uncertainty.tolerances import EXACT
from bam_core.recordings.recording import Recording
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.identification_cases import mx106
from test.core.uncertainty_cases import space_for

SERVO = mx106("m1")
TRUTH = parameter_vector(SERVO)
NEAR = PendulumBench(mass=1.0, arm_mass=0.06, length=0.1)
FAR = replace(NEAR, mass=0.5, length=0.16)


def optimum_of(logs: list[Recording]) -> Sensitivity:
    return slopes(Rollout.for_servo(logs, SERVO), space_for(SERVO, logs), TRUTH)


def logs_with(*benches: PendulumBench) -> list[Recording]:
    """Runs whose errors are those of an encoder of 6 mrad: a fit without any has no scale for weights."""
    random = np.random.default_rng(0)
    logs = [
        replace(
            synthesize(SERVO, bench, "sin_sin", kp, SynthesisSettings(sample_period=0.01)),
            name=f"{index}_{kp:g}",
        )
        for index, bench in enumerate(benches)
        for kp in (8.0, 32.0)
    ]
    return [replace(log, position=log.position + random.normal(0.0, 2e-3, len(log))) for log in logs]


def shift(logs: list[Recording], change: Callable[[Recording, float], Recording], by: float) -> np.ndarray:
    """By how much the fit moves between recordings changed by -by and by +by, halved."""
    right = optimum_of(logs)
    ahead, behind = (
        residuals_at(Rollout.for_servo([change(log, sign * by) for log in logs], SERVO), TRUTH)
        for sign in (1.0, -1.0)
    )
    ends = [set_right(right, sign * 0.5 * (ahead - behind)).normalised for sign in (1.0, -1.0)]
    return 0.5 * (ends[0] - ends[1])


def found(logs: list[Recording], **tolerances: float) -> list[HeaderError]:
    right = optimum_of(logs)
    return header_errors(SERVO, logs, right, right, replace(EXACT, **tolerances))


def on_bench(log: Recording, **fields: float) -> Recording:
    return replace(log, bench=replace(log.bench, **fields))


def other_supply(log: Recording, by: float) -> Recording:
    return replace(log, supply_voltage=log.supply_voltage * (1.0 + by), voltage=log.voltage * (1.0 + by))


CHANGES: dict[str, tuple[float, Callable[[Recording, float], Recording]]] = {
    "mass": (0.02, lambda log, by: on_bench(log, mass=log.bench.mass * (1.0 + by))),
    "arm_mass": (0.2, lambda log, by: on_bench(log, arm_mass=log.bench.arm_mass * (1.0 + by))),
    "length": (0.002, lambda log, by: on_bench(log, length=log.bench.length + by)),
    "supply": (0.02, other_supply),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_error_moves_the_fit_as_recordings_with_another_header_do(name: str) -> None:
    deviation, change = CHANGES[name]
    logs = logs_with(NEAR)
    (error,) = found(logs, **{name: deviation})
    assert (error.name, error.deviation) == (name, deviation)
    np.testing.assert_allclose(error.shift, shift(logs, change, deviation), rtol=1e-6, atol=1e-9)


def test_inertia_is_that_of_balanced_loads() -> None:
    logs = logs_with(replace(NEAR, flywheel=0.02))
    (error,) = found(logs, inertia=0.03)
    expected = shift(logs, lambda log, by: on_bench(log, flywheel=log.bench.flywheel * (1.0 + by)), 0.03)
    assert error.name == "inertia"
    np.testing.assert_allclose(error.shift, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("name", "parameter"), [("zero", "zero_offset"), ("delay", "command_delay")])
def test_zero_and_delay_move_the_fit_as_the_effect_of_that_name_does(name: str, parameter: str) -> None:
    logs = logs_with(NEAR)
    (error,) = found(logs, **{name: 2e-3})
    right, step = optimum_of(logs), np.zeros(len(PARAMETERS))
    step[PARAMETERS.index(parameter)] = 2e-3
    rollout = Rollout.for_servo(logs, SERVO)
    ahead, behind = (residuals_at(rollout, TRUTH + sign * step) for sign in (1.0, -1.0))
    ends: Any = [set_right(right, sign * 0.5 * (ahead - behind)).normalised for sign in (1.0, -1.0)]
    np.testing.assert_allclose(error.shift, 0.5 * (ends[0] - ends[1]), rtol=1e-6, atol=1e-9)


def test_of_two_loads_half_of_the_variance_is_common_and_half_is_each_ones_own() -> None:
    logs = logs_with(NEAR, FAR)
    common, near, far = found(logs, length=0.002)
    assert [common.name, near.name, far.name] == ["length", "length of 0.1 m", "length of 0.16 m"]
    for error in (common, near, far):
        assert error.deviation == pytest.approx(0.002 * math.sqrt(0.5))
    np.testing.assert_allclose(common.shift, near.shift + far.shift, rtol=0.05, atol=3e-4)
    for error, length in ((near, 0.1), (far, 0.16)):

        def change(log: Recording, by: float, length: float = length) -> Recording:
            return on_bench(log, length=log.bench.length + by) if log.bench.length == length else log

        expected = shift(logs, change, 0.002 * math.sqrt(0.5))
        np.testing.assert_allclose(error.shift, expected, rtol=1e-6, atol=1e-9)
