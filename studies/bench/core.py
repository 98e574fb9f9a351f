# SPDX-License-Identifier: Apache-2.0
"""How fast the ROS-free part is: rollouts of the identification, steps of the simulation.

Times on shared machines drift, so every figure is the median of several repeats, and figures that are
compared with each other are taken in turn.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TypeVar

import mujoco
import mujoco.rollout
import numpy as np

from bam_core.identification.search.problem import TrainingData
from bam_core.mujoco import ServoActuation, compile_robot, equip
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from bam_core.simulation.threads import available_processors

_Key = TypeVar("_Key")

LOGS = 100
STEPS = 1200
LOG_DT = 5e-3
CANDIDATES = 20
_FINE = 32  # steps per period of the firmware, whose motion stands for the limit


def help_time(repeats: int = 7) -> float:
    """Return ms that ``bam --help`` takes as a process of its own."""
    command = [sys.executable, "-m", "bam_core.cli", "--help"]

    def ask() -> None:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    return _medians({"help": ask}, repeats)["help"] * 1e3


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


@dataclass(frozen=True, kw_only=True)
class IdentificationStep:
    """What an evaluation of M6 on 100 logs of 6 s costs as an identification simulates them.

    Attributes:
        simulation: "search" and its "draft"; "rollout", by which errors are told; and "period", two steps in
            every period of the firmware, with which `bam validate` simulates.
        step: s, from one demand of the firmware to the next.
        ms_per_evaluation: of one candidate among a generation.
        distance: from the motion with steps that are short enough, mean, rad.
    """

    simulation: str
    step: float
    ms_per_evaluation: float
    distance: float


def identification_times(repeats: int = 7, logs: int = LOGS) -> list[IdentificationStep]:
    """Return the cost of evaluations as an identification makes them, and how exact they are."""
    servo = load_servo("mx106")
    data = TrainingData(_recordings(servo, logs), servo.firmware)
    rollouts = {
        "draft": data.draft,
        "search": data.search,
        "rollout": data.rollout,
        "period": Rollout(data.recordings, firmware=servo.firmware),
    }
    candidates = _candidates(servo, "m6", CANDIDATES)
    work = {name: partial(rollout.errors, candidates) for name, rollout in rollouts.items()}
    times = _medians(work, repeats)
    limit = Rollout(data.recordings, servo.firmware, RolloutSettings(substeps=_FINE))
    wanted = np.concatenate(limit.positions(candidates[0]))
    return [
        IdentificationStep(
            simulation=name,
            step=rollout.dt,
            ms_per_evaluation=times[name] / CANDIDATES * 1e3,
            distance=float(np.abs(np.concatenate(rollout.positions(candidates[0])) - wanted).mean()),
        )
        for name, rollout in rollouts.items()
    ]


def _rollout(servo: ServoModel, logs: int, workers: int | None = None) -> Rollout:
    return Rollout(_recordings(servo, logs), servo.firmware, RolloutSettings(dt=LOG_DT, workers=workers))


def _recordings(servo: ServoModel, logs: int) -> list[Recording]:
    runs = [
        synthesize(
            servo,
            PendulumBench(mass=mass, arm_mass=0.05, length=length),
            script,
            kp,
            SynthesisSettings(sample_period=LOG_DT),
        )
        for mass in (0.5, 1.5)
        for length in (0.1, 0.2)
        for kp in (8.0, 32.0)
        for script in ("sin_time_square", "sin_sin", "up_and_down", "lift_and_drop")
    ]
    return [runs[i % len(runs)] for i in range(logs)]


SERVO_COUNTS = (1, 2, 12)
"""Sizes of the robots that MuJoCo is timed with."""


def mujoco_rates(steps: int = 10_000, repeats: int = 5) -> dict[int, dict[str, float]]:
    """Return steps per second of chains of servos in MuJoCo, by the number of servos.

    All are called from Python once per step. "frictionless" is the chain without servos, "bare" has MuJoCo's
    own position actuators, damping and frictionloss, "native" our engine plugin, "python" `ServoActuation`.
    """
    return {count: _mujoco_rates(count, steps, repeats) for count in SERVO_COUNTS}


def _mujoco_rates(count: int, steps: int, repeats: int) -> dict[str, float]:
    servos = dict.fromkeys((f"j{i}" for i in range(count)), load_servo("mx106"))
    models = {"frictionless": _chain(count).compile()}
    plain, native, python = (_chain(count) for _ in range(3))
    equip(plain, servos)
    for joint in servos:
        plain.joint(joint).damping = np.full_like(plain.joint(joint).damping, 0.1)
        actuator = plain.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=20.0)
    models["bare"] = compile_robot(plain)
    equip_native(native, {joint: NativeServo(servo=servo) for joint, servo in servos.items()})
    models["native"] = compile_robot(native)
    work: dict[str, Callable[[], None]] = {}
    for name, model in models.items():
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.3
        work[name] = partial(_step, model, data, steps)
    equip(python, servos)
    model = compile_robot(python)
    actuation = ServoActuation(model, mujoco.MjData(model), servos)
    actuation.torque_enabled[:], actuation.goal_position[:] = 1.0, 0.3

    def from_python() -> None:
        for _ in range(steps):
            actuation.step()

    return _rates({**work, "python": from_python}, steps, repeats)


SIMULATIONS = 32
"""Side by side in one call of MuJoCo's rollout."""


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """What MuJoCo's rollout makes of the engine plugin.

    Attributes:
        servos: in the chain.
        threads: of the rollout.
        steps_per_second: of all simulations together.
        speedup: over one thread.
    """

    servos: int
    threads: int
    steps_per_second: float
    speedup: float


