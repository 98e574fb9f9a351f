# SPDX-License-Identifier: Apache-2.0
"""Joints that turn the other way than in the description, or have another zero: gravity shows it.

What a position controller asks for, gain times (goal - reading), carries the load of the links and friction:
k·(g - q) = a·τ(q) + b·q̇ + c·sign q̇ + d·q̈ with a ≥ 0. Least squares find these under each assumption. One that
explains the runs far better is tried in a simulation, whose errors decide.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.excitation import InverseDynamics, derived_positions
from bam_core.robot.root import FIXED
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.validation import RunErrors, errors_of
from bam_core.servo.gains import gain_of
from bam_core.servo.model import ServoModel
from bam_core.text.robot_run_findings import OtherZero, ReversedJoint, UnprovenSigns

_RUNS, _SAMPLES = 4, 250  # that are looked at, per run
_LONGEST = 20.0  # s of a run that is simulated
_SLOW = 0.1  # rad/s, within which friction changes its direction
_BETTER_ZERO = 0.85  # of the squares that are left; simulations decide
_MANY = 1.3  # times the error with another sign, up to which a zero explains no more
_SURE = 0.6  # of the error of a simulation
_LEAST_ERROR = 0.004  # rad, three counts; a joint that is followed so well is right
_LOADED = 3e-3  # rad, two counts: by so much a load must hold readings off their goals
_UNLOADED = 0.02  # of the load of the joint that carries most; no sign shows in less
_ZEROS = np.concatenate([np.arange(-1.6, -0.05, 0.1), np.arange(0.1, 1.65, 0.1)])  # rad that are tried
_FINER = np.arange(-0.08, 0.09, 0.02)  # rad around the best of them


@dataclass(frozen=True, kw_only=True)
class _Motion:
    """Some samples of a run: (n, joints) rad and s, and (n, joints) what the controllers ask for."""

    run: RobotRun
    position: Array
    speed: Array
    acceleration: Array
    demand: Array


def direction_findings(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations = NO_DEVIATIONS,
) -> list[ReversedJoint | OtherZero | UnprovenSigns]:
    """Return findings about joints that another sign or zero explains far better than the description.

    Joints that gravity does not load show nothing, which is a finding, too. Of a robot whose base moves there
    are none.

    Args:
        bench: the robot.
        runs: recorded.
        joints: that count.
        servos: by joint.
        deviations: of this robot.

    Raises:
        BamError: a run cannot be simulated.
    """
    if bench.root != FIXED or bench.others != "simulated":
        return []
    loads = InverseDynamics(bench.spec, runs[0].joints)
    motions = [_motion(run) for run in runs[:_RUNS]]
    suspects = [
        (joint, change)
        for joint in joints
        for change in _suspected(loads, motions, runs[0].column(joint), joint)
    ]
    run, zeros = runs[0].beginning(_LONGEST), dict(deviations.zero)

    def errors(run: RobotRun, zeros: Mapping[str, float]) -> RunErrors:
        simulated = bench.simulate(run, servos, replace(deviations, zero=zeros))
        return errors_of([run], joints, {run.name: simulated}).per_log[run.name]

    findings: list[ReversedJoint | OtherZero | UnprovenSigns] = []
    given = errors(run, zeros) if suspects else None
    while suspects and given is not None:  # a joint that is wrong makes others seem so
        tried = []
        for joint, zero in suspects:
            changed = _reversed(run, joint) if zero is None else run
            shifted = zeros if zero is None else {**zeros, joint: zeros.get(joint, 0.0) + zero}
            with contextlib.suppress(BamError):  # a robot that cannot be simulated was not this one
                tried.append((errors(changed, shifted), joint, zero, changed, shifted))
        # A sign is one of two, a zero one of many.
        tried.sort(key=lambda way: way[0].mae * (1.0 if way[2] is None else _MANY))
        if not tried:
            break
        best, joint, zero, changed, shifted = tried[0]
        before, after = given.per_joint[joint], best.per_joint[joint]
        if before < _LEAST_ERROR or after > _SURE * before or best.mae > given.mae:
            break
        findings.append(
            ReversedJoint(joint=joint, error=before, other_error=after)
            if zero is None
            else OtherZero(joint=joint, zero=zero, error=before, other_error=after)
        )
        given, run, zeros = best, changed, shifted
        suspects = [suspect for suspect in suspects if suspect[0] != joint]
    unloaded = tuple(joint for joint in joints if not _is_loaded(loads, motions, runs[0].column(joint)))
    return [*findings, UnprovenSigns(joints=unloaded)] if unloaded else findings


def _suspected(
    loads: InverseDynamics, motions: Sequence[_Motion], column: int, joint: str
) -> Iterator[float | None]:
    """Yield what explains a joint's motion better: a zero, rad, or None, the other sign."""

    def left(sign: float, zero: float = 0.0) -> tuple[float, float]:
        return _left(loads, motions, joint, column, sign, zero)

    here, _ = left(1.0)
    turned, change = left(-1.0)
    if turned < here and change > _LOADED:
        yield None
    coarse = min(_ZEROS.tolist(), key=lambda zero: left(1.0, zero)[0])
    zero = min((coarse + _FINER).tolist(), key=lambda zero: left(1.0, zero)[0])
    shifted, change = left(1.0, zero)
    if shifted < _BETTER_ZERO * here and change > _LOADED:
        yield float(zero)


