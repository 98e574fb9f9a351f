# SPDX-License-Identifier: Apache-2.0
"""Servos and runs that several tests of the physics share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.friction import Friction, friction_model
from bam_core.servo.model import ServoModel
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from test.core.reference_simulation import ReferenceSimulation

BENCH = PendulumBench(mass=0.5, arm_mass=0.1, length=0.15)
M6 = {
    "viscous": 0.05,
    "coulomb": 0.04,
    "stribeck_coulomb": 0.12,
    "stribeck_velocity": 1.7,
    "stribeck_exponent": 1.3,
    "load_motor": 0.2,
    "load_external": 0.03,
    "load_motor_stribeck": 0.18,
    "load_external_stribeck": 0.09,
    "quadratic_motor": 0.05,
    "quadratic_external": 0.02,
}
TIED = {"load": 0.15, "load_stribeck": 0.1}


def law(model: str) -> Friction:
    """Friction of one of the six models with every one of its terms on."""
    free = friction_model(model)
    return free.friction({name: {**M6, **TIED}[name] for name in free.parameters})


def servo(friction: Friction | None = None, *, model: str = "m6", armature: float = 0.02) -> ServoModel:
    """Return a servo like an MX-106."""
    return ServoModel(
        name="test",
        title="test servo",
        manufacturer="none",
        protocol=1,
        firmware=FIRMWARES["mx-protocol1"],
        nominal_voltage=15.0,
        motor=DcMotor(torque_constant=2.2, resistance=2.0, armature=armature),
        friction_model=model,
        friction=law(model) if friction is None else friction,
    )


def run(
    time, goal, *, position=None, enabled=True, voltage=np.nan, kp=16.0, bench=BENCH, name="run"
) -> Recording:
    """Return a recording with these signals; scalars stand for constant signals."""
    n = len(time)
    unknown = np.full(n, np.nan)
    return Recording(
        name=name,
        source=Path("test") / name,
        sha256="",
        servo="test",
        bench=bench,
        kp=kp,
        supply_voltage=15.0,
        script="test",
        time=time,
        position=np.broadcast_to(0.0 if position is None else position, n),
        velocity=unknown,
        goal_position=np.broadcast_to(goal, n),
        torque_enabled=np.broadcast_to(enabled, n),
        voltage=np.broadcast_to(voltage, n),
        temperature=unknown,
        duty=unknown,
    )


def random_run(seed: int, dt: float, samples: int = 300) -> Recording:
    """Return a run of steps and ramps with a sagging supply and torque that goes off for a while."""
    rng = np.random.default_rng(seed)
    time = np.arange(samples) * dt
    corners = np.sort(rng.uniform(0.0, time[-1], 6))
    goal = np.interp(time, corners, rng.uniform(-2.0, 2.0, 6)) + 0.3 * np.sign(
        np.sin(rng.uniform(3, 20) * time)
    )
    enabled = (time < corners[3]) | (time > corners[4])
    bench = PendulumBench(
        mass=rng.uniform(0.2, 1.5), arm_mass=rng.uniform(0.0, 0.3), length=rng.uniform(0.08, 0.25)
    )
    return run(
        time,
        goal,
        position=rng.uniform(-1.0, 1.0) + 0.1 * np.sin(3.0 * time),
        enabled=enabled,
        voltage=rng.uniform(11.0, 15.0, samples),
        kp=rng.choice([4.0, 8.0, 16.0, 32.0]),
        bench=bench,
        name=f"random{seed}",
    )


def reference_positions(rollout, model, recording, index, substeps, bench_effects=IDEAL_BENCH):
    """Simulate a recording of a rollout in plain Python, (samples,) rad."""
    sim = ReferenceSimulation(
        firmware=model.firmware,
        motor=model.motor,
        friction=model.friction,
        bench=recording.bench,
        kp=recording.kp,
        kd=recording.kd,
        ki=recording.ki,
        integrator=model.integrator,
        bench_effects=bench_effects,
        servo_effects=model.servo_effects,
        case_temperature_rise=float(rollout.packed.logs.case_temperature_rise[rollout.packed.lanes[index]]),
        open_loop=recording.open_loop,
    )
    packed = rollout.packed
    lane = packed.lanes[index]
    goal, supply, enabled, _ = packed.signals[: len(recording), :, lane].T
    start, velocity = packed.logs.position[lane], packed.logs.velocity[lane]
    return sim.run(
        sim.at_rest(start, velocity, dt=rollout.dt / substeps),
        goal=goal,
        supply=supply,
        enabled=enabled,
        dt=rollout.dt,
        substeps=substeps,
        renewal=rollout.stepping.renewal,
        lead=rollout.stepping.lead,
        slew_share=rollout.stepping.slew_share,
        integral=float(packed.logs.integral[lane]),
    )[0]
