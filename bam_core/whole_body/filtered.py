# SPDX-License-Identifier: Apache-2.0
"""Friction from noisy signals: each joint's with the filter that suits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bam_core.whole_body.contact_check import check_contacts
from bam_core.whole_body.derivatives import Scheme, differentiate
from bam_core.whole_body.estimate import FrictionEstimate, estimate_friction
from bam_core.whole_body.filter_choice import (
    SAVITZKY_GOLAY,
    FilterChoice,
    choose_for_acceleration,
    choose_for_friction,
)
from bam_core.whole_body.joint_log import JointLog
from bam_core.whole_body.robot import WholeBody


@dataclass(frozen=True, kw_only=True)
class FilteredEstimate:
    """Friction, and the filters that it was found with.

    Attributes:
        estimate: of friction.
        choices: filter of all accelerations, by the joint whose friction was found with it.
        remarks: what was left out of the log and why, a line each.
    """

    estimate: FrictionEstimate
    choices: Mapping[str, FilterChoice]
    remarks: tuple[str, ...]


def estimate_filtered(
    robot: WholeBody,
    log: JointLog,
    wanted: NDArray[np.bool_],
    by_joint: Mapping[str, NDArray[np.bool_]] | None = None,
    candidates: Sequence[Scheme] = SAVITZKY_GOLAY,
) -> FilteredEstimate:
    """Estimate friction in single support, with filters chosen from the data.

    Positions and velocities, which the model needs, come from the filter that suits each joint's
    acceleration. M_mod and its accelerations being known from there, other filters of accelerations and
    torques cost a product each.

    Args:
        robot: whose model is believed.
        log: of the robot.
        wanted: (n,) samples to look at, in single support.
        by_joint: (n,) samples in which a joint's friction matters; all that are wanted when left out.
        candidates: filters, from the least to the most smoothing.

    Raises:
        BamError: see `estimate_friction`, `choose_for_friction`.
    """
    log = log.arranged(robot)
    remarks = []
    if log.lost:
        remarks.append(
            f"joint log: {log.lost} samples are lost in {len(log.stretches) - 1} gaps; what is within "
            "a filter's reach of them is left out"
        )
    own = choose_for_acceleration(log, candidates, wanted)
    motion = differentiate(log, {name: choice.scheme for name, choice in own.items()})
    wanted = wanted.copy()
    for each in check_contacts(robot, motion):
        if wanted[each.phase.start : each.phase.stop].any():
            wanted[each.phase.start : each.phase.stop] = False
            remarks.append(f"{each}; left out")
    estimate = estimate_friction(robot, motion, wanted)
    choices = choose_for_friction(log, estimate, candidates, by_joint)
    torque = np.full_like(estimate.torque, np.nan)
    columns = robot.torque_columns
    for scheme in dict.fromkeys(choice.scheme for choice in choices.values()):
        other = differentiate(log, scheme)
        rows = [index for index, name in enumerate(robot.joints) if choices[name].scheme == scheme]
        change = other.acceleration[:, columns] - motion.acceleration[:, columns]
        pushed = np.einsum("nij,nj->ni", estimate.inertia[:, rows], change)
        loaded = other.effort[:, columns] - motion.effort[:, columns]
        found = estimate.torque[:, rows] + pushed - loaded[:, rows]
        torque[:, rows] = np.where(other.valid[:, None], found, np.nan)
    return FilteredEstimate(
        estimate=replace(estimate, torque=torque), choices=choices, remarks=tuple(remarks)
    )
