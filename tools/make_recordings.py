# SPDX-License-Identifier: Apache-2.0
"""Write test/data/simulated_xl330: twelve runs of a simulated XL330, which the tests of `bam_core` read.

They are the runs of the real XL330 that BAM's authors published, 0.49 kg at 0.1 m with three gains and four
scripts, and have their form. Nothing of those recordings is in them: the servo of the library is simulated.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core.exchange import bam_log
from bam_core.recordings.json_log import FULL_DUTY_COUNTS
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo
from bam_core.servo.motor import REFERENCE_TEMPERATURE
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import SynthesisSettings, synthesize

DIRECTORY = Path(__file__).resolve().parents[1] / "test" / "data" / "simulated_xl330"
SERVO = load_servo("xl330")
BENCH = PendulumBench(mass=0.49, length=0.1)
GAINS = (100.0, 200.0, 800.0)
VOLTAGE = 7.3  # V, measured; the nominal one is another, as on the bench
PERIOD = 2e-3  # s, of the simulation; the velocity is taken from it,
EVERY = 10  # and so many of its samples make one of the log: the files stay small
DIGITS = 6  # of what is written


def record(script: str, kp: float) -> Recording:
    """Return one run with all that the servo measures."""
    run = synthesize(
        SERVO, BENCH, script, kp, SynthesisSettings(sample_period=PERIOD, supply_voltage=VOLTAGE)
    )
    firmware, full, size = SERVO.firmware, FULL_DUTY_COUNTS[SERVO.name], len(run)
    position = np.round(run.position / firmware.resolution) * firmware.resolution
    duty = firmware.duty(kp, run.goal_position - position) * run.torque_enabled
    channels = {
        "time": run.time,
        "position": position,
        "velocity": np.gradient(run.position, run.time),
        "goal_position": run.goal_position,
        "torque_enabled": run.torque_enabled,
        "voltage": np.full(size, VOLTAGE),
        "temperature": np.full(size, REFERENCE_TEMPERATURE),
        "duty": np.round(full * duty) / full,
    }
    thinned = {name: values[::EVERY] for name, values in channels.items()}
    for name in ("time", "position", "velocity", "goal_position"):
        thinned[name] = np.round(thinned[name], DIGITS)
    return replace(run, supply_voltage=SERVO.nominal_voltage, **thinned)


def main() -> None:
    """Write the twelve."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for kp in GAINS:
        for script in SCRIPTS:
            text = json.dumps(bam_log(record(script, kp)), allow_nan=False, separators=(",", ":"))
            (DIRECTORY / f"kp{kp:g}_{script}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
