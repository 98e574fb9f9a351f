# SPDX-License-Identifier: Apache-2.0
"""The simulations beside a real arm: its recorded goals are played, and positions compared.

The arm is the SO-101 of `studies.so101`. Its servos are described by the library's STS3215, which was
identified on a bench from another specimen. Nothing is fitted to the arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np

from bam_core.arrays import Array
from bam_core.exchange.linearisation import m1_friction
from bam_core.identification.uncertainty.bands import crps
from bam_core.robot.run import RobotRun
from bam_core.servo.friction import Friction
from bam_core.servo.model import load_servo
from bam_core.simulation.threads import allowed_threads
from studies.so101.table import Arm
from studies.transfer.bootstrap import Interval, mean_interval
from studies.transfer.simulations import SIMULATIONS, Known, simulation
from studies.transfer.tasks import STEP, TASKS, Task

_COUNTED = 5  # joints: all but the jaw, whose positions are no angles
_MODELS = 8  # of a randomised simulation
_SECONDS = 20.0  # of each run, from its beginning
_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """Errors of one simulation, means over runs with 95 % intervals, rad.

    Attributes:
        error: mean distance of the median simulation from the recording.
        crps: continuous ranked probability score of all simulations; without spread it is the error.
        held: share of samples between the 5 % and the 95 % quantile of the simulations; None: there is one.
    """

    error: Interval
    crps: Interval
    held: Interval | None


def library_servo(name: str) -> Known:
    """Return what the library has of a servo, and the M1 nearest to its friction."""
    servo = load_servo(name)
    viscous, coulomb, _ = m1_friction(servo)
    friction = Friction(viscous=viscous, coulomb=coulomb)
    return Known(m1=replace(servo, friction_model="m1", friction=friction), file=name)


def replayed(folder: Path, seed: int = 0) -> Mapping[str, Replayed]:
    """Return the errors of each simulation on the test runs of `studies.so101`.

    Args:
        folder: with so101.xml and runs/.
        seed: of what is drawn.

    Raises:
        BamError: a file cannot be read.
    """
    runs = [_shortened(run) for run in Arm.load(folder).test]
    joints = runs[0].joints
    task = replace(
        TASKS["reach"],
        robot=str((folder / "so101.xml").resolve()),
        joints=joints,
        still=(),
        tip="gripperframe",
    )
    known = library_servo(task.servo)
    return {
        name: _errors(_played(task, simulation(name, task, known, seed, _MODELS), runs), runs)
        for name in SIMULATIONS
    }


def _shortened(run: RobotRun) -> RobotRun:
    kept = run.time - run.time[0] <= _SECONDS
    sound = None if run.sound is None else run.sound[kept]
    return replace(
        run,
        time=run.time[kept],
        goal_position=run.goal_position[kept],
        position=run.position[kept],
        sound=sound,
        interval=None,
    )


def _played(task: Task, models: Sequence[mujoco.MjModel], runs: Sequence[RobotRun]) -> list[Array]:
    """Return positions (models, n, joints) rad at the times of each run."""
    data = [mujoco.MjData(models[0]) for _ in range(allowed_threads())]
    order = [models[0].joint(name).qposadr[0] for name in task.joints]
    controls = [models[0].actuator(name).id for name in task.joints]
    state = np.empty(mujoco.mj_stateSize(models[0], _STATE))
    result = []
    with mujoco.rollout.Rollout(nthread=len(data)) as rollout:
        for run in runs:
            elapsed = run.time - run.time[0]
            grid = np.arange(round(elapsed[-1] / STEP) + 1) * STEP
            acting = np.searchsorted(elapsed, grid, side="right") - 1
            control = np.empty((len(grid), models[0].nu))
            control[:, controls] = run.goal_position[acting]
            mujoco.mj_resetData(models[0], data[0])
            data[0].qpos[order] = run.position[0]
            mujoco.mj_getState(models[0], data[0], state, _STATE)
            rows = (len(models), 1)
            passed, _ = rollout.rollout(
                list(models), data, np.tile(state, rows), np.tile(control, (*rows, 1))
            )
            samples = np.minimum(np.round(elapsed / STEP).astype(int), len(grid)) - 1
            result.append(passed[:, np.maximum(samples, 0)][:, :, 1 + np.array(order)])
    return result


def _errors(played: Sequence[Array], runs: Sequence[RobotRun]) -> Replayed:
    error, score, held = [], [], []
    for positions, run in zip(played, runs, strict=True):
        sound = np.ones(run.position.shape, dtype=bool) if run.sound is None else run.sound
        counts = sound[:, :_COUNTED]
        draws, measured = positions[:, :, :_COUNTED][:, counts], run.position[:, :_COUNTED][counts]
        error.append(np.abs(np.median(draws, axis=0) - measured).mean())
        if len(draws) == 1:
            score.append(error[-1])
            continue
        score.append(crps(draws, measured).mean())
        low, high = np.quantile(draws, (0.05, 0.95), axis=0)
        held.append(np.mean((low <= measured) & (measured <= high)))
    return Replayed(
        error=mean_interval(np.array([error])),
        crps=mean_interval(np.array([score])),
        held=mean_interval(np.array([held])) if held else None,
    )
