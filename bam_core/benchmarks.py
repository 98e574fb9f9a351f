# SPDX-License-Identifier: Apache-2.0
"""How fast the ROS-free part is: rollouts of the identification, steps of the simulation.

Times on shared machines drift, so every figure is the median of several repeats, and figures that are
compared with each other are taken in turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TypeVar

import mujoco
import numpy as np

from bam_core.friction import FRICTION_MODELS
from bam_core.mujoco import BENCH_JOINT, ServoActuation, bench_spec, compile_robot, equip
from bam_core.pendulum import PendulumBench
from bam_core.rollout import PARAMETERS, Rollout, available_processors, parameter_vector
from bam_core.servo_model import ServoModel, load_servo
from bam_core.synthetic import synthesize

_Key = TypeVar("_Key")

LOGS = 100
STEPS = 1200
LOG_DT = 5e-3
CANDIDATES = 20


def rollout_times(repeats: int = 7) -> dict[str, float]:
    """Return ms per evaluation (one candidate on 100 logs of 1200 steps) for M1 to M6.

    A generation of 20 candidates is evaluated by one call, as an identification does it.
    """
    servo = load_servo("mx106")
    rollout = _rollout(servo, LOGS)
    work = {name: partial(rollout.errors, _candidates(servo, name, CANDIDATES)) for name in FRICTION_MODELS}
    return {name: seconds / CANDIDATES * 1e3 for name, seconds in _medians(work, repeats).items()}


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """What a step of M6 costs in one call of a rollout.

    Attributes:
        logs: of 1200 steps each.
        candidates: beside each other.
        workers: threads.
        ns_per_step: wall time per log, candidate and step, times the threads.
    """

    logs: int
    candidates: int
    workers: int
    ns_per_step: float


def rollout_scaling(repeats: int = 5) -> list[Scaling]:
    """Return how the cost of a step changes with logs, candidates and processors."""
    servo = load_servo("mx106")
    processors = available_processors()
    cases = [(LOGS, n, 1) for n in (1, 5, 20)] + [(n, CANDIDATES, 1) for n in (1, 8, 25)]
    cases += [(LOGS, CANDIDATES, n) for n in sorted({2, processors}) if 1 < n <= processors]
    work = {
        case: partial(_rollout(servo, case[0], workers=case[2]).errors, _candidates(servo, "m6", case[1]))
        for case in cases
    }
    return [
        Scaling(
            logs=logs,
            candidates=candidates,
            workers=workers,
            ns_per_step=seconds * workers / (logs * candidates * STEPS) * 1e9,
        )
        for (logs, candidates, workers), seconds in _medians(work, repeats).items()
    ]


def _rollout(servo: ServoModel, logs: int, workers: int | None = None) -> Rollout:
    runs = [
        synthesize(
            servo, PendulumBench(mass=mass, arm_mass=0.05, length=length), script, kp, sample_period=LOG_DT
        )
        for mass in (0.5, 1.5)
        for length in (0.1, 0.2)
        for kp in (8.0, 32.0)
        for script in ("sin_time_square", "sin_sin", "up_and_down", "lift_and_drop")
    ]
    recordings = [runs[i % len(runs)] for i in range(logs)]
    return Rollout(recordings, firmware=servo.firmware, dt=LOG_DT, workers=workers)


def mujoco_rates(steps: int = 20_000, repeats: int = 5) -> dict[str, float]:
    """Return steps per second of a pendulum: bare `mj_step`, and with servo and friction from Python."""
    servo = load_servo("mx106")
    spec = bench_spec(PendulumBench(mass=1.0, arm_mass=0.0, length=0.15), timestep=1e-3)
    bare_model = spec.compile()
    bare_data = mujoco.MjData(bare_model)
    equip(spec, {BENCH_JOINT: servo})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    actuation = ServoActuation(model, data, {BENCH_JOINT: servo})
    actuation.torque_enabled[:] = 1
    actuation.goal_position[:] = 1.0

    def bare() -> None:
        for _ in range(steps):
            mujoco.mj_step(bare_model, bare_data)

    def python() -> None:
        for _ in range(steps):
            actuation.step()

    return _rates({"bare": bare, "python": python}, steps, repeats)


def _candidates(servo: ServoModel, model: str, count: int) -> np.ndarray:
    coefficients = servo.friction.coefficients()
    free = FRICTION_MODELS[model].parameters
    values = {
        "load": coefficients["load_motor"],
        "load_stribeck": coefficients["load_motor_stribeck"],
        **coefficients,
    }
    friction = FRICTION_MODELS[model].friction({name: values[name] or 0.01 for name in free})
    vector = parameter_vector(servo)
    for name, value in friction.coefficients().items():
        vector[PARAMETERS.index(name)] = value
    return np.asarray(vector * np.random.default_rng(0).uniform(0.9, 1.1, (count, len(vector))))


def _medians(work: Mapping[_Key, Callable[[], object]], repeats: int) -> dict[_Key, float]:
    """Return the median seconds of each piece of work, done in turn; the first time does not count."""
    for run in work.values():
        run()
    times: dict[_Key, list[float]] = {key: [] for key in work}
    for _ in range(repeats):
        for key, run in work.items():
            times[key].append(_seconds(run))
    return {key: median(samples) for key, samples in times.items()}


def _rates(work: Mapping[str, Callable[[], None]], steps: int, repeats: int) -> dict[str, float]:
    for run in work.values():
        run()
    rates: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, run in work.items():
            rates[name].append(steps / _seconds(run))
    return {name: median(samples) for name, samples in rates.items()}


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
