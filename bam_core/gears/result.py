# SPDX-License-Identifier: Apache-2.0
"""The servo that an identification of its gear leads to, as a file that simulations take."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timezone

from bam_core.gears.identification import GearFit
from bam_core.identification.data.split import Split
from bam_core.identification.software import package_versions, software
from bam_core.servo.effects import ServoEffects
from bam_core.servo.friction import friction_model
from bam_core.servo.model import Provenance, ServoModel
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import BENCH_EFFECTS, GEAR_FRICTION, MOTOR_PARAMETERS


def fitted_servo(fit: GearFit, known: ServoModel, split: Split, test_mae: float) -> ServoModel:
    """Return the servo that was fitted.

    Args:
        fit: what was found.
        known: the servo that was recorded: name, firmware, supply and search bounds.
        split: the recordings.
        test_mae: mean absolute position error on those held out, rad.
    """
    parameters, model = fit.parameters, friction_model(GEAR_FRICTION[-1])
    free = tuple(name for name in BENCH_EFFECTS if name in fit.standard_errors)
    errors = {
        name: error
        for name, error in fit.standard_errors.items()
        if math.isfinite(error) and name not in BENCH_EFFECTS
    }
    return replace(
        known,
        motor=DcMotor(**{name: parameters[name] for name in MOTOR_PARAMETERS}),
        friction_model=model.name,
        friction=model.friction({name: parameters[name] for name in model.parameters}),
        gear=fit.asymmetry,
        integrator="midpoint",
        search=replace(known.search, effects=free),
        servo_effects=ServoEffects(),
        uncertainty=errors,
        provenance=Provenance(
            source=f"gear identified from {len(split.train)} recordings (test {split.rule})",
            method="least squares, then CMA-ES",
            seed=fit.seed,
            trials=fit.budget,
            trials_used=fit.trials,
            software=software(),
            packages=package_versions(),
            date=datetime.now(timezone.utc).date().isoformat(),
            train_mae=fit.train_mae,
            test_mae=test_mae,
            train_data={log.name: log.sha256 for log in split.train},
            test_data={log.name: log.sha256 for log in split.test},
        ),
    )
