# SPDX-License-Identifier: Apache-2.0
"""A pendulum bench with physics that no model of the suite has; written for tests, on its own.

Semi-implicit Euler at 20 µs, friction as a bristle (LuGre) or as a set-valued force that can stop the motion;
nothing of the suite's kernel is in it. Recordings are as a bench makes them: positions rounded to counts,
samples early or late, arms that start a little off.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import GRAVITY, PendulumBench

SERVO = "mx106"
STEP = 2e-5  # s
PERIOD = 1e-3  # s; of the firmware
SAMPLE = 5e-3  # s
JITTER = 2e-4  # s
START = 0.02  # rad; spread of where arms rest


class Truth(NamedTuple):
    """Motor, friction (N·m, rad/s) and what is beyond the models; off at zero."""

    torque_constant: float = 2.0
    resistance: float = 2.2
    armature: float = 0.02
    viscous: float = 0.06
    coulomb: float = 0.08
    stribeck: float = 0.07
    stribeck_velocity: float = 0.8
    load: float = 0.12
    asymmetry: float = 0.0  # share of dry friction, more in one direction, less in the other
    harmonic: float = 0.0  # per turn
    ripple: float = 0.0  # N·m
    second_ripple: float = 0.0  # N·m at twice the harmonic
    presliding: float = 0.0  # rad over which bristles bend; LuGre
    compliance: float = 0.0  # rad/(N·m) between encoder and arm
    drift: float = 0.0  # share of dry friction that is gone at the end of a run
    dead_band: float = 0.0  # rad
    slew: float = 0.0  # rad/s of the goal


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Runs of a session."""

    loads: tuple[PendulumBench, ...] = (
        PendulumBench(mass=0.8, length=0.15, arm_mass=0.03),
        PendulumBench(mass=1.4, length=0.20, arm_mass=0.04),
    )
    gains: tuple[float, ...] = (8.0, 32.0)
    scripts: tuple[str, ...] = tuple(SCRIPTS)


def record(truth: Truth, bench: Bench | None = None, *, seed: int = 0) -> list[Recording]:
    """Record a session."""
    bench = bench or Bench()
    random = np.random.default_rng(seed)
    return [
        _record(truth, load, kp, script, random)
        for load in bench.loads
        for kp in bench.gains
        for script in bench.scripts
    ]


def with_other_headers(recordings: list[Recording], change) -> list[Recording]:
    """Write other benches into headers: `change` maps one to another."""
    return [replace(each, bench=change(each.bench)) for each in recordings]


def _record(truth: Truth, load: PendulumBench, kp: float, name: str, random) -> Recording:
    servo = load_servo(SERVO)
    script = SCRIPTS[name]
    time = np.arange(0.0, script.duration, SAMPLE)
    taken = np.clip(time + random.normal(0.0, JITTER, len(time)), 0.0, script.duration)
    grid = np.arange(0.0, script.duration + PERIOD, PERIOD)
    goal, enabled = script(SAMPLE * np.floor(grid / SAMPLE + 1e-6))  # held from sample to sample
    fine = _simulate(
        goal,
        enabled.astype(np.float64),
        float(servo.firmware.gains(kp)[0]),
        servo.firmware.demand_limit,
        servo.nominal_voltage,
        load.inertia,
        (load.mass + 0.5 * load.arm_mass) * GRAVITY * load.length,
        random.normal(0.0, START),
        truth,
    )
    count = servo.firmware.resolution
    position = np.interp(taken, np.arange(len(fine)) * PERIOD, fine)
    goals, on = script(time)
    label = f"{load.mass:g}kg_kp{kp:g}_{name}"
    unknown = np.full(len(time), np.nan)
    return Recording(
        name=label,
        source=Path("other physics") / label,
        sha256=hashlib.sha256(f"{label}{truth}{random.random()}".encode()).hexdigest(),
        servo=SERVO,
        bench=load,
        kp=kp,
        supply_voltage=servo.nominal_voltage,
        script=name,
        time=time,
        position=np.round(position / count) * count,
        velocity=unknown,
        goal_position=goals,
        torque_enabled=on,
        voltage=unknown,
        temperature=unknown,
        duty=unknown,
    )


@numba.njit(cache=False)
def _simulate(goals, enabled, gain, limit, supply, arm_inertia, weight, start, truth):
    """Return positions once per period, rad."""
    substeps = round(PERIOD / STEP)
    found = np.empty(len(goals))
    position, velocity, strain = start, 0.0, 0.0
    arm, arm_velocity = start - truth.compliance * weight * math.sin(start), 0.0
    slewed = goals[0]
    spring = 1.0 / truth.compliance if truth.compliance > 0.0 else 0.0
    ring = 2.0 * 0.05 * math.sqrt(spring * arm_inertia)
    inertia = truth.armature + (0.0 if spring > 0.0 else arm_inertia)
    for k in range(len(goals)):
        found[k] = position
        goal = goals[k]
        if truth.slew > 0.0:
            slewed += min(max(goal - slewed, -truth.slew * PERIOD), truth.slew * PERIOD)
            goal = slewed
        error = goal - position
        if abs(error) < truth.dead_band:
            error = 0.0
        duty = min(max(gain * error, -limit), limit)
        warm = 1.0 - truth.drift * k / len(goals)
        for _ in range(substeps):
            motor = 0.0
            if enabled[k] > 0.0:
                current = (duty * supply - truth.torque_constant * velocity) / truth.resistance
                motor = truth.torque_constant * current
            motor += truth.ripple * math.sin(truth.harmonic * position + 0.7)
            motor += truth.second_ripple * math.sin(2.0 * truth.harmonic * position + 1.9)
            if spring > 0.0:
                pull = spring * (position - arm) + ring * (velocity - arm_velocity)
                arm_velocity += (pull - weight * math.sin(arm)) / arm_inertia * STEP
                arm += arm_velocity * STEP
                outer = -pull
            else:
                outer = -weight * math.sin(position)
            speed = abs(velocity)
            dry = truth.coulomb + truth.load * abs(motor - outer)
            dry += truth.stribeck * math.exp(-speed / truth.stribeck_velocity)
            sign = 1.0 if velocity > 0.0 else -1.0
            dry *= warm * (1.0 + truth.asymmetry * (sign if speed > 0.0 else 0.0))
            if truth.presliding > 0.0:
                stiffness = dry / truth.presliding
                rate = velocity - speed * strain / truth.presliding
                damping = 0.5 * math.sqrt(stiffness * inertia) * math.exp(-(velocity**2) / 0.01)
                friction = -(stiffness * strain + damping * rate + truth.viscous * velocity)
                strain += rate * STEP
                velocity += (motor + outer + friction) / inertia * STEP
            else:
                free = velocity + (motor + outer - truth.viscous * velocity) / inertia * STEP
                budget = dry / inertia * STEP
                velocity = free - min(max(free, -budget), budget)
            position += velocity * STEP
    return found
