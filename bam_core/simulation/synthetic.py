# SPDX-License-Identifier: Apache-2.0
"""Recordings of a servo whose parameters are known: for tests, benchmarks and trials of an identification."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors.checks import require_positive
from bam_core.errors.field_types import require_field_types
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import script as find_script
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings

FINE_SUBSTEP = 2e-5
"""s; the integrator at this step is within 0.1 mrad of its limit on all servos and scripts."""


@dataclass(frozen=True, kw_only=True)
class SynthesisSettings:
    """Settings of `synthesize`: how the run is recorded, and on which bench.

    Attributes:
        sample_period: between samples, s.
        supply_voltage: V; None: the servo's nominal one.
        released_from: rad; if given, torque stays off and the arm swings freely from rest there. None: it
            starts at rest where the script starts.
        quantised: round positions to whole encoder counts.
        demand_limit: largest duty, or current in A, that the settings allow; infinite: its firmware's.
        bench_effects: of the bench that records.
    """

    sample_period: float = 2e-3
    supply_voltage: float | None = None
    released_from: float | None = None
    quantised: bool = False
    demand_limit: float = math.inf
    bench_effects: BenchEffects = IDEAL_BENCH

    def __post_init__(self) -> None:
        require_field_types(self)
        require_positive("synthesis", sample_period=self.sample_period)


DEFAULT_SETTINGS = SynthesisSettings()
"""Of `synthesize`."""


def synthesize(
    servo: ServoLike,
    bench: PendulumBench,
    script: str,
    kp: float,
    settings: SynthesisSettings = DEFAULT_SETTINGS,
) -> Recording:
    """Record a simulated run of a trajectory script.

    Args:
        servo: the servo, whose controller runs at its firmware's period.
        bench: pendulum it carries.
        script: name in `trajectories.SCRIPTS`.
        kp: position gain, firmware units.
        settings: how it is recorded, and on which bench.

    Returns:
        A recording without noise whose velocity, temperature and duty are unknown.

    Raises:
        BamError: unknown script, or a value out of range.
    """
    servo = load_servo(servo)
    at_rest = commanded(servo, bench, script, kp, settings)
    position = finely_simulated(servo, at_rest, settings.quantised, settings.bench_effects)
    return dataclasses.replace(at_rest, position=position)


def finely_simulated(
    servo: ServoModel, at_rest: Recording, quantised: bool, bench_effects: BenchEffects = IDEAL_BENCH
) -> Array:
    """Return the positions (n,) rad of a recording's servo, from where the recording has it."""
    period = servo.firmware.period
    fine = Rollout(
        [at_rest],
        servo.firmware,
        RolloutSettings(
            dt=period,
            substeps=round(period / FINE_SUBSTEP),
            quadratic_rule=servo.friction.quadratic_rule,
            restart=math.inf,
        ),
    )
    position = fine.positions(parameter_vector(servo, bench_effects))[0]
    if quantised:
        resolution = servo.firmware.resolution
        position = np.round(position / resolution) * resolution
    return position


def commanded(
    servo: ServoModel,
    bench: PendulumBench,
    script: str,
    kp: float,
    settings: SynthesisSettings = DEFAULT_SETTINGS,
) -> Recording:
    """Return what `synthesize` commands: the same recording of an arm that stays where it starts.

    Raises:
        BamError: unknown script, or a value out of range.
    """
    trajectory = find_script(script)
    sample_period, released_from = settings.sample_period, settings.released_from
    samples = round(trajectory.duration / sample_period) + 1
    time = np.linspace(0.0, (samples - 1) * sample_period, samples)
    goal, enabled = trajectory(time)
    unknown = np.full(len(time), np.nan)
    start = float(goal[0]) if released_from is None else released_from
    supply_voltage = settings.supply_voltage
    if supply_voltage is None:
        supply_voltage = servo.nominal_voltage
    name = f"{servo.name}_{script}_kp{kp:g}_{bench.mass:g}kg_{bench.length:g}m"
    return Recording(
        name=name,
        source=Path("synthetic") / name,
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        servo=servo.name,
        bench=bench,
        kp=kp,
        supply_voltage=supply_voltage,
        script=script,
        demand_limit=settings.demand_limit,
        time=time,
        position=np.full(len(time), start),
        velocity=unknown,
        goal_position=goal,
        torque_enabled=enabled & (released_from is None),
        voltage=unknown,
        temperature=unknown,
        duty=unknown,
    )