def mujoco_throughput(steps: int = 2000, repeats: int = 5) -> list[Throughput]:
    """Return how `mujoco.rollout` scales with threads, on chains of servos that the engine plugin drives."""
    threads = sorted({1, 2, available_processors()})
    work = {(n, count): _rollout_of_chains(n, count, steps) for n in SERVO_COUNTS for count in threads}
    seconds = _medians(work, repeats)
    return [
        Throughput(
            servos=servos,
            threads=count,
            steps_per_second=SIMULATIONS * (steps // servos) / taken,
            speedup=seconds[servos, 1] / taken,
        )
        for (servos, count), taken in seconds.items()
    ]


def _rollout_of_chains(servos: int, threads: int, steps: int) -> Callable[[], object]:
    spec = _chain(servos)
    equip_native(spec, {f"j{i}": NativeServo(servo=load_servo("mx106")) for i in range(servos)})
    model = compile_robot(spec)
    data = [mujoco.MjData(model) for _ in range(threads)]
    physics = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(model, physics))
    mujoco.mj_getState(model, data[0], start, physics)
    goals = np.full((SIMULATIONS, steps // servos, servos), 0.3)
    return partial(mujoco.rollout.rollout, model, data, np.tile(start, (SIMULATIONS, 1)), goals)


def _step(model: mujoco.MjModel, data: mujoco.MjData, steps: int) -> None:
    for _ in range(steps):
        mujoco.mj_step(model, data)


def _chain(count: int) -> mujoco.MjSpec:
    """Return links that hang from one another, on hinges j0, j1, ... whose axes alternate."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 1e-3
    parent, length = spec.worldbody, 0.3 / count
    for i in range(count):
        parent = parent.add_body(pos=[0.0, 0.0, -length if i else 0.0])
        axis = [1.0, 0.0, 0.0] if i % 2 == 0 else [0.0, 1.0, 0.0]
        parent.add_joint(name=f"j{i}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
        parent.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            size=[0.01, 0.4 * length, 0.0],
            pos=[0.0, 0.0, -0.5 * length],
            mass=1.0 / count,
            contype=0,
            conaffinity=0,
        )
    return spec


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
