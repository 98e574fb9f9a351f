# SPDX-License-Identifier: Apache-2.0
"""Friction from noisy signals: each joint's with the filter that suits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BadData
from bam_core.text.finding import Finding
from bam_core.text.whole_body_findings import ConstantEffort, LostSamples, UnevenSamples
from bam_core.whole_body.contact_check import check_contacts
from bam_core.whole_body.contact_phases import single_support
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

_EVEN = 0.05  # of the period, by which times may be off


@dataclass(frozen=True, kw_only=True)
class FilteredEstimate:
    """Friction, and the filters that it was found with.

    Attributes:
        estimate: of friction.
        choices: filter of all accelerations, by the joint whose friction was found with it.
        remarks: which samples are not used, and why.
    """

    estimate: FrictionEstimate
    choices: Mapping[str, FilterChoice]
    remarks: tuple[Finding, ...]


def estimate_filtered(
    robot: WholeBody,
    log: JointLog,
    wanted: NDArray[np.bool_] | None = None,
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
        wanted: (n,) samples to look at; when left out, all in single support, or all of a fixed base.
        by_joint: (n,) samples in which a joint's friction matters; all that are wanted when left out.
        candidates: filters, from the least to the most smoothing.

    Raises:
        BamError: see `estimate_friction`, `choose_for_friction`; the contacts contradict the data throughout.
    """
    log = log.arranged(robot)
    if wanted is None:
        wanted = single_support(log) if robot.floating else np.ones(len(log), dtype=bool)
    if not wanted.any():
        raise BadData(
            "joint log",
            "no sample is wanted",
            expected="some in which one contact stands, away from lift-off and touch-down",
            advice="walk, and record which feet stand",
        )
    remarks: list[Finding] = []
    if log.unevenness > _EVEN:
        remarks.append(UnevenSamples(unevenness=float(log.unevenness)))
    if log.lost:
        remarks.append(LostSamples(lost=int(log.lost), gaps=len(log.stretches) - 1))
    for column in robot.torque_columns:
        if np.ptp(log.effort[:, column]) == 0.0:
            remarks.append(ConstantEffort(joint=log.names[column], effort=float(log.effort[0, column])))
    own = choose_for_acceleration(log, candidates, wanted)
    motion = differentiate(log, {name: choice.scheme for name, choice in own.items()})
    wanted = wanted.copy()
    contradictions = check_contacts(robot, motion)
    for contradiction in contradictions:
        wanted[contradiction.phase.start : contradiction.phase.stop] = False
    if contradictions and not wanted.any():
        raise BadData(
            "joint log",
            f"contacts contradict it throughout, no sample is left ({contradictions[0].finding.statement})",
            advice=contradictions[0].finding.cure,
        )
    remarks += [contradiction.finding for contradiction in contradictions]
    estimate = estimate_friction(robot, motion, wanted)
    unidentifiable = [rank for rank in estimate.ranks if rank.unidentifiable]
    if len(unidentifiable) == len(estimate.ranks):
        raise BadData(
            "joint log",
            f"no friction can be identified ({', '.join(unidentifiable[0].unidentifiable)})",
            expected="motion on one foot, which filters need",
            advice="record some, or take what estimate_friction regularises",
        )
    remarks += [rank.deficit(is_left_out=True) for rank in unidentifiable]
    choices = choose_for_friction(log, estimate, candidates, by_joint)
    torque = np.full_like(estimate.torque, np.nan)
    columns = robot.torque_columns
    for scheme in dict.fromkeys(choice.scheme for choice in choices.values()):
        refiltered = differentiate(log, scheme)
        rows = [index for index, name in enumerate(robot.joints) if choices[name].scheme == scheme]
        change = refiltered.acceleration[:, columns] - motion.acceleration[:, columns]
        pushed = np.einsum("nij,nj->ni", estimate.inertia[:, rows], change)
        loaded = refiltered.effort[:, columns] - motion.effort[:, columns]
        friction = estimate.torque[:, rows] + pushed - loaded[:, rows]
        torque[:, rows] = np.where(refiltered.valid[:, None], friction, np.nan)
    return FilteredEstimate(
        estimate=replace(estimate, torque=torque), choices=choices, remarks=tuple(remarks)
    )
