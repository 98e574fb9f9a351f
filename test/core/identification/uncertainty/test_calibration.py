# SPDX-License-Identifier: Apache-2.0
"""Bands from training logs alone, checked on logs that took no part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.search.sensitivity import Sensitivity, slopes
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.uncertainty.bands import predicted_bands
from bam_core.identification.uncertainty.calibration import calibrated
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.terms import uncertainty_terms
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.identification_cases import BENCH, mx106, record, session
from test.core.uncertainty_cases import space_for

SERVO = mx106("m1")
COUNT = SERVO.firmware.resolution


def prediction_of(logs: Sequence[Recording]) -> tuple[ServoModel, Prediction]:
    """Fit the logs from near the servo's parameters; return what was found."""
    space = space_for(SERVO, logs)
    fit = nearest_optimum(Rollout.for_servo(logs, SERVO), space, parameter_vector(SERVO))
    terms = uncertainty_terms(SERVO, fit.vector, logs, fit)
    values = dict(zip([axis.name for axis in space.axes], fit.vector[: space.dimension], strict=True))
    motor = {name: values.pop(name) for name in ("torque_constant", "resistance", "armature")}
    found = replace(SERVO, motor=replace(SERVO.motor, **motor), friction=replace(SERVO.friction, **values))
    return found, calibrated(SERVO, logs, fit, terms.covariance)


def scattered(random: np.random.Generator) -> ServoModel:
    """A servo whose friction is another one in every run, as what M1 lacks would make it."""
    coulomb, viscous = SERVO.friction.coulomb, SERVO.friction.viscous
    friction = replace(
        SERVO.friction,
        coulomb=coulomb * random.uniform(0.5, 1.5),
        viscous=viscous * random.uniform(0.5, 1.5),
    )
    return replace(SERVO, friction=friction)


def scattered_session(seed: int) -> list[Recording]:
    """The runs of `session`, each with friction of its own."""
    random = np.random.default_rng(seed)
    light = PendulumBench(mass=0.5, arm_mass=0.05, length=0.1)
    heavy = PendulumBench(mass=1.0, arm_mass=0.05, length=0.15)
    scripts = ("sin_time_square", "sin_sin", "up_and_down", "lift_and_drop")
    runs = [
        record(scattered(random), script, kp, bench)
        for script in scripts
        for kp, bench in ((8.0, heavy), (32.0, light), (16.0, heavy))
    ]
    return [replace(run, name=f"{run.name}_{seed}") for run in runs]


@pytest.mark.long
def test_where_the_model_is_right_bands_are_as_narrow_as_the_encoder_allows() -> None:
    servo, prediction = prediction_of(session(SERVO))
    assert prediction.residual < 1.0 * COUNT
    others = [record(SERVO, script, 24.0) for script in ("sin_sin", "lift_and_drop", "up_and_down")]
    bands = predicted_bands(servo, others, prediction, draws=100)
    assert np.mean([band.coverage for band in bands]) > 0.8
    assert np.mean([band.width for band in bands]) < 4.0 * COUNT


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bands_hold_new_runs_whose_friction_changes_from_run_to_run(seed: int) -> None:
    """The spread is nowhere in the model; it is found from what left-out training runs are off."""
    servo, prediction = prediction_of(scattered_session(seed))
    bands = predicted_bands(servo, scattered_session(100 + seed), prediction, draws=200)
    assert 0.82 < np.mean([band.coverage for band in bands]) < 0.98


@pytest.mark.long
def test_the_same_logs_give_the_same_prediction() -> None:
    logs = [record(SERVO, script, 16.0) for script in ("sin_sin", "lift_and_drop")]
    (_, one), (_, two) = prediction_of(logs), prediction_of(logs)
    assert (one.inflation, one.residual) == (two.inflation, two.residual)
    assert np.array_equal(one.factor, two.factor)


def test_what_is_left_out_takes_no_part_in_where_its_bands_are(monkeypatch: pytest.MonkeyPatch) -> None:
    light = PendulumBench(mass=0.5, arm_mass=0.05, length=0.1)
    logs = [
        replace(synthesize(SERVO, bench, script, kp, SynthesisSettings(sample_period=0.02)), name=f"{index}")
        for index, (script, kp, bench) in enumerate(
            [("sin_sin", 8.0, light), ("sin_sin", 16.0, BENCH), ("up_and_down", 8.0, BENCH)]
        )
    ]
    optimum = slopes(Rollout.for_servo(logs, SERVO), space_for(SERVO, logs), parameter_vector(SERVO))
    begins = dict(zip(["0", "1", "2"], optimum.starts, strict=True))
    fits, simulated = [], []

    def follow(rollout: Rollout, here: Sensitivity) -> Sensitivity:
        own = [log.name for log in rollout.recordings]
        fits.append(own)
        rows = np.concatenate([begins[name] + np.arange(optimum.counts[int(name)]) for name in own])
        np.testing.assert_array_equal(here.jacobian, optimum.jacobian[rows])
        np.testing.assert_array_equal(here.residuals, optimum.residuals[rows])
        np.testing.assert_array_equal(here.counts, optimum.counts[[int(name) for name in own]])
        return here

    def simulation(servo: ServoModel, recordings: Sequence[Recording], space: SearchSpace) -> Rollout:
        simulated.append([log.name for log in recordings])
        return Rollout.for_servo(recordings, servo)

    monkeypatch.setattr("bam_core.identification.uncertainty.calibration.follow", follow)
    monkeypatch.setattr("bam_core.identification.uncertainty.calibration.simulation", simulation)
    calibrated(SERVO, logs, optimum, 1e-6 * np.eye(optimum.space.dimension))
    gains, loads, scripts = [["0", "2"], ["1"]], [["0"], ["1", "2"]], [["0", "1"], ["2"]]
    left_out = [*gains, *loads, *loads, *scripts]  # loads by mass and by length
    assert sorted(simulated[1::2]) == sorted(left_out)
    assert fits == simulated[::2] == [[name for name in begins if name not in out] for out in simulated[1::2]]
