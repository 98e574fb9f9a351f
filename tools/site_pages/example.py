# SPDX-License-Identifier: Apache-2.0
"""The identification that pictures and film of the site show, and its report.

`python -m site_pages.example DIRECTORY`. It is of a simulated servo that the fit does not know: no recording
of a real one is needed, and it comes out the same everywhere.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core import (
    IdentifySettings,
    PendulumBench,
    Recording,
    ServoModel,
    SynthesisSettings,
    identify,
    load_results,
    load_servo,
    synthesize,
    write_identification,
    write_report,
)
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.data_sheet import DataSheet, servo_from_data_sheet

SERVO = "mx106"
LOADS = ((0.5, 0.15), (1.0, 0.2))  # kg, m
GAINS, TEST_GAIN = (4.0, 16.0, 32.0), 8.0
SPREAD = 0.2  # by which a specimen differs from the library's servo, uniformly, up and down
SEED = 7
SAMPLE_PERIOD = 0.01  # s, as BAM's recorder
DIRECTORY = Path(__file__).resolve().parents[2] / "build" / "example"
REPORT = "report.html"


def main(argv: Sequence[str] | None = None) -> int:
    """Identify, and write the results and their report."""
    (name,) = sys.argv[1:] if argv is None else argv
    hidden = specimen()
    training = [recorded(hidden, script, load, kp) for script in SCRIPTS for load in LOADS for kp in GAINS]
    result = identify(
        training,
        data_sheet_servo(),
        IdentifySettings(models=["m1", "m4"], test=list(test_runs().values()), effects=[]),
    )
    write_identification(result, name)
    write_report(load_results(name), Path(name) / REPORT)
    return 0


def made() -> Path:
    """Return the directory of the results; where there are none yet, make them."""
    if not (DIRECTORY / REPORT).exists():
        DIRECTORY.parent.mkdir(exist_ok=True)
        main([str(DIRECTORY)])
    return DIRECTORY


def specimen() -> ServoModel:
    """Return the servo that is recorded: the library's, every parameter off by up to SPREAD."""
    servo, draw = load_servo(SERVO), np.random.default_rng(SEED)

    def off(value: float) -> float:
        return float(value * (1.0 + draw.uniform(-SPREAD, SPREAD)))

    motor = {name: off(getattr(servo.motor, name)) for name in ("torque_constant", "resistance", "armature")}
    friction = {name: off(value) for name, value in servo.friction.coefficients().items()}
    return replace(servo, motor=replace(servo.motor, **motor), friction=replace(servo.friction, **friction))


def data_sheet_servo() -> ServoModel:
    """Return an MX-106 as its data sheet describes it at 14.8 V, with the law of its firmware."""
    sheet = DataSheet(
        voltage=14.8, stall_torque=10.0, stall_current=6.3, no_load_speed=55.0 * 2.0 * math.pi / 60.0
    )
    return servo_from_data_sheet(SERVO, sheet, load_servo(SERVO).firmware)


def test_runs() -> dict[tuple[str, tuple[float, float]], Recording]:
    """Return the runs at the gain that takes no part in the fit, by script and load."""
    hidden = specimen()
    return {(script, load): recorded(hidden, script, load, TEST_GAIN) for script in SCRIPTS for load in LOADS}


def recorded(servo: ServoModel, script: str, load: tuple[float, float], kp: float) -> Recording:
    """A run as a bench records it: positions in whole encoder counts."""
    bench = PendulumBench(mass=load[0], length=load[1])
    return synthesize(
        servo, bench, script, kp, SynthesisSettings(sample_period=SAMPLE_PERIOD, quantised=True)
    )


if __name__ == "__main__":
    sys.exit(main())
