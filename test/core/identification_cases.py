# SPDX-License-Identifier: Apache-2.0
"""Servos with known parameters and logs of them, shared by the tests of the identification."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import SynthesisSettings, synthesize

BENCH = PendulumBench(mass=1.0, arm_mass=0.05, length=0.15)

_COEFFICIENTS = {
    "viscous": 0.06,
    "coulomb": 0.08,
    "stribeck_coulomb": 0.05,
    "stribeck_velocity": 0.15,
    "stribeck_exponent": 1.0,
    "load": 0.1,
    "load_stribeck": 0.08,
    "load_motor": 0.15,
    "load_external": 0.08,
    "load_motor_stribeck": 0.1,
    "load_external_stribeck": 0.05,
    "quadratic_motor": 0.02,
    "quadratic_external": 0.01,
}


def mx106(model: str) -> ServoModel:
    """An MX-106 with made-up parameters and this friction model."""
    law = FRICTION_MODELS[model]
    return replace(
        load_servo("mx106"),
        motor=DcMotor(torque_constant=2.1, resistance=2.4, armature=0.022),
        friction_model=model,
        friction=law.friction({name: _COEFFICIENTS[name] for name in law.parameters}),
        integrator="midpoint",
    )


def record(servo: ServoModel, script: str, kp: float, bench: PendulumBench = BENCH) -> Recording:
    """One run as the bench would record it, encoder counts included."""
    return synthesize(
        servo, bench, script, kp, SynthesisSettings(sample_period=5e-3, supply_voltage=15.0, quantised=True)
    )


def session(servo: ServoModel) -> list[Recording]:
    """Four scripts, each soft with a heavy and stiff with a light load, and two runs with a gain between."""
    light = PendulumBench(mass=0.5, arm_mass=0.05, length=0.1)
    scripts = ("sin_time_square", "sin_sin", "up_and_down", "lift_and_drop")
    runs = [(script, kp, bench) for script in scripts for kp, bench in ((8.0, BENCH), (32.0, light))]
    between = [(script, 16.0, BENCH) for script in ("sin_sin", "sin_time_square")]
    return [record(servo, *run) for run in (*runs, *between)]


def xl330_logs() -> Path:
    """Twelve recordings of a simulated XL330; tools/make_recordings.py writes them."""
    return Path(__file__).parents[1] / "data" / "simulated_xl330"


def real_xl330_logs() -> Path:
    """The same runs of a real XL330, beside the repository; skips the test where they are not."""
    path = Path(__file__).parents[2].parent / "shared" / "data" / "xl330"
    if not path.is_dir():
        pytest.skip(f"no recordings of a real XL330 in {path}; the simulated ones were tested")
    return path


def leave_out_intervals(patch: pytest.MonkeyPatch) -> None:
    """Let `identify` end before diagnosis, variation and intervals: they take longer than a search, and have
    tests of their own."""
    for step in ("diagnosed", "with_variation", "estimated"):
        patch.setattr(f"bam_core.identification.stages.{step}", lambda fits, *_: iter(fits.items()))


def write_log(recording: Recording, path: Path) -> Path:
    """Write a recording as BAM's own recorder would."""
    entries = [
        {
            "timestamp": float(recording.time[k]),
            "position": float(recording.position[k]),
            "goal_position": float(recording.goal_position[k]),
            "torque_enable": bool(recording.torque_enabled[k]),
        }
        for k in range(len(recording))
    ]
    bench = recording.bench
    header = {
        "mass": bench.mass,
        "arm_mass": bench.arm_mass,
        "length": bench.length,
        "kp": recording.kp,
        "vin": recording.supply_voltage,
        "motor": recording.servo,
        "trajectory": recording.script,
    }
    path.write_text(json.dumps({**header, "entries": entries}))
    return path
