# SPDX-License-Identifier: Apache-2.0
"""The rows of the table: errors of the test runs, per joint, of every way to simulate the arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco

from bam_core.arrays import Array
from bam_core.mujoco.robot_file import load_robot
from bam_core.recordings.map_file import recording_map_for
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.deviations_file import deviations_path, load_deviations
from bam_core.robot.run import RobotRun
from bam_core.robot.sage_run import read_sage_run
from bam_core.robot.simulation import RobotBench
from bam_core.robot.table import find_table
from bam_core.robot.validation import RobotValidation, errors_of
from bam_core.servo.model import load_servo
from bam_core.text.table import format_table
from studies.so101.described import DescribedArm
from studies.so101.split import TEST, TRAIN

_KP, _KD, _SUPPLY = 16.0, 32.0, 12.0  # of the recordings
_OLD_KP = 17.8  # N·m/rad, in earlier versions of the description
_STEP = 2e-3  # s

Simulate = Callable[[RobotRun], Array]


@dataclass(frozen=True, kw_only=True)
class Arm:
    """The arm and its recordings.

    Attributes:
        spec: its description.
        train: runs to fit.
        test: others.
    """

    spec: mujoco.MjSpec
    train: Sequence[RobotRun]
    test: Sequence[RobotRun]

    @classmethod
    def load(cls, folder: Path) -> Arm:
        """Read ``so101.xml`` and ``runs/`` in a folder; raises BamError."""
        runs = folder / "runs"
        mapped = recording_map_for(runs, ("sage_so101",))

        def read(name: str) -> RobotRun:
            run = read_sage_run(runs / name, mapped)
            return replace(run, kp=_KP, kd=_KD, supply_voltage=_SUPPLY)

        return cls(
            spec=load_robot(folder / "so101.xml"),
            train=[read(name) for name in TRAIN],
            test=[read(name) for name in TEST],
        )


def ways(
    arm: Arm, identified: Path | None, models: Sequence[str], horizon: float | None = None
) -> Iterator[tuple[str, Simulate]]:
    """Yield the name of each row and what simulates a run.

    Args:
        arm: the arm.
        identified: what ``bam robot identify`` wrote from the runs to fit; None: there is nothing.
        models: friction models in it.
        horizon: s, after which simulations with servos start anew from measured states; None: never. The
            description's own actuators have no row then.
    """
    servo, bench = load_servo("sts3215"), RobotBench.make(arm.spec, "fixed", step=_STEP)
    if horizon is None:
        yield "description as it is", DescribedArm(spec=arm.spec).simulate
        yield f"description, kp {_OLD_KP}", DescribedArm(spec=arm.spec, kp=_OLD_KP).simulate
    else:
        bench = bench.restarted(horizon)
    joints = [joint.name for joint in arm.spec.joints]

    def as_servos(name: str | Path, deviations: RobotDeviations) -> Simulate:
        servos = dict.fromkeys(joints, load_servo(name))
        return lambda run: bench.simulate(run, servos, deviations)

    yield "library servo", as_servos(servo.name, NO_DEVIATIONS)
    table = find_table(arm.spec, arm.train)
    if table is not None:
        held = RobotDeviations(table={table.point: table.height})
        yield "library servo, table as found", as_servos(servo.name, held)
    if identified is not None:
        for model in models:
            deviations = load_deviations(deviations_path(identified, model))
            yield f"identified, {model.upper()}", as_servos(identified / f"sts3215_{model}.yaml", deviations)


def validated(simulate: Simulate, runs: Sequence[RobotRun]) -> RobotValidation:
    """Return the errors of runs."""
    return errors_of(runs, runs[0].joints, {run.name: simulate(run) for run in runs})


def text(rows: Mapping[str, RobotValidation]) -> str:
    """Return the table, in mrad."""
    joints = list(next(iter(next(iter(rows.values())).per_log.values())).per_joint)
    lines = [
        (
            name,
            f"{1e3 * errors.mae:.1f}",
            *(f"{1e3 * errors.mean_of_joint(joint):.1f}" for joint in joints),
        )
        for name, errors in rows.items()
    ]
    return format_table(("MAE of the test runs [mrad]", "mean", *joints), lines)
