# SPDX-License-Identifier: Apache-2.0
"""The servo file of a type, identified from bench recordings of units that no robot of the study has."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.writing import write_identification
from bam_core.servo.model import load_servo
from bam_core.servo.parameters import BENCH_EFFECTS
from studies.transfer.population import recordings_of_units
from studies.transfer.simulations import Known

_SEED = 11
_GAINS = (8.0, 16.0, 32.0)  # firmware units
_RUNS = 4  # of each unit


def identified(servo: str, folder: Path, *, units: int) -> Known:
    """Return what an identification of a type knows; one that is in the folder is read.

    Args:
        servo: the type, name in the library.
        folder: where files are.
        units: how many are recorded.

    Raises:
        BamError: files cannot be written or read.
    """
    if not (folder / "m6.yaml").exists():
        servo_type = load_servo(servo)
        random = np.random.default_rng(_SEED)
        recordings = recordings_of_units(servo_type, _GAINS, units=units, runs=_RUNS, random=random)
        effects = [name for name in servo_type.search.effects if name not in BENCH_EFFECTS]
        settings = IdentifySettings(models=["m1", "m6"], effects=effects, test="none", uncertainty=["m6"])
        write_identification(identify(recordings, servo_type, settings), folder)
    return Known.of(folder)
