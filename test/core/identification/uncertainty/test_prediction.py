# SPDX-License-Identifier: Apache-2.0
"""Draws of parameters, the bands that follow from them, and the file that they are drawn from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Malformed, Missing, OutOfRange, WrongShape
from bam_core.identification.uncertainty.bands import (
    LEVEL,
    REACH,
    crps,
    percentiles,
    predicted_bands,
    widened,
)
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.prediction_file import (
    load_prediction,
    prediction_for,
    prediction_path,
    save_prediction,
)
from bam_core.identification.variation.spread import Spread
from bam_core.identification.variation.variation import Variation
from bam_core.servo.model import Provenance, load_servo
from bam_core.servo.parameters import MOTOR_PARAMETERS
from bam_core.simulation.rollout import PARAMETERS, parameter_vector
from test.core.identification_cases import mx106, record
from test.core.refusals import refused

SERVO = mx106("m1")
RANGES = {"torque_constant": (1.0, 4.0), "resistance": (1.0, 5.0), "coulomb": (0.0, 0.4)}
FACTOR = np.array([[0.02, 0.0, 0.0], [0.019, 0.005, 0.0], [0.0, 0.0, 0.01]])


def prediction(inflation: float = 1.0, residual: float = 1e-3) -> Prediction:
    return Prediction(
        ranges=RANGES, factor=FACTOR, inflation=inflation, residual=residual, residual_alone=2.0 * residual
    )


def column(vectors: np.ndarray, name: str) -> np.ndarray:
    return vectors[:, PARAMETERS.index(name)]


@pytest.mark.parametrize("inflation", [1.0, 3.0])
def test_draws_scatter_as_the_inflated_covariance_says(inflation: float) -> None:
    vectors = prediction(inflation).draw(SERVO, count=20_000)
    shares = [
        np.log(column(vectors, "torque_constant")) / np.log(4.0),
        np.log(column(vectors, "resistance")) / np.log(5.0),
        column(vectors, "coulomb") / 0.4,
    ]
    expected = inflation**2 * FACTOR @ FACTOR.T
    np.testing.assert_allclose(np.cov(shares), expected, atol=0.04 * expected.max())


def test_what_is_not_drawn_stays_as_it_is_and_nothing_leaves_its_range() -> None:
    vectors = prediction(100.0).draw(SERVO, count=200)
    fit = parameter_vector(SERVO)
    for name, value in zip(PARAMETERS, fit, strict=True):
        low, high = RANGES.get(name, (value, value))
        assert np.all((low <= column(vectors, name)) & (column(vectors, name) <= high))
    assert np.allclose(prediction(0.0).draw(SERVO, count=3), fit)


def test_the_same_seed_gives_the_same_draws() -> None:
    one, same, other = (prediction().draw(SERVO, count=5, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


def test_a_band_holds_its_share_of_normal_samples() -> None:
    random = np.random.default_rng(0)
    drawn, measured = random.normal(0.3, 0.02, (400, 2000)), random.normal(0.3, 0.05, 2000)
    low, high = widened(percentiles(drawn), float(np.sqrt(0.05**2 - 0.02**2)))
    assert np.mean((low <= measured) & (measured <= high)) == pytest.approx(LEVEL, abs=0.02)
    assert np.mean(high - low) == pytest.approx(2.0 * REACH * 0.05, rel=0.02)


@pytest.mark.long
def test_draws_of_the_true_distribution_have_calibrated_bands() -> None:
    """Runs of servos whose parameters scatter as the prediction says, measured to encoder counts."""
    scripts = ("sin_sin", "lift_and_drop", "up_and_down")
    told = prediction(residual=SERVO.firmware.resolution / np.sqrt(12.0))
    held = []
    for k, vector in enumerate(told.draw(SERVO, count=30, seed=7)):
        values = dict(zip(PARAMETERS, vector.tolist(), strict=True))
        motor = replace(
            SERVO.motor, torque_constant=values["torque_constant"], resistance=values["resistance"]
        )
        friction = replace(SERVO.friction, coulomb=values["coulomb"])
        run = record(replace(SERVO, motor=motor, friction=friction), scripts[k % 3], 16.0)
        held.append(replace(run, name=f"{run.name}_{k}"))
    bands = predicted_bands(SERVO, held, told, draws=200)
    assert np.mean([band.coverage for band in bands]) == pytest.approx(LEVEL, abs=0.05)
    assert all(0.0 < band.width < 0.2 for band in bands)


def with_variation(deviation: float, residual: float = 1e-3) -> Prediction:
    """Friction without load scatters from run to run, nothing else does."""
    draws = np.tile([deviation, 1e-6, 1e-6], (10, 1))
    variation = Variation(spread=Spread(draws={"run": draws}), residual=residual)
    return replace(prediction(0.0, residual=0.05), variation=variation)


def test_runs_are_drawn_with_friction_of_their_own_unless_it_is_fixed() -> None:
    told = with_variation(0.2)
    vectors = told.draw_runs(SERVO, count=4000)
    assert np.std(np.log(column(vectors, "coulomb"))) == pytest.approx(0.2, rel=0.05)
    assert np.std(np.log(column(vectors, "torque_constant"))) < 1e-5
    fixed = told.with_fixed_friction().draw_runs(SERVO, count=3)
    assert np.allclose(fixed, parameter_vector(SERVO))
    assert (told.residual_of_runs, told.with_fixed_friction().residual_of_runs) == (1e-3, 0.05)


def test_an_inflation_that_stands_for_variation_is_not_drawn_beside_it() -> None:
    told = replace(with_variation(1e-6), inflation=5.0)
    scatter = np.std(np.log(column(told.draw_runs(SERVO, count=4000), "torque_constant"))) / np.log(4.0)
    assert scatter == pytest.approx(0.02, rel=0.05)


def test_a_band_of_runs_that_stick_or_slip_shows_both() -> None:
    """Where friction decides whether an arm falls, a band around the middle of both would hold neither."""
    slip, stick = (
        record(replace(SERVO, friction=SERVO.friction.scaled(no_load=factor)), "lift_and_drop", 16.0)
        for factor in (1.0, 1.6)
    )
    told = with_variation(0.4, residual=SERVO.firmware.resolution)
    assert all(band.coverage > 0.9 for band in predicted_bands(SERVO, [slip, stick], told, draws=100))
    narrow = with_variation(1e-6, residual=SERVO.firmware.resolution)
    assert predicted_bands(SERVO, [stick], narrow, draws=100)[0].coverage < 0.7


def test_the_score_of_normal_draws_is_that_of_their_distribution() -> None:
    """Gneiting and Raftery 2007, eq. 20 ff.: at its mean, 0.2337 standard deviations."""
    random = np.random.default_rng(0)
    draws = random.standard_normal((2000, 50))
    assert np.mean(crps(draws, np.zeros(50))) == pytest.approx(0.2337, abs=0.004)
    few = random.standard_normal((5, 20_000))  # no bias by the number of draws
    assert np.mean(crps(few, np.zeros(20_000))) == pytest.approx(0.2337, abs=0.01)
    certain = np.zeros((2, 3))
    assert crps(certain, np.array([0.0, 0.1, -0.2])) == pytest.approx([0.0, 0.1, 0.2])


def test_variation_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    SERVO.save(tmp_path / "m1.yaml")
    told = with_variation(0.2)
    save_prediction(tmp_path / "m1.yaml", told)
    found = load_prediction(tmp_path / "m1.yaml")
    assert found is not None
    assert found.variation is not None
    assert found.variation.residual == 1e-3
    assert found.variation.spread.level("no_load", "run") == told.variation.spread.level("no_load", "run")
    path = prediction_path(tmp_path / "m1.yaml")
    path.write_text(path.read_text().replace('"residual": 0.001', '"residual": -1'))
    with refused(Malformed):
        load_prediction(tmp_path / "m1.yaml")


def test_a_prediction_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    servo = tmp_path / "m1.yaml"
    SERVO.save(servo)
    save_prediction(servo, prediction(2.5))
    found = load_prediction(servo)
    assert found is not None
    assert np.array_equal(found.factor, FACTOR)
    assert (found.ranges, found.inflation, found.residual) == (RANGES, 2.5, 1e-3)
    assert np.array_equal(prediction_for(servo).draw(SERVO, count=4), prediction(2.5).draw(SERVO, count=4))


def test_another_model_s_residual_follows_from_its_training_error(tmp_path: Path) -> None:
    other = prediction(residual=1e-3).without_parameters(3.0)
    assert np.allclose(other.draw(SERVO, count=3), parameter_vector(SERVO))
    assert other.residual == pytest.approx(6e-3)
    save_prediction(tmp_path / "m1.yaml", other)
    found = load_prediction(tmp_path / "m1.yaml")
    assert found is not None
    assert (found.ranges, found.factor.shape, found.residual) == ({}, (0, 0), other.residual)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"ranges": {"coulomb": [0, 1]}, "factor": [1, 2]}'])
def test_a_damaged_file_is_one_line(tmp_path: Path, text: str) -> None:
    path = prediction_path(tmp_path / "m1.yaml")
    path.parent.mkdir()
    path.write_text(text)
    with refused(Malformed):
        load_prediction(tmp_path / "m1.yaml")


def test_numbers_out_of_range_are_refused() -> None:
    with refused(OutOfRange):
        prediction(-1.0)
    with refused(OutOfRange):
        prediction(residual=np.inf)
    with refused(WrongShape):
        replace(prediction(), factor=FACTOR[:2])


def test_the_library_s_sts3215_says_how_far_it_is_to_be_trusted(caplog: pytest.LogCaptureFixture) -> None:
    servo = load_servo("sts3215")
    found = prediction_for("sts3215")
    assert not caplog.text
    vectors = found.draw(servo, count=2000)
    for name, value in (
        (each, servo.parameters[each]) for each in MOTOR_PARAMETERS
    ):  # both files are of the same identification
        assert np.median(column(vectors, name)) == pytest.approx(value, rel=0.02)
        assert 0.2 < np.std(column(vectors, name)) / servo.uncertainty[name] < 1.0
    assert found.residual > servo.provenance.train_mae  # of conditions that are new


def test_without_a_prediction_standard_errors_and_training_error_stand_in(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "m1.yaml"
    errors = {"torque_constant": 0.05, "coulomb": 0.01}
    replace(SERVO, uncertainty=errors, provenance=Provenance(train_mae=0.008)).save(path)
    vectors = prediction_for(path).draw(SERVO, count=20_000)
    assert "not calibrated" in caplog.text
    for name, error in errors.items():
        assert np.std(column(vectors, name)) == pytest.approx(error, rel=0.05)
    assert np.mean(np.abs(np.random.default_rng(0).normal(0.0, prediction_for(path).residual, 9999))) == (
        pytest.approx(0.008, rel=0.05)
    )
    SERVO.save(path)
    with refused(Missing):
        prediction_for(path)
