# SPDX-License-Identifier: Apache-2.0
"""Bands from training logs alone, checked on logs that took no part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.uncertainty.bands import predicted_bands
from bam_core.identification.uncertainty.calibration import calibrated
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.uncertainty import uncertainty_terms
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from test.core.identification_cases import mx106, record, session
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
