# SPDX-License-Identifier: Apache-2.0
"""Servo files as `bam identify` leaves them, and bundles of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core.exchange.bundle import bundle_servo
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.prediction_file import save_prediction
from bam_core.servo.bench_effects_file import save_bench_effects
from bam_core.servo.effects import BenchEffects
from bam_core.servo.model import Provenance, ServoModel
from test.core.identification_cases import mx106

NAME = "my_servo"
TRAINED = {"run_1": "1" * 64}
COUNT = 2.0 * np.pi / 4096.0  # rad, of the encoder


def identified(folder: Path, *, residual: float = COUNT / np.sqrt(12.0), **changes: object) -> Path:
    """Write a servo with draws and bench effects, and return its path.

    Args:
        folder: for the files.
        residual: of its draws, rad; what an encoder leaves.
        changes: of its fields.
    """
    servo: ServoModel = replace(
        mx106("m2"),
        name=NAME,
        provenance=Provenance(source="identified", software="bam_bench", train_mae=1e-3, train_data=TRAINED),
    )
    path = folder / "m2.yaml"
    replace(servo, **changes).save(path)  # type: ignore[arg-type]
    save_prediction(
        path,
        Prediction(
            ranges={"torque_constant": (1.0, 5.0), "resistance": (0.5, 10.0)},
            factor=np.diag([1e-4, 1e-4]),
            inflation=1.0,
            residual=residual,
            residual_alone=residual,
        ),
    )
    save_bench_effects(path, BenchEffects(zero_offset=0.01))
    return path


def bundle(folder: Path) -> Path:
    """Write a bundle and return its path."""
    path = folder / "my_servo.zip"
    bundle_servo(identified(folder), path, licence="CC-BY-4.0", data="https://example.org/runs")
    return path
