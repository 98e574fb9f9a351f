# SPDX-License-Identifier: Apache-2.0
"""Friction of every driven joint from positions and torques: what its accelerations lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bam_core.arrays import Array
from bam_core.errors import BadData, Conflict, UnknownName, WrongShape
from bam_core.text.whole_body_findings import RankDeficit
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics
from bam_core.whole_body.derivatives import Motion
from bam_core.whole_body.joint_log import JointLog
from bam_core.whole_body.robot import WholeBody

_SINGULAR = 1e-9  # of M_mod⁻¹ scaled to a unit diagonal: least over largest eigenvalue that counts as one
_CLEARLY_REGULAR = 1e-6  # of the same: a square pivot from which nothing has to be looked at more closely
_INVOLVED = 1e-4  # share of a joint in the torques that nothing shows
_REGULARISATION = 1e-10  # Λ of (6.1), over the largest eigenvalue of M_mod⁻¹·W·M_mod⁻¹


@dataclass(frozen=True, kw_only=True)
class Rank:
    """What the accelerations determine with certain contacts.

    Attributes:
        contacts: that stand.
        rank: of M_mod⁻¹, the least that occurred.
        joints: how many friction torques are asked for.
        unidentifiable: joints whose torque can be traded for others' without any acceleration changing.
        samples: in how many samples they stood.
    """

    contacts: tuple[str, ...]
    rank: int
    joints: int
    unidentifiable: tuple[str, ...]
    samples: int

    def deficit(self, *, is_left_out: bool = False) -> RankDeficit:
        """Return the finding about joints that are not identifiable.

        Args:
            is_left_out: samples with these contacts are not used.
        """
        return RankDeficit(
            contacts=self.contacts,
            rank=self.rank,
            joints=self.joints,
            unidentifiable=self.unidentifiable,
            samples=self.samples,
            is_left_out=is_left_out,
        )


@dataclass(frozen=True, kw_only=True)
class FrictionEstimate:
    """Friction torques that act on the driven joints, where they could be found.

    Attributes:
        joints: columns.
        time: (n,) s.
        torque: τ_f, (n, j) N·m; NaN where it was not asked for or has no support.
        velocity: of the same joints, (n, j) rad/s.
        residual: Δq̈ - M_mod⁻¹·τ_f, (n, j) rad/s²: none on one foot, what regularisation leaves on two.
        inertia: M_mod, (n, j, j) kg·m²; NaN where it is singular.
        contacts: which stood, in each sample.
        ranks: by contacts, in order of appearance.
    """

    joints: tuple[str, ...]
    time: Array
    torque: Array
    velocity: Array
    residual: Array
    inertia: Array
    contacts: tuple[tuple[str, ...], ...]
    ranks: tuple[Rank, ...]

    def column(self, joint: str) -> int:
        """Return where a joint's torques are.

        Raises:
            BamError: the joint is not driven.
        """
        if joint not in self.joints:
            raise UnknownName("driven joint", joint, self.joints)
        return self.joints.index(joint)


def known_motion(log: JointLog, velocity: Array, acceleration: Array) -> Motion:
    """Return a motion whose derivatives are known, as simulations know them; shapes as in the log."""
    return Motion(
        log=log,
        position=log.position,
        velocity=velocity,
        acceleration=acceleration,
        effort=log.effort,
        valid=np.ones(len(log), dtype=bool),
    )


def estimate_friction(
    robot: WholeBody,
    motion: Motion,
    wanted: NDArray[np.bool_] | None = None,
    poses: Mapping[str, tuple[Array, Array]] | None = None,
) -> FrictionEstimate:
    """Estimate by (5.13) where M_mod⁻¹ is regular, by (6.1) where it is not; W is the identity.

    Args:
        robot: whose model is believed.
        motion: from `differentiate`, or `known_motion`.
        wanted: (n,) samples to look at; all that are valid when left out.
        poses: where each contact stands, position and rotation; flat on level ground when left out.

    Raises:
        BamError: the log does not fit the robot, or nothing is left to look at.
    """
    log = motion.log.arranged(robot)
    if motion.log.names != log.names:
        raise Conflict(
            "joint log", "its joints are not in the robot's order", advice="arrange it before differentiating"
        )
    if wanted is not None and np.shape(wanted) != (len(log),):
        raise WrongShape(
            "wanted, shape", np.shape(wanted), f"{(len(log),)}, one flag for each sample of the joint log"
        )
    chosen = motion.valid.copy() if wanted is None else motion.valid & wanted
    sets = [tuple(name for name in robot.contacts if log.contacts[name][index]) for index in range(len(log))]
    if robot.floating:
        chosen &= np.array([bool(names) for names in sets])
    if not chosen.any():
        raise BadData(
            "joint log",
            "no sample is left to estimate friction from",
            expected="some with a standing contact, away from lift-off, touch-down and lost samples",
            advice="record longer",
        )
    dynamics = ConstrainedDynamics(robot)
    columns, count = robot.torque_columns, len(robot.joints)
    torque, residual = (np.full((len(log), count), np.nan) for _ in range(2))
    inertia = np.full((len(log), count, count), np.nan)
    ranks: dict[tuple[str, ...], list[Rank]] = {}
    for index in np.flatnonzero(chosen):
        feet = sets[index]
        anchor = feet[0] if robot.floating else None
        pose = poses.get(anchor) if poses and anchor else None
        place = dynamics.place(motion.position[index], motion.velocity[index], anchor, pose)
        state = dynamics.at(*place, feet)
        mobility = state.mobility
        expected = state.acceleration(motion.effort[index, columns])[robot.torque_dofs]
        lacking = motion.acceleration[index, columns] - expected
        rank_here = rank_of(mobility, robot.joints, feet)
        ranks.setdefault(feet, []).append(rank_here)
        if rank_here.rank == count:
            inverse = np.linalg.inv(mobility)
            torque[index] = np.linalg.solve(mobility, lacking)
            inertia[index] = inverse
        else:
            torque[index] = regularised(mobility, lacking)
        residual[index] = lacking - mobility @ torque[index]
    return FrictionEstimate(
        joints=robot.joints,
        time=log.time,
        torque=torque,
        velocity=motion.velocity[:, columns],
        residual=residual,
        inertia=inertia,
        contacts=tuple(sets),
        ranks=tuple(_worst(feet, rank) for feet, rank in ranks.items()),
    )


def rank_of(mobility: Array, joints: tuple[str, ...], contacts: tuple[str, ...]) -> Rank:
    """Return the rank of M_mod⁻¹, (j, j), and the joints that its null space mixes.

    Joints differ by orders of magnitude in inertia, so each is first measured by its own.
    """
    scale = 1.0 / np.sqrt(np.diag(mobility))
    even = mobility * np.outer(scale, scale)
    factor, failed = lapack.dpotrf(even, lower=1)
    if not failed and np.diag(factor).min() ** 2 > _CLEARLY_REGULAR:  # cheaper than eigenvalues
        return Rank(contacts=contacts, rank=len(joints), joints=len(joints), unidentifiable=(), samples=1)
    values, vectors = np.linalg.eigh(even)
    null = vectors[:, values < _SINGULAR * values[-1]]
    involved = np.abs(null).max(axis=1, initial=0.0) > _INVOLVED
    return Rank(
        contacts=contacts,
        rank=len(joints) - null.shape[1],
        joints=len(joints),
        unidentifiable=tuple(name for name, mixed in zip(joints, involved, strict=True) if mixed),
        samples=1,
    )


def regularised(mobility: Array, lacking: Array, weight: float = _REGULARISATION) -> Array:
    """Return τ_f of (6.1), W = 1, for accelerations that lack, (j,) rad/s² -> (j,) N·m.

    Args:
        mobility: M_mod⁻¹, (j, j).
        lacking: Δq̈.
        weight: Λ as a share of the largest eigenvalue of M_mod⁻¹·W·M_mod⁻¹.
    """
    values, vectors = np.linalg.eigh(mobility)
    gain = values / (values**2 + weight * values[-1] ** 2)
    return np.asarray(vectors @ (gain * (vectors.T @ lacking)))


def _worst(contacts: tuple[str, ...], ranks: list[Rank]) -> Rank:
    return Rank(
        contacts=contacts,
        rank=min(rank.rank for rank in ranks),
        joints=ranks[0].joints,
        unidentifiable=tuple(dict.fromkeys(name for rank in ranks for name in rank.unidentifiable)),
        samples=len(ranks),
    )
