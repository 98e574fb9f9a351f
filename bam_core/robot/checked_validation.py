# SPDX-License-Identifier: Apache-2.0
"""Errors of a robot's runs, with the checks and corrections that `bam robot validate` makes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.exchanged_joints import in_own_columns
from bam_core.robot.exchanged_names import exchanged_names
from bam_core.robot.late_joints import with_true_times
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.validation import RobotValidation, errors_of, simulate_runs
from bam_core.servo.model import ServoModel
from bam_core.text.finding import log_findings

log = logging.getLogger(__name__)


def validate_robot(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations = NO_DEVIATIONS,
    *,
    done: Callable[[str], None] = lambda run: None,
) -> RobotValidation:
    """Simulate every run and compare.

    Readings in the columns of other joints are put back first, and late ones are moved, where the data prove
    it. Joints that seem to have each other's names are logged.

    Args:
        bench: the robot.
        runs: to follow.
        joints: that count.
        servos: by joint.
        deviations: of this robot.
        done: called with the name of each run.

    Raises:
        BamError: a run cannot be simulated.
    """
    types = {joint: servo.name for joint, servo in servos.items()}
    runs = with_true_times(bench, in_own_columns(runs), joints, servos, types, deviations)
    log_findings(log, exchanged_names(bench, runs, joints, servos, deviations))
    return errors_of(runs, joints, simulate_runs(bench, runs, servos, deviations, done=done))
