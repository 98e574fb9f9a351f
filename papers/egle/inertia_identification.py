# SPDX-License-Identifier: Apache-2.0
"""Inertia and friction found together, where the model of the robot is not to be believed either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, least_squares

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.whole_body.derivatives import Motion
from bam_core.whole_body.fit import fit_friction
from bam_core.whole_body.friction_law import (
    JOINT_FRICTION_PARAMETERS,
    JointFriction,
    friction_curve,
    friction_curve_jacobian,
)
from bam_core.whole_body.robot import WholeBody
from papers.egle.inverse_dynamics import TorqueShares, torque_shares

_SIX = len(JOINT_FRICTION_PARAMETERS)
_MASS_TRUST = 0.3  # how far off masses may be; weak, for those that hardly show
_ROTATION_TRUST = 1.0  # likewise moments of inertia
_WEIGHT = 1e-6  # N·m of torque that such a deviation counts as
_ROUNDS, _GAIN = 4, 1e-3
_MAX_STANDARD_ERROR = 0.1  # standard error of a scale from which it counts as not determined


@dataclass(frozen=True, kw_only=True)
class InertiaScale:
    """By how much a group of bodies differs from the model.

    Attributes:
        group: its name.
        kind: "mass" or "rotation".
        factor: true over modelled.
        standard_error: of the factor, as if errors of samples were independent.
        unidentifiable: whether the data hardly determine it.
    """

    group: str
    kind: str
    factor: float
    standard_error: float

    @property
    def unidentifiable(self) -> bool:
        """Whether the data hardly determine it."""
        return not self.standard_error < _MAX_STANDARD_ERROR


@dataclass(frozen=True, kw_only=True)
class JointIdentification:
    """Inertia and friction that fit together.

    Attributes:
        scales: masses and moments of inertia.
        friction: by joint.
        rms: of what is left, N·m.
        rms_before: of what a fit of friction alone leaves, N·m.
    """

    scales: tuple[InertiaScale, ...]
    friction: Mapping[str, JointFriction]
    rms: float
    rms_before: float

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """Scales that the data hardly determine."""
        return tuple(f"{scale.kind} of {scale.group}" for scale in self.scales if scale.unidentifiable)


def identify_inertia(
    robot: WholeBody,
    motion: Motion,
    wanted: Mapping[str, NDArray[np.bool_]],
    groups: Mapping[str, Sequence[str]],
    every: int = 2,
) -> JointIdentification:
    """Fit factors of mass and of moments of inertia, and the friction of joints, all at once.

    The torques of a motion are linear in both factors, so that the residual is
    Σ (factor · share) - τ + friction curve; it is least squares over all joints, since they share the bodies.

    Args:
        robot: whose inertias are corrected.
        motion: of its log.
        wanted: (n,) samples by joint; those joints' friction is sought. Single support.
        groups: bodies by group; each group has one factor of mass and one of moments of inertia.
        every: of so many samples one is looked at.

    Raises:
        BamError: a joint or body is unknown, or there are too few samples.
    """
    masks = {joint: wanted[joint] & motion.valid for joint in wanted}
    samples = np.flatnonzero(np.any(list(masks.values()), axis=0))[::every]
    if not len(samples):
        raise BadData("joint identification", "no samples in single support", advice="record longer")
    shares = torque_shares(robot, motion, samples, groups)
    problem = _Problem(robot, motion, masks, shares)
    start = problem.start()
    before = float(np.sqrt(np.mean(problem.residual(start)[: problem.count] ** 2)))
    solution = _solve(problem, start)
    for _ in range(_ROUNDS):  # friction alone knows several starts, and so finds out of a wrong valley
        again = _solve(problem, problem.start(solution.x[: problem.scales]))
        if again.cost >= solution.cost * (1.0 - _GAIN):
            break
        solution = again
    left_over = problem.residual(solution.x)[: problem.count]
    jacobian = problem.jacobian(solution.x)
    variance = float(left_over @ left_over) / max(problem.count - len(solution.x), 1)
    errors = np.sqrt(variance * np.diag(np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-15, hermitian=True)))
    names = [(group, "mass") for group in groups] + [(group, "rotation") for group in groups]
    return JointIdentification(
        scales=tuple(
            InertiaScale(
                group=group, kind=kind, factor=float(solution.x[index]), standard_error=float(errors[index])
            )
            for index, (group, kind) in enumerate(names)
        ),
        friction=problem.frictions(solution.x),
        rms=float(np.sqrt(np.mean(left_over**2))),
        rms_before=before,
    )


def _solve(problem: _Problem, start: Array) -> OptimizeResult:
    low, high = problem.bounds()
    return least_squares(
        problem.residual,
        np.clip(start, low + 1e-9, high),
        jac=problem.jacobian,
        bounds=(low, high),
        x_scale="jac",
        ftol=1e-12,
        xtol=1e-12,
        gtol=1e-12,
        max_nfev=200,
    )


class _Problem:
    """Residuals of all joints, one after the other, then how far factors are from one."""

    def __init__(
        self,
        robot: WholeBody,
        motion: Motion,
        masks: Mapping[str, NDArray[np.bool_]],
        shares: TorqueShares,
    ) -> None:
        self.joints = tuple(masks)
        self.scales = 2 * len(shares.groups)
        self.rows: list[slice] = []
        self.velocity, design, target = [], [], []
        self.count = 0
        for joint in self.joints:
            column, driven = robot.names.index(joint), robot.joints.index(joint)
            inside = masks[joint][shares.samples]
            chosen = shares.samples[inside]
            self.velocity.append(motion.velocity[chosen, column])
            design.append(
                np.concatenate((shares.mass[inside, :, driven], shares.rotation[inside, :, driven]), axis=1)
            )
            target.append(shares.rest[inside, driven] - motion.effort[chosen, column])
            self.rows.append(slice(self.count, self.count + len(chosen)))
            self.count += len(chosen)
        self.design = np.concatenate(design)
        self.target = np.concatenate(target)
        half = self.scales // 2
        self.prior = _WEIGHT / np.repeat([_MASS_TRUST, _ROTATION_TRUST], half)

    def start(self, scales: Array | None = None) -> Array:
        scales = np.ones(self.scales) if scales is None else scales
        torque = self.design @ scales + self.target
        laws = [
            fit_friction(joint, velocity, torque[rows]).friction.values
            for joint, velocity, rows in zip(self.joints, self.velocity, self.rows, strict=True)
        ]
        return np.concatenate((scales, *laws))

    def bounds(self) -> tuple[Array, Array]:
        joints = len(self.joints)
        low = np.concatenate((np.zeros(self.scales), np.tile([0.0, 0.0, 0.0, 0.01, -np.inf, 1.0], joints)))
        high = np.concatenate(
            (np.full(self.scales, 10.0), np.tile([np.inf, np.inf, 20.0, 3.0, np.inf, 1000.0], joints))
        )
        return low, high

    def residual(self, values: Array) -> Array:
        scales = values[: self.scales]
        left_over = self.design @ scales + self.target
        for index, rows in enumerate(self.rows):
            left_over[rows] += friction_curve(self._law(values, index), self.velocity[index])
        return np.concatenate((left_over, self.prior * (scales - 1.0)))

    def jacobian(self, values: Array) -> Array:
        jacobian = np.zeros((self.count + self.scales, len(values)))
        jacobian[: self.count, : self.scales] = self.design
        for index, rows in enumerate(self.rows):
            start = self.scales + _SIX * index
            jacobian[rows, start : start + _SIX] = friction_curve_jacobian(
                self._law(values, index), self.velocity[index]
            )
        jacobian[self.count :, : self.scales] = np.diag(self.prior)
        return jacobian

    def frictions(self, values: Array) -> dict[str, JointFriction]:
        return {
            joint: JointFriction.from_values(self._law(values, index))
            for index, joint in enumerate(self.joints)
        }

    def _law(self, values: Array, joint: int) -> Array:
        start = self.scales + _SIX * joint
        return values[start : start + _SIX]