def _is_loaded(loads: InverseDynamics, motions: Sequence[_Motion], column: int) -> bool:
    """Return whether gravity loads a joint enough to show its sign."""
    rest = [np.zeros_like(motion.position) for motion in motions]
    held = [loads.torques(motion.position, still, still) for motion, still in zip(motions, rest, strict=True)]
    largest = np.max(np.abs(np.concatenate(held)), axis=0)
    return bool(largest[column] > _UNLOADED * largest.max())


def _left(
    loads: InverseDynamics, motions: Sequence[_Motion], joint: str, column: int, sign: float, zero: float
) -> tuple[float, float]:
    """Return the squares that are left under an assumption, and how far the load moves the joint, rad."""
    rows, demands, gains = [], [], []
    for motion in motions:
        signs = np.ones(motion.position.shape[1])
        signs[column] = sign
        position = signs * motion.position
        position[:, column] -= zero
        torque = sign * loads.torques(position, signs * motion.speed, signs * motion.acceleration)[:, column]
        speed = motion.speed[:, column]
        rows.append(np.stack([torque, speed, np.tanh(speed / _SLOW), motion.acceleration[:, column]], axis=1))
        demands.append(motion.demand[:, column])
        gains.append(gain_of(motion.run.kp, joint) or 1.0)
    design, demand = np.concatenate(rows), np.concatenate(demands)
    terms, *_ = np.linalg.lstsq(design, demand, rcond=None)
    if terms[0] < 0.0:  # no load pushes against what carries it
        design = design[:, 1:]
        terms, *_ = np.linalg.lstsq(design, demand, rcond=None)
        change = 0.0
    else:
        change = float(terms[0] * np.sqrt(np.mean(design[:, 0] ** 2))) / float(np.mean(gains))
    return float(np.sum((demand - design @ terms) ** 2)), change


def _motion(run: RobotRun) -> _Motion:
    """Return samples of the part that counts, where all readings are sound."""
    rows = np.flatnonzero(run.counts & run.is_sound.all(axis=1))
    rows = rows[:: max(len(rows) // _SAMPLES, 1)]
    position, speed, acceleration = (derived_positions(run, order)[rows] for order in (0, 1, 2))
    gains = np.array([gain_of(run.kp, joint) or 1.0 for joint in run.joints])
    return _Motion(
        run=run,
        position=position,
        speed=speed,
        acceleration=acceleration,
        demand=gains * (run.goal_position[rows] - run.position[rows]),
    )


def _reversed(run: RobotRun, joint: str) -> RobotRun:
    """Return a run with the other sign of one joint."""
    signs = np.ones(len(run.joints))
    signs[run.column(joint)] = -1.0
    sent = {
        joint: (run.sent[joint][0], sign * run.sent[joint][1])
        for joint, sign in zip(run.joints, signs, strict=True)
        if joint in run.sent
    }
    return replace(run, goal_position=signs * run.goal_position, position=signs * run.position, sent=sent)
