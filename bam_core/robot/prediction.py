# SPDX-License-Identifier: Apache-2.0
"""What a fit expects of other runs of a robot: draws of servos and deviations, and errors left over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError, Missing
from bam_core.robot.bands import NINETY, distances
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.fit import RobotFit
from bam_core.robot.one_joint import LARGEST, OneJointBench
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel
from bam_core.servo.parameters import MOTOR_PARAMETERS
from bam_core.simulation.threads import allowed_threads

MOST_DRAWS = 100  # of a file; a standard deviation is then known to 7 %
LEAST_DRAWS = 10  # to 24 %
_STEP = 4e-3  # s; the spread of draws needs no finer one
_SETTLING = 0.5  # s at rest before a run
_FEWEST = 2  # draws that must be simulated
_COUPLED = 10e-3  # rad, mean, by which the whole robot may move otherwise than its joints one at a time

_Robot = tuple[dict[str, ServoModel], RobotDeviations]


@dataclass(frozen=True, kw_only=True)
class Draw:
    """One robot that the fitted runs leave possible.

    Attributes:
        servos: type -> parameter -> value, SI.
        deviations: of the robot.
    """

    servos: Mapping[str, Mapping[str, float]]
    deviations: RobotDeviations

    def servos_at(self, servos: Mapping[str, ServoModel]) -> dict[str, ServoModel]:
        """Return joint -> its servo in this draw.

        Args:
            servos: joint -> the identified one, whose name is its type's.

        Raises:
            Missing: the draw has no such servo, or not all of its parameters.
        """
        return {joint: _with(servo, self.servos.get(servo.name, {})) for joint, servo in servos.items()}


@dataclass(frozen=True, kw_only=True)
class RobotPrediction:
    """What bands of other runs are made of.

    Attributes:
        scale: joint -> rad, standard deviation of the errors that the fit leaves in fitted runs.
        goal_distance: joint -> rad, mean distance from its goals there.
        draws: robots.
    """

    scale: Mapping[str, float]
    goal_distance: Mapping[str, float]
    draws: tuple[Draw, ...]

    def half_widths(
        self,
        bench: RobotBench,
        run: RobotRun,
        joints: Sequence[str],
        servos: Mapping[str, ServoModel],
        simulated: Array,
        *,
        draws: int,
    ) -> Array | None:
        """Return (n, joints) rad, half the width of the 90 % band around a simulated run.

        None where hardly any draw can be simulated.

        Args:
            bench: the robot.
            run: that was simulated.
            joints: that count.
            servos: by joint.
            simulated: (n, joints of the run) rad.
            draws: that are used, at most.

        Raises:
            BamError: the prediction is one of other servos or joints.
        """
        if unknown := [joint for joint in joints if joint not in self.scale]:
            raise Missing(
                "prediction", f"errors of {', '.join(unknown)}", advice="identify with these joints"
            )
        scale = np.array([self.scale[joint] for joint in joints])
        known = np.array([self.goal_distance[joint] for joint in joints])
        growth = distances(run, joints, simulated).mean(axis=0) / np.maximum(known, scale)
        quick = bench.coarser(max(_STEP, bench.step), settling=_SETTLING, lead=_SETTLING)
        columns = [run.column(joint) for joint in joints]
        robots = [(draw.servos_at(servos), draw.deviations) for draw in self.draws[:draws]]

        paths = _paths_alone(quick, run, joints, servos, robots)
        if paths is None or not np.abs(np.mean(paths, axis=0) - simulated[:, columns]).mean() < _COUPLED:
            paths = _paths(quick, run, columns, robots)
        if len(paths) < _FEWEST:
            return None
        variance = np.var(np.stack(paths), axis=0, ddof=1) + (scale * np.maximum(growth, 1.0)) ** 2
        return np.asarray(NINETY * np.sqrt(variance))


def _paths(
    bench: RobotBench, run: RobotRun, columns: Sequence[int], robots: Sequence[_Robot]
) -> Sequence[Array]:
    """Return (n, joints) rad of each robot that can be simulated."""

    def path(robot: _Robot) -> Array | None:
        try:
            return bench.simulate(run, *robot)[:, columns]
        except BamError:
            return None

    with ThreadPoolExecutor(allowed_threads()) as pool:
        return [drawn for drawn in pool.map(path, robots) if drawn is not None]


def _paths_alone(
    bench: RobotBench,
    run: RobotRun,
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    robots: Sequence[_Robot],
) -> Sequence[Array] | None:
    """Return the same, one joint at a time, in a thirtieth of the time; None where that cannot be done."""
    if not robots:
        return None
    names = tuple(robots[0][1].by_name())
    table = {
        point: float(np.mean([deviations.table.get(point, height) for _, deviations in robots]))
        for point, height in robots[0][1].table.items()
    }
    try:
        alone = OneJointBench.make(bench, [run], joints, servos, names, table)
        if alone is None or run.name not in alone.rollouts:
            return None
        with ThreadPoolExecutor(allowed_threads()) as pool:
            paths = alone.positions(pool, [run], robots)[run.name]
    except BamError:
        return None
    return [path for path in paths if np.all(np.abs(path) < LARGEST)] or None


def robot_prediction(
    fit: RobotFit, fitted: Sequence[RobotRun], joints: Sequence[str], simulated: Mapping[str, Array]
) -> RobotPrediction:
    """Return what a fit expects of other runs.

    Args:
        fit: whose normal distribution is drawn from.
        fitted: its runs.
        joints: that count.
        simulated: name -> (n, joints of the run) rad, of these runs.
    """
    random = np.random.default_rng(0)
    points = random.multivariate_normal(fit.point, fit.covariance, size=MOST_DRAWS)
    points = np.maximum(points, fit.unknowns.least)
    known = np.concatenate([distances(run, joints, simulated[run.name]) for run in fitted]).mean(axis=0)
    return RobotPrediction(
        scale=dict(zip(joints, map(float, fit.noise.scale), strict=True)),
        goal_distance=dict(zip(joints, map(float, known), strict=True)),
        draws=tuple(draw for point in points if (draw := _draw(fit, point)) is not None),
    )


def _draw(fit: RobotFit, point: Array) -> Draw | None:
    """Return the robot at a point; None where there cannot be one, far from what is known."""
    try:
        types, deviations = fit.unknowns.types_at(point), fit.unknowns.deviations_at(point)
    except BamError:
        return None
    servos = {
        servo.name: {name: float(value) for name, value in servo.parameters.items()}
        for servo in types.values()
    }
    return Draw(servos=servos, deviations=deviations)


def _with(servo: ServoModel, values: Mapping[str, float]) -> ServoModel:
    """Return a servo with other parameters of motor and friction."""
    model = friction_model(servo.friction_model)
    if lacking := [name for name in (*MOTOR_PARAMETERS, *model.parameters) if name not in values]:
        raise Missing(
            f"prediction of {servo.name}", ", ".join(lacking), advice="run 'bam robot identify' again"
        )
    return replace(
        servo,
        motor=replace(servo.motor, **{name: values[name] for name in MOTOR_PARAMETERS}),
        friction=model.friction(
            {name: values[name] for name in model.parameters}, quadratic_rule=servo.friction.quadratic_rule
        ),
    )
