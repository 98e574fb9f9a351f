# SPDX-License-Identifier: Apache-2.0
"""Random servos: as likely as the fit, and reproducible."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core import draw_servos
from bam_core.errors import Missing, OutOfRange
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.prediction_file import save_prediction
from bam_core.servo.model import load_servo


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A servo whose viscous friction and resistance vary, one with the other."""
    path = tmp_path / "m1.yaml"
    load_servo("mx106").save(path)
    ranges = {"resistance": (0.5, 50.0), "viscous": (0.0, 1.0)}
    factor = np.array([[0.01, 0.0], [0.001, 0.0]])
    save_prediction(
        path, Prediction(ranges=ranges, factor=factor, inflation=1.0, residual=0.0, residual_alone=0.0)
    )
    return path


def test_servos_vary_in_what_is_uncertain_and_jointly(file: Path) -> None:
    drawn = list(draw_servos(str(file), count=200, seed=3))
    fit = load_servo(file)
    resistance = np.array([servo.motor.resistance for servo in drawn])
    viscous = np.array([servo.friction.viscous for servo in drawn])
    assert np.median(resistance) == pytest.approx(fit.motor.resistance, rel=0.02)
    assert np.array_equal(np.argsort(resistance), np.argsort(viscous))
    assert {servo.motor.torque_constant for servo in drawn} == {fit.motor.torque_constant}
    assert {(servo.name, servo.firmware) for servo in drawn} == {(fit.name, fit.firmware)}


def test_the_same_seed_gives_the_same_servos(file: Path) -> None:
    one, same, other = (
        [servo.motor.resistance for servo in draw_servos(str(file), count=2, seed=seed)] for seed in (1, 1, 2)
    )
    assert one == same != other


def test_no_servos_are_refused(file: Path) -> None:
    with pytest.raises(OutOfRange):
        draw_servos(str(file), count=0)


def test_servos_of_unknown_errors_are_not_drawn_as_if_they_were_sure(tmp_path: Path) -> None:
    servo = load_servo("mx106")
    path = tmp_path / "robot_servo.yaml"
    replace(servo, uncertainty={}, provenance=replace(servo.provenance, train_mae=0.01)).save(path)
    with pytest.raises(Missing):
        draw_servos(str(path), count=3)
