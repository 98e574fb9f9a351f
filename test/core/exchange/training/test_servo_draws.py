# SPDX-License-Identifier: Apache-2.0
"""Draws of a servo are joint, reproducible, and name where they come from."""

from __future__ import annotations

import hashlib
import io
import json

import numpy as np
import pytest

from bam_core.errors import BamError
from bam_core.exchange.training.servo_draws import servo_draws
from bam_core.identification.uncertainty.prediction_file import prediction_for
from bam_core.servo.model import load_servo, servo_path
from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.simulation.rollout import PARAMETERS


def test_a_file_has_an_array_per_parameter_units_and_the_hash_of_the_servo() -> None:
    servo = load_servo("sts3215")
    with np.load(io.BytesIO(servo_draws("sts3215", 50).npz())) as file:
        assert all(file[name].shape == (50,) for name in servo.parameters)
        units = json.loads(str(file["units"]))
        assert units == {name: PARAMETER_UNITS[name] for name in servo.parameters}
        expected = hashlib.sha256(servo_path("sts3215").read_bytes()).hexdigest()
        assert str(file["servo_sha256"]) == expected
        assert str(file["friction_model"]) == servo.friction_model


def test_draws_scatter_around_the_servo_and_are_the_same_for_a_seed() -> None:
    servo = load_servo("sts3215")
    first, again, other = (servo_draws("sts3215", 400, seed).parameters for seed in (0, 0, 1))
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name])
        value = servo.parameters[name]
        assert abs(np.median(values) - value) <= 3.0 * max(values.std(), 1e-12), name
    assert any((first[name] != other[name]).any() for name in first)


def test_draws_are_those_of_the_predictive_distribution() -> None:
    servo = load_servo("sts3215")
    draws = servo_draws("sts3215", 20, seed=3).parameters
    vectors = prediction_for("sts3215").draw_runs(servo, count=20, seed=3)
    column = PARAMETERS.index("torque_constant")
    np.testing.assert_array_equal(draws["torque_constant"], vectors[:, column])
    assert draws["torque_constant"].std() > 0.0


@pytest.mark.parametrize(("source", "count"), [("sts3215", 0), ("mx106", 5), ("no_servo", 5)])
def test_what_cannot_be_drawn_is_refused(source: str, count: int) -> None:
    with pytest.raises(BamError):
        servo_draws(source, count)
