# SPDX-License-Identifier: Apache-2.0
"""What runs of a robot cannot determine, found before time is spent on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bam_core.errors import BadData
from bam_core.robot.excitation import excitation, load_torques
from bam_core.robot.result import RobotTask
from bam_core.robot.root import FIXED
from bam_core.robot.run import RobotRun
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.text.finding import Finding
from bam_core.text.robot_evidence_findings import IdleMotors, JointsFinding, NoLoad, SlowRate, SteadySpeed

LEAST_RATE = 45.0
"""Hz. Friction falls from its value at rest within 0.1 rad/s, which a joint passes in 20 to 50 ms.

A loop of 50 Hz that is late by a tenth still has two samples in that time.
"""

LEAST_MOTION = 0.02  # rad; less is within play and a few counts of the encoder
_STRIBECK = "stribeck_velocity"


def require_evidence(
    runs: Sequence[RobotRun], joints: Sequence[str], types: Mapping[str, str], models: Sequence[str]
) -> list[Finding]:
    """Return findings about what the runs do not determine.

    Args:
        runs: to fit to.
        joints: that count.
        types: joint -> servo.
        models: friction models that are asked for.

    Raises:
        BadData: all joints of a servo's type rest all the time.
    """
    motion = _motion(runs, joints)
    for servo in dict.fromkeys(types[joint] for joint in joints):
        own = [joint for joint in joints if types[joint] == servo]
        if max(motion[joint] for joint in own) < LEAST_MOTION:
            raise BadData(
                f"servo {servo}",
                f"moves by less than {LEAST_MOTION:g} rad in every run, on every joint",
                expected="motions of at least one of them",
                advice="record some, or leave its joints out with --joints",
            )
    slow = _slow_runs(runs, models)
    resting = [joint for joint in joints if motion[joint] < LEAST_MOTION]
    if not resting:
        return slow
    return [*slow, JointsFinding(kind="resting", joints=tuple(resting), limit=LEAST_MOTION)]


def _slow_runs(runs: Sequence[RobotRun], models: Sequence[str]) -> list[Finding]:
    """Return a finding where recordings are slow for friction that fades with speed."""
    fading = tuple(name for name in models if _has_stribeck(name))
    rates = [1.0 / float(np.median(np.diff(run.time))) for run in runs]
    slow = [rate for rate in rates if rate < LEAST_RATE]
    if not slow or not fading:
        return []
    return [SlowRate(models=fading, rate=min(slow), runs=len(slow), limit=LEAST_RATE)]


MOST_STEADY = 0.9
"""Of `Excitation.steadiness`: the variance of Coulomb and of viscous friction is then ten times what it would
be if the other were known, the variance inflation factor from which regressors count as collinear."""


def require_excitation(task: RobotTask) -> list[Finding]:
    """Return findings about parameters that the motions do not determine: they stay near what was known.

    A servo's type is asked about the best of its joints, which share its parameters. Of a robot that does not
    stand on a fixed base, loads are not known and not asked about.

    Args:
        task: robot, servos and runs.
    """
    loads = [load_torques(task.bench.spec, run) for run in task.train] if task.bench.root == FIXED else None
    motion = _motion(task.train, task.joints)
    moving = [joint for joint in task.joints if motion[joint] >= LEAST_MOTION]
    excitations = {joint: excitation(task.train, joint, loads) for joint in moving}
    findings: list[Finding] = []
    for servo in dict.fromkeys(task.types[joint] for joint in excitations):
        own = {
            joint: joint_excitation
            for joint, joint_excitation in excitations.items()
            if task.types[joint] == servo
        }
        friction = float(task.servos[servo].friction.budget(0.0, 0.0, 0.0))
        steady = all(joint_excitation.steadiness > MOST_STEADY for joint_excitation in own.values())
        unloaded = all(
            joint_excitation.load < friction for joint_excitation in own.values()
        )  # not where it is not known
        speed = max(joint_excitation.speed for joint_excitation in own.values())
        load = max(joint_excitation.load for joint_excitation in own.values())
        if steady:
            findings.append(SteadySpeed(servo=servo, speed=speed))
        if unloaded:
            findings.append(NoLoad(servo=servo, load=load, friction=friction))
        idle = [joint for joint, joint_excitation in own.items() if joint_excitation.load < friction]
        if idle and not unloaded:
            findings.append(IdleMotors(joints=tuple(idle), servo=servo, friction=friction))
    return findings


def _motion(runs: Sequence[RobotRun], joints: Sequence[str]) -> dict[str, float]:
    """Return joint -> range of its positions in the run in which it moves most, rad."""
    return {
        joint: max(float(np.ptp(run.position[run.counts, run.column(joint)])) for run in runs)
        for joint in joints
    }


def _has_stribeck(name: str) -> bool:
    return _STRIBECK in FRICTION_MODELS[name].parameters
