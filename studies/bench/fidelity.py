# SPDX-License-Identifier: Apache-2.0
"""How close MuJoCo with our servos comes to the equations of motion, beside BAM's Algorithm 1 as printed.

A pendulum bench follows the four scripts. The equations are those of servo and bench with a firmware that
renews its demand once per period of its own, whatever the time step of a simulation. The truth is their
solution with steps so short that others half as long would change next to nothing (`Fidelity.truth_error`);
the variants of Algorithm 1 have the same limit. Three simulations are held against it: the engine plugin,
`ServoActuation`, and Algorithm 1, whose controller runs once per time step with the mean goal of that step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.mujoco.replay import recorded_commands, simulate_recording
from bam_core.mujoco.robot import compile_robot
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, commanded

TIME_STEPS = (1e-3, 2e-3, 5e-3)
"""s."""

BENCHES: Mapping[str, tuple[PendulumBench, float]] = MappingProxyType(
    {
        "mx64": (PendulumBench(mass=1.0, length=0.15), 16.0),
        "mx106": (PendulumBench(mass=1.0, length=0.15), 16.0),
        "erob80_100": (PendulumBench(mass=8.2, length=0.5), 50.0),
        "xl330_bam": (PendulumBench(mass=0.49, length=0.1), 200.0),
    }
)
"""Servos with M6 friction of BAM's authors -> a load and a gain (kp) of their recordings."""

_SUBSTEPS = 200  # of the truth, per period of the firmware: 5 µs each
_COMMON = 10e-3  # s; every time step ends at its multiples, so nothing is interpolated


@dataclass(frozen=True, kw_only=True)
class Distance:
    """From the truth over a run, rad: root mean square, and largest."""

    rms: float
    highest: float

    @classmethod
    def between(cls, track: Array, truth: Array) -> Distance:
        """Return how far apart two tracks are."""
        gap = np.abs(track - truth)
        return cls(rms=float(np.sqrt(np.mean(gap**2))), highest=float(gap.max()))


@dataclass(frozen=True, kw_only=True)
class Fidelity:
    """One run with one time step.

    Attributes:
        servo: its name.
        script: name in `trajectories.SCRIPTS`.
        dt: time step, s.
        native: distance of the engine plugin.
        python: distance of `ServoActuation`.
        algorithm1: distance of BAM's Algorithm 1.
        disagreement: largest, between engine plugin and `ServoActuation`, rad.
        truth_error: how far the truth moved, at most, when its steps were halved, rad: of first order, so
            that it is about as far from the limit.
    """

    servo: str
    script: str
    dt: float
    native: Distance
    python: Distance
    algorithm1: Distance
    disagreement: float
    truth_error: float


def fidelity(
    servos: Sequence[str] = tuple(BENCHES), time_steps: Sequence[float] = TIME_STEPS
) -> list[Fidelity]:
    """Return how close the simulations come: by servo, script and time step."""
    return [
        replace(row, servo=name)
        for name in servos
        for row in servo_fidelity(load_servo(name), *BENCHES[name], time_steps)
    ]


def servo_fidelity(
    servo: ServoModel, bench: PendulumBench, kp: float, time_steps: Sequence[float] = TIME_STEPS
) -> list[Fidelity]:
    """Return the same of any servo whose arm is rigid, on any bench."""
    runs = [
        commanded(servo, bench, script, kp, SynthesisSettings(sample_period=servo.firmware.period))
        for script in SCRIPTS
    ]
    truths = _solved(servo, runs, servo.firmware.period, _SUBSTEPS)
    halved = _solved(servo, runs, servo.firmware.period, _SUBSTEPS // 2)
    rows = []
    for dt in time_steps:
        printed = _solved(servo, runs, dt, 1, "algorithm1")
        for run, truth, coarser, algorithm1 in zip(runs, truths, halved, printed, strict=True):
            native = _at_common_times(run, native_positions(servo, run, dt), dt)
            python = _at_common_times(run, simulate_recording(servo, run, dt=dt), servo.firmware.period)
            rows.append(
                Fidelity(
                    servo=servo.name,
                    script=run.script,
                    dt=dt,
                    native=Distance.between(native, truth),
                    python=Distance.between(python, truth),
                    algorithm1=Distance.between(algorithm1, truth),
                    disagreement=Distance.between(native, python).highest,
                    truth_error=Distance.between(coarser, truth).highest,
                )
            )
    return rows


def native_positions(servo: ServoModel, recording: Recording, dt: float) -> Array:
    """Return (n,) rad: the engine plugin's run with a recording's commands, from rest, one entry per step.

    Args:
        servo: with a rigid arm.
        recording: at a steady supply, starting where the arm hangs still.
        dt: time step, s.
    """
    told = recorded_commands(servo, recording, dt)
    spec = bench_spec(recording.bench, timestep=dt)
    supply = float(np.ravel(told.supply_voltage)[0])
    native = NativeServo(servo=servo, kp=recording.kp, supply_voltage=supply, has_torque_enable=True)
    equip_native(spec, {BENCH_JOINT: native})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    data.qpos[0] = told.position
    positions = np.empty(len(told.goal_position))
    for k, command in enumerate(zip(told.goal_position, told.torque_enabled, strict=True)):
        positions[k] = data.qpos[0]
        data.ctrl[:] = command
        mujoco.mj_step(model, data)
    return positions


def _solved(
    servo: ServoModel, runs: Sequence[Recording], dt: float, substeps: int, integrator: str = "midpoint"
) -> list[Array]:
    """Return positions at the common times."""
    rollout = Rollout(
        runs,
        servo.firmware,
        RolloutSettings(
            dt=dt, substeps=substeps, integrator=integrator, quadratic_rule=servo.friction.quadratic_rule
        ),
    )
    tracks = rollout.positions(parameter_vector(servo))
    return [
        _at_common_times(run, positions, servo.firmware.period)
        for run, positions in zip(runs, tracks, strict=True)
    ]


def _at_common_times(run: Recording, positions: Array, spacing: float) -> Array:
    count = int(run.duration / _COMMON + 0.5) + 1
    return positions[:: round(_COMMON / spacing)][:count]
