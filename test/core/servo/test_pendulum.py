# SPDX-License-Identifier: Apache-2.0
"""Inertia and gravity of the bench."""

import math

import numpy as np
import pytest

from bam_core.errors import BamError, OutOfRange
from bam_core.servo.pendulum import GRAVITY, PendulumBench
from test.core.refusals import refused

BENCH = PendulumBench(mass=0.5, arm_mass=0.3, length=0.2)


def test_a_uniform_arm_counts_a_third_in_inertia_and_half_in_weight():
    assert BENCH.inertia == pytest.approx(0.5 * 0.04 + 0.3 * 0.04 / 3.0)
    assert BENCH.gravity_torque == pytest.approx((0.5 + 0.15) * GRAVITY * 0.2)


def test_gravity_pulls_back_to_hanging_down():
    assert BENCH.external_torque(0.0) == 0.0
    assert BENCH.external_torque(math.pi / 2.0) == pytest.approx(-BENCH.gravity_torque)
    assert BENCH.external_torque(-math.pi / 2.0) == pytest.approx(BENCH.gravity_torque)


def test_gravity_torque_is_the_slope_of_potential_energy():
    angle = np.linspace(-3.0, 3.0, 2001)
    energy = BENCH.gravity_torque * (1.0 - np.cos(angle))
    slope = np.gradient(energy, angle, edge_order=2)
    assert BENCH.external_torque(angle) == pytest.approx(-slope, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "value", "unit"),
    [
        ("mass", 490.0, "grams"),
        ("arm_mass", 1e200, "grams"),
        ("length", 100.0, "millimetres"),
        ("gyration", 50.0, "millimetres"),
        ("flywheel", 40.0, "kg·cm²"),
        ("length", 1e-300, "in metres"),
    ],
)
def test_a_size_in_another_unit_is_named(name: str, value: float, unit: str) -> None:
    with refused(OutOfRange, thing=name, value=value) as caught:
        PendulumBench(**{"mass": 1.0, "length": 0.1, name: value})
    assert unit in str(caught.value)


def test_a_load_lighter_than_any_is_named() -> None:
    with refused(OutOfRange, thing="mass and arm_mass together", value=1e-9):
        PendulumBench(mass=1e-9, length=0.1)


@pytest.mark.parametrize("name", ["mass", "arm_mass", "length"])
def test_a_negative_size_is_named(name):
    with pytest.raises(BamError, match=name):
        PendulumBench(**{"mass": 1.0, "arm_mass": 0.0, "length": 0.1, name: -1.0})
