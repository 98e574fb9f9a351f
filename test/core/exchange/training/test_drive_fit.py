# SPDX-License-Identifier: Apache-2.0
"""The fitted drive is nearer to the full law, also with loads that took no part in the fit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.exchange.training.drive_fit import PricedDrive, fit_drive, standard_motions
from bam_core.exchange.training.drive_rollout import drive_positions
from bam_core.exchange.training.linear_drive import DriveGains
from bam_core.servo.model import load_servo
from bam_core.simulation.synthetic import finely_simulated

GAINS = DriveGains(kp=400)


@pytest.fixture(scope="module")
def priced() -> PricedDrive:
    """Return the XL330's drive after a short fit."""
    return fit_drive(load_servo("xl330"), GAINS, evaluations=25)


def test_the_fit_is_better_with_other_loads_too(priced: PricedDrive) -> None:
    assert priced.errors["fitted"] < 0.85 * priced.errors["nearest"]


def test_every_simplification_has_its_price(priced: PricedDrive) -> None:
    for name in ("no friction", "no back-EMF", "no armature", "action 20 ms late"):
        assert priced.errors[name] > 1.3 * priced.errors["fitted"], name


def test_the_price_is_the_distance_from_the_full_law(priced: PricedDrive) -> None:
    servo = load_servo("xl330")
    runs = [run for load in (0.1, 0.2) for run in standard_motions(servo, GAINS, load)]
    distances = [
        np.abs(drive_positions(priced.drive, run) - finely_simulated(servo, run, quantised=False)).mean()
        for run in runs
    ]
    assert priced.errors["fitted"] == pytest.approx(np.mean(distances))


def test_a_motion_without_torque_is_refused() -> None:
    servo = load_servo("xl330")
    (run, *_) = standard_motions(servo, GAINS)
    off = dataclasses.replace(run, torque_enabled=np.arange(len(run.time)) < 100)
    with pytest.raises(BadData) as refusal:
        fit_drive(servo, GAINS, [off], evaluations=1)
    assert run.name in str(refusal.value)


def test_motions_of_the_user_get_the_gains_of_the_export() -> None:
    servo = load_servo("xl330")
    (run, *_) = standard_motions(servo, DriveGains(kp=100))
    named = fit_drive(servo, GAINS, [run], evaluations=1)
    standard = fit_drive(servo, GAINS, standard_motions(servo, GAINS)[:1], evaluations=1)
    assert named.motions == (run.name,)
    assert named.fit_error == pytest.approx(standard.fit_error)
