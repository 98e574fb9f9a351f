# SPDX-License-Identifier: Apache-2.0
"""A directory of an identification on the small arm, without the descent: its point is given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bam_core.robot import identification
from bam_core.robot.fit import RobotFit
from bam_core.robot.identification import identify_robot
from bam_core.robot.noise import Noise
from bam_core.robot.result import RobotTask
from bam_core.robot.settings import RobotIdentifySettings
from bam_core.robot.unknowns import Unknowns
from bam_core.robot.writing import write_robot_identification
from bam_core.servo.model import load_servo
from test.core.whole_robot_cases import JOINTS, bench, recorded, servos

TYPES = dict(zip(JOINTS, ("mx106", "mx64"), strict=True))
MODELS = ("m1", "m6")
TOLD, UNTOLD = 0.3, 0.9  # standard deviations after a fit, of those beforehand
NOISE = 2e-3  # rad


def fitted(unknowns: Unknowns, *, error: float = TOLD) -> RobotFit:
    """A fit that ends 5 ms later than it began, and tells every second unknown."""
    count = len(unknowns.names)
    point = np.zeros(count)
    point[unknowns.names.index("delay")] = 1.0
    errors = np.where(np.arange(count) % 2, UNTOLD, error)
    return RobotFit(
        unknowns=unknowns,
        point=point,
        covariance=np.diag(errors**2),
        standard_errors=errors,
        noise=Noise(scale=np.full(len(JOINTS), NOISE), independent=np.full(len(JOINTS), 0.1)),
    )


def identified_robot(directory: Path, *, error: float = TOLD, test: bool = True) -> Path:
    """Write such a directory: runs "run1" and "run2" fitted, "run3" the test."""
    truth = servos("m1")
    runs = [recorded(truth, seed=seed, duration=1.0) for seed in (1, 2, 3)]
    task = RobotTask(
        bench=bench(2e-3),
        types=TYPES,
        servos={name: load_servo(name) for name in TYPES.values()},
        joints=JOINTS,
        train=runs[:2],
        test=runs[2:] if test else [],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            identification,
            "fit_robot",
            lambda benches, train, joints, unknowns, **_: fitted(unknowns, error=error),
        )
        write_robot_identification(
            identify_robot(task, RobotIdentifySettings(models=MODELS)), directory, "arm <small>"
        )
    return directory
