# SPDX-License-Identifier: Apache-2.0
"""Two joints whose names are exchanged, as in a map: goals and readings of each go with the other's name.

Each follows its own goals, so goals show nothing. The loads of the links do: simulations with the names
exchanged back are nearer to the readings. Signs and zeros that a map gave go with the columns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from bam_core.errors import BamError
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.root import FIXED
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.validation import errors_of
from bam_core.servo.model import ServoModel
from bam_core.text.exchange_findings import ExchangedNames

_RUNS = 2  # that are simulated
_LONGEST = 20.0  # s of each
_MOVES = 0.1  # rad; joints that move by less may have any name
_SURE = 0.77
"""Of the error of all joints. In four runs of a real SO-101, two at a time, with the library servo, no other
names come below 0.81. Of 20 exchanges of two joints, 12 are named; joints that gravity does not load hide."""


def exchanged_names(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations = NO_DEVIATIONS,
) -> list[ExchangedNames]:
    """Return a finding about the two joints whose exchanged names explain the runs far better, if any.

    Args:
        bench: the robot; of one whose base moves nothing is found.
        runs: recorded; the first ones are simulated.
        joints: that count.
        servos: by joint.
        deviations: of this robot.

    Raises:
        BamError: a run cannot be simulated as it is.
    """
    if bench.root != FIXED or bench.others != "simulated":
        return []
    parts = [run.beginning(_LONGEST) for run in runs[:_RUNS]]
    moving = [joint for joint in joints if max(_motion(run, joint) for run in parts) > _MOVES]
    if len(moving) < 2:
        return []

    def error(tried: Sequence[RobotRun]) -> float:
        simulated = {run.name: bench.simulate(run, servos, deviations) for run in tried}
        return errors_of(tried, joints, simulated).mae

    given = error(parts)
    others: dict[tuple[str, str], float] = {}
    for pair in combinations(moving, 2):
        with contextlib.suppress(BamError):  # a robot that cannot be simulated was not this one
            others[pair] = error([_exchanged(run, *pair) for run in parts])
    best = min(others, key=lambda pair: others[pair], default=None)
    if best is None or others[best] > _SURE * given:
        return []
    return [ExchangedNames(joints=best, error=given, other_error=others[best])]


def _motion(run: RobotRun, joint: str) -> float:
    return float(np.ptp(run.position[run.counts, run.column(joint)]))


def _exchanged(run: RobotRun, first: str, second: str) -> RobotRun:
    """Return a run in which two joints have each other's goals and readings; gains stay with the names."""
    others = {first: second, second: first}
    order = [run.column(others.get(joint, joint)) for joint in run.joints]
    return replace(
        run,
        sent={others.get(joint, joint): goals for joint, goals in run.sent.items()},
        goal_position=run.goal_position[:, order],
        position=run.position[:, order],
        sound=None if run.sound is None else run.sound[:, order],
    )
