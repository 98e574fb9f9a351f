# SPDX-License-Identifier: Apache-2.0
"""What runs of a robot cannot tell, found before time is spent on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bam_core.errors import BadData
from bam_core.robot.excitation import excitation, load_torques
from bam_core.robot.result import RobotTask
from bam_core.robot.root import FIXED
from bam_core.robot.run import RobotRun
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.text.finding import Finding
from bam_core.text.robot_findings import IdleMotors, JointsFinding, NoLoad, SteadySpeed

LEAST_RATE = 50.0
"""Hz. Friction falls from its value at rest within 0.1 rad/s, which a joint passes in 20 to 50 ms."""

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
        BadData: friction that fades with speed is asked of slow recordings, or all joints of a servo's type
            rest all the time.
    """
    for run in runs:
        require_rate(run, models)
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
    resting = [joint for joint in joints if motion[joint] < LEAST_MOTION]
    if not resting:
        return []
    return [JointsFinding(kind="resting", joints=tuple(resting), limit=LEAST_MOTION)]


def require_rate(run: RobotRun, models: Sequence[str]) -> None:
    """Refuse a slow recording for friction that fades with speed; raises BadData.

    Args:
        run: to fit to.
        models: friction models that are asked for.
    """
    fading = [name for name in models if _has_stribeck(name)]
    rate = 1.0 / float(np.median(np.diff(run.time)))
    if rate >= LEAST_RATE or not fading:
        return
    without = ",".join(name for name in FRICTION_MODELS if not _has_stribeck(name))
    raise BadData(
        f"{run.name}, {rate:.0f} Hz",
        f"is too slow for friction that fades with speed ({', '.join(fading)})",
        expected=f"{LEAST_RATE:.0f} Hz or more",
        advice=f"say --models {without}",
    )


MOST_STEADY = 0.9
"""Of `Excitation.steadiness`: the variance of Coulomb and of viscous friction is then ten times what it would
be if the other were known, the variance inflation factor from which regressors count as collinear."""


def require_excitation(task: RobotTask, models: Sequence[str]) -> list[Finding]:
    """Return findings about parameters that the motions do not determine.

    A servo's type is asked about the best of its joints, which share its parameters. Of a robot that does not
    stand on a fixed base, loads are not known and not asked about.

    Args:
        task: robot, servos and runs.
        models: friction models that are asked for.

    Raises:
        BamError: all that a model has more than a simpler one would remain unknown, or everything would.
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
        moves = f"never moves slowly: its speed is near {speed:.2g} rad/s in all runs"
        carries = (
            f"never carries a load that matters: it changes by ±{load:.2g} N·m at most, and friction alone "
            f"holds ±{friction:.2g} N·m"
        )
        if steady and unloaded:
            raise BadData(
                f"servo {servo}",
                f"{moves}, and {carries}",
                expected="pauses, slow turns, and links that gravity turns",
                advice="record other motions: nothing but one ratio of friction and motor is in these",
            )
        if steady:
            _refuse_models(servo, models, moves, "friction that fades with speed", _has_stribeck)
            findings.append(SteadySpeed(servo=servo, speed=speed))
        if unloaded:
            _refuse_models(servo, models, carries, "friction that grows with the load", _is_loaded)
            findings.append(NoLoad(servo=servo, load=load, friction=friction))
        idle = [joint for joint, joint_excitation in own.items() if joint_excitation.load < friction]
        if idle and not unloaded:
            findings.append(IdleMotors(joints=tuple(idle), servo=servo, friction=friction))
    return findings


def _refuse_models(
    servo: str, models: Sequence[str], why: str, what: str, needs: Callable[[str], bool]
) -> None:
    """Raise BadData where models are asked for that need what the motions lack."""
    unknown = [name for name in models if needs(name)]
    if unknown:
        others = ",".join(name for name in FRICTION_MODELS if not needs(name))
        raise BadData(
            f"servo {servo}",
            f"{why}, so {what} cannot be told ({', '.join(unknown)})",
            expected="other motions",
            advice=f"say --models {others}, or record such",
        )


def _motion(runs: Sequence[RobotRun], joints: Sequence[str]) -> dict[str, float]:
    """Return joint -> range of its positions in the run in which it moves most, rad."""
    return {
        joint: max(float(np.ptp(run.position[run.counts, run.column(joint)])) for run in runs)
        for joint in joints
    }


def _has_stribeck(name: str) -> bool:
    return _STRIBECK in FRICTION_MODELS[name].parameters


def _is_loaded(name: str) -> bool:
    return any(parameter.startswith("load") for parameter in FRICTION_MODELS[name].parameters)
