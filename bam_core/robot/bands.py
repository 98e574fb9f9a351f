# SPDX-License-Identifier: Apache-2.0
"""90 % bands around simulated runs: spread of the unknowns, plus residual error scaled with tracking error.

An error of a servo's torque moves a joint by the same share of its distance from the goal, because torque is
stiffness times this distance. So residual errors grow in proportion to the tracking error, beyond that of the
fitted runs, at a lower gain or under more load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.fit import RobotFit
from bam_core.robot.one_joint import LARGEST, OneJointBench
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel
from bam_core.simulation.threads import allowed_threads

_DRAWS = 20  # their standard deviation is then known to 16 %
NINETY = 1.645  # standard deviations either side
_FEWEST = 2  # draws that must be simulated


def half_widths(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    fit: RobotFit,
    scales: Mapping[str, Array],
    one_joint: OneJointBench | None = None,
) -> dict[str, Array]:
    """Return name of a run -> (n, joints) rad, half the width of the band; the variances of both causes add.

    A run that can be simulated at hardly any draw has none: a simulation diverges, or the engine refuses the
    draw's servo for its time step.

    Args:
        bench: the robot, with the steps of the search.
        runs: to simulate.
        joints: that count, as in the fit.
        fit: the unknowns are drawn from its normal distribution.
        scales: name of a run -> (joints,) rad, standard deviation of errors: `error_scales`.
        one_joint: simulates draws of the runs that it knows, in much less time.
    """
    random = np.random.default_rng(0)
    points = random.multivariate_normal(fit.point, fit.covariance, size=_DRAWS)
    widths = {}

    def robot(point: Array) -> tuple[dict[str, ServoModel], RobotDeviations]:
        return fit.unknowns.servos_at(point), fit.unknowns.deviations_at(point)

    def path(run: RobotRun, point: Array) -> Array | None:
        try:
            return bench.simulate(run, *robot(point))[:, [run.column(joint) for joint in joints]]
        except BamError:
            return None

    def paths_of(run: RobotRun, pool: ThreadPoolExecutor) -> list[Array]:
        if one_joint is not None and run.name in one_joint.rollouts:
            paths = one_joint.positions(pool, [run], [robot(point) for point in points])[run.name]
            return [positions for positions in paths if np.all(np.abs(positions) < LARGEST)]
        drawn = pool.map(lambda point: path(run, point), points)
        return [positions for positions in drawn if positions is not None]

    with ThreadPoolExecutor(allowed_threads()) as pool:
        for run in runs:
            paths = paths_of(run, pool)
            if len(paths) >= _FEWEST:
                variance = np.var(np.stack(paths), axis=0, ddof=1) + scales[run.name] ** 2
                widths[run.name] = NINETY * np.sqrt(variance)
    return widths


def error_scales(
    runs: Sequence[RobotRun],
    fitted: Sequence[RobotRun],
    joints: Sequence[str],
    simulated: Mapping[str, Array],
    scale: Array,
) -> dict[str, Array]:
    """Return name of a run -> (joints,) rad, standard deviation of the errors to expect in it.

    Args:
        runs: about which it is asked.
        fitted: whose errors are known.
        joints: that count.
        simulated: name -> (n, joints of the run) rad, of all of them.
        scale: (joints,) rad, standard deviation of the errors of the runs that were fitted.
    """

    def of(run: RobotRun) -> Array:
        return distances(run, joints, simulated[run.name])

    known = np.mean(np.concatenate([of(run) for run in fitted]), axis=0)
    # Distances below the errors are no distances.
    return {
        run.name: scale * np.maximum(of(run).mean(axis=0) / np.maximum(known, scale), 1.0) for run in runs
    }


def distances(run: RobotRun, joints: Sequence[str], simulated: Array) -> Array:
    """Return (samples that count, joints) rad, how far simulated joints are from their goals.

    Args:
        run: that was simulated.
        joints: that count.
        simulated: (n, joints of the run) rad.
    """
    columns = [run.column(joint) for joint in joints]
    return np.asarray(np.abs(run.goal_position - simulated)[run.counts][:, columns])


def coverage(
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    simulated: Mapping[str, Array],
    bands: Mapping[str, Array],
) -> dict[str, float]:
    """Return name of a run -> share of its samples that count, of all joints, within the band."""
    result = {}
    for run in runs:
        if run.name in bands:
            columns = [run.column(joint) for joint in joints]
            off = np.abs(simulated[run.name] - run.position)[:, columns]
            result[run.name] = float((off <= bands[run.name]).mean(where=run.compared(joints)))
    return result
