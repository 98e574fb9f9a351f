# SPDX-License-Identifier: Apache-2.0
"""A robot on a fixed base whose joints are simulated one at a time, for many robots at once.

It takes a thirtieth of the time of MuJoCo's steps. What a joint's error does to the other joints is left out.
So a fit takes from it how errors change with the unknowns, and the errors from the whole robot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.joint_rollout import JointRollout
from bam_core.robot.root import FIXED
from bam_core.robot.run import RobotRun
from bam_core.robot.run_errors import RunErrors
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel

_OF_LOADS = ("mass ", "centre ", "zero ", "table ")  # unknowns that change what joints carry
_ONE_DOF = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
NO_TABLE: Mapping[str, float] = {}
"""Of robots that rest on none."""

LARGEST = 100.0
"""rad; beyond, a simulation has diverged."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OneJointBench:
    """Runs of a robot, prepared.

    Attributes:
        joints: that are simulated.
        rollouts: name of a run without gaps -> its joints, those of each firmware by themselves.
    """

    joints: tuple[str, ...]
    rollouts: Mapping[str, tuple[JointRollout, ...]]

    @classmethod
    def make(
        cls,
        bench: RobotBench,
        runs: Sequence[RobotRun],
        joints: Sequence[str],
        servos: Mapping[str, ServoModel],
        names: Sequence[str],
        table: Mapping[str, float] = NO_TABLE,
    ) -> OneJointBench | None:
        """Prepare runs, but those with gaps; None where joints cannot be simulated one at a time.

        Args:
            bench: the robot; its step counts.
            runs: to follow.
            joints: to simulate.
            servos: by joint, those of the friction models to come: firmware and rules are the same in all.
            names: of the unknowns of a fit.
            table: point -> m, height of a table that runs show.

        Raises:
            BamError: a gain is not known.
        """
        if bench.root != FIXED or any(servos[joint].gear is not None for joint in joints):
            return None
        loading = [name for name in names if name.startswith(_OF_LOADS)]
        rollouts: dict[str, tuple[JointRollout, ...]] = {}
        for run in (run for run in runs if not len(run.restarts)):
            model = bench.compiled(run, servos)
            if not _moves_by_joints_alone(model, {*run.joints, *servos}):
                return None
            groups: dict[object, dict[str, ServoModel]] = {}
            for joint in joints:
                servo = servos[joint]
                rule = (servo.firmware, servo.friction.quadratic_rule)
                groups.setdefault(rule, {})[joint] = servo
            rollouts[run.name] = tuple(
                JointRollout(model, run, group, loading, step=bench.step, table=table)
                for group in groups.values()
            )
        return cls(joints=tuple(joints), rollouts=rollouts)

    def restarted(self, horizon: float) -> OneJointBench:
        """Return a bench whose simulations start anew from measured states every `horizon`, s."""
        rollouts = {
            name: tuple(rollout.restarted(horizon) for rollout in of_run)
            for name, of_run in self.rollouts.items()
        }
        return replace(self, rollouts=rollouts)

    def positions(
        self,
        pool: ThreadPoolExecutor,
        runs: Sequence[RobotRun],
        robots: Sequence[tuple[Mapping[str, ServoModel], RobotDeviations]],
    ) -> dict[str, Array]:
        """Return name of a run -> (robots, n, joints) rad; see `follow`."""
        result = {run.name: np.empty((len(robots), len(run.time), len(self.joints))) for run in runs}

        def read(run: RobotRun, part: slice, places: list[int], positions: Array) -> None:
            result[run.name][part, :, places] = positions

        self.follow(pool, runs, robots, read)
        return result

    def follow(
        self,
        pool: ThreadPoolExecutor,
        runs: Sequence[RobotRun],
        robots: Sequence[tuple[Mapping[str, ServoModel], RobotDeviations]],
        read: Callable[[RobotRun, slice, list[int], Array], None],
    ) -> None:
        """Simulate robots in runs, and show where they are in the threads of a pool.

        The work is cut in the same parts however many threads there are.

        Args:
            pool: does the work.
            runs: prepared ones.
            robots: joint -> servo, and deviations, of each.
            read: called with the run, the robots' numbers, places of `joints`, and (robots, n, those joints)
                rad at the times of the run.
        """

        def work(run: RobotRun, rollout: JointRollout, part: slice) -> None:
            servos, deviations = zip(*robots[part], strict=True)
            places = [self.joints.index(joint) for joint in rollout.joints]
            read(run, part, places, rollout.positions(servos, deviations))

        jobs = [
            pool.submit(work, run, rollout, slice(begin, min(begin + rollout.part, len(robots))))
            for run in runs
            for rollout in self.rollouts[run.name]
            for begin in range(0, len(robots), rollout.part)
        ]
        for job in jobs:
            job.result()


@dataclass(frozen=True, kw_only=True, eq=False)
class OneJointErrors(RunErrors):
    """What simulations of runs are off by, one joint at a time.

    Attributes:
        one_joint: simulates.
    """

    one_joint: OneJointBench

    def at(self, points: Sequence[Array]) -> list[Array | None]:
        """Return the errors of all runs at points, rad; None where they cannot be had."""
        robots = [(self.unknowns.servos_at(point), self.unknowns.deviations_at(point)) for point in points]
        sizes = [len(self.rows(run)) for run in self.runs]
        ends = dict(zip([run.name for run in self.runs], np.cumsum(sizes), strict=True))
        errors = np.empty((len(points), sum(sizes), len(self.joints)))

        def read(run: RobotRun, part: slice, places: list[int], positions: Array) -> None:
            joints = [self.joints[place] for place in places]
            compared = run.compared(joints)
            off = positions - run.position[:, [run.column(joint) for joint in joints]]
            rows = self.rows(run)
            means = np.where(compared, off, 0.0)[:, rows].mean(axis=2)
            errors[part, ends[run.name] - len(rows) : ends[run.name], places] = means

        self.one_joint.follow(self.pool, self.runs, robots, read)
        flat = errors.reshape(len(points), -1)
        return [row if np.all(np.abs(row) < LARGEST) else None for row in flat]


def _moves_by_joints_alone(model: mujoco.MjModel, known: set[str]) -> bool:
    """Return whether nothing but its joints and their servos moves a robot, and all of them are known."""
    names = {model.joint(number).name for number in range(model.njnt)}
    kinds = set(map(int, model.jnt_type))
    return model.neq == 0 and model.ntendon == 0 and kinds <= set(map(int, _ONE_DOF)) and names <= known
