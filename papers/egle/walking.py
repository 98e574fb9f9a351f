# SPDX-License-Identifier: Apache-2.0
"""A robot walks: constrained forward dynamics under computed torque, with friction in its joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import UnknownName
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics, ConstrainedState
from bam_core.whole_body.friction_law import JointFriction, friction_curve
from bam_core.whole_body.joint_log import JointLog
from bam_core.whole_body.robot import WholeBody
from papers.egle.gait import Gait, Support, rotation_vector

Pose = tuple[Array, Array]

SAMPLE_PERIOD = 1e-3
"""s between samples of a walk."""
_SUBSTEPS = 1  # steps of Runge and Kutta per sample: friction at rest is stiff
_FREQUENCY = 80.0  # rad/s, of the loop around each joint, critically damped
_FLATTENING = 100.0  # 1/s, how fast a foot that landed askew lies flat
_REDUNDANT = 1e-9  # least over largest eigenvalue of M_mod⁻¹ that a torque can still act on


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A simulated walk, every millisecond.

    Attributes:
        log: what the robot's sensors say, exactly.
        velocity, acceleration: of the robot's joints, (n, k) rad/s, rad/s².
        friction: true torque that acts on each driven joint, (n, j) N·m.
        zmp: zero moment point under the standing foot, forward and left of its sole's site, (n, 2) m; NaN on
            two.
        supports: what stood when.
    """

    log: JointLog
    velocity: Array
    acceleration: Array
    friction: Array
    zmp: Array
    supports: tuple[Support, ...]


def simulate_walk(robot: WholeBody, gait: Gait, friction: Mapping[str, JointFriction]) -> Walk:
    """Walk.

    Standing feet do not move, by (5.10); its torques follow from the same equation, for a robot without
    friction.
    The state is that of the joints: the base follows from the foot that stands, so that it cannot drift.

    Args:
        robot: walks.
        gait: what its joints shall do.
        friction: by joint; the others have none.

    Raises:
        BamError: friction is given for a joint that the robot does not drive.
    """
    for name in friction:
        if name not in robot.joints:
            raise UnknownName("joint", name, robot.joints)
    return _Walker(robot, gait, friction).walk()


class _Walker:
    def __init__(self, robot: WholeBody, gait: Gait, friction: Mapping[str, JointFriction]) -> None:
        self.robot = robot
        self.gait = gait
        self.dynamics = ConstrainedDynamics(robot)
        none = JointFriction()
        self.laws = np.array([friction.get(name, none).values for name in robot.joints]).T
        self.step = SAMPLE_PERIOD / _SUBSTEPS
        self.halves = 2 * round(gait.duration / self.step)
        grid = np.linspace(0.0, self.halves / 2 * self.step, self.halves + 1)
        self.wanted = [
            gait.posture.derivative(order)(grid) if order else gait.posture(grid) for order in range(3)
        ]
        self.anchor = gait.supports[0].feet[0]
        self.pose: Pose = (np.zeros(3), np.eye(3))
        self.landed: Pose | None = None
        self.torque = np.zeros(len(robot.joints))

    def walk(self) -> Walk:
        robot, count = self.robot, self.halves // 2 // _SUBSTEPS
        position, velocity = self.wanted[0][0].copy(), self.wanted[1][0].copy()
        joints, driven = len(robot.names), len(robot.joints)
        shape = (count, joints)
        log_q, log_v, log_a = np.empty(shape), np.empty(shape), np.empty(shape)
        effort, friction = np.full(shape, np.nan), np.empty((count, driven))
        zmp = np.full((count, 2), np.nan)
        contacts = {foot: np.zeros(count, dtype=bool) for foot in robot.contacts}
        support = self.gait.supports[0]
        left = list(self.gait.supports[1:])
        velocity = self._start(support, position, velocity)
        for sample in range(count):
            time = sample * SAMPLE_PERIOD
            if left and time >= left[0].start - 1e-9:
                support = left.pop(0)
                velocity = self._start(support, position, velocity)
            for substep in range(_SUBSTEPS):
                half = 2 * (sample * _SUBSTEPS + substep)
                first, state = self._acceleration(position, velocity, half, support)
                if substep == 0:
                    log_q[sample], log_v[sample], log_a[sample] = position, velocity, first
                    effort[sample, robot.torque_columns] = self.torque
                    friction[sample] = self._friction(velocity)
                    if len(support.feet) == 1:
                        zmp[sample] = self._zmp(state, friction[sample])
                    for foot in support.feet:
                        contacts[foot][sample] = True
                position, velocity = self._integrate(position, velocity, first, half, support)
        return Walk(
            log=JointLog(
                names=robot.names,
                time=np.arange(count, dtype=np.float64) * SAMPLE_PERIOD,
                position=log_q,
                effort=effort,
                contacts=contacts,
            ),
            velocity=log_v,
            acceleration=log_a,
            friction=friction,
            zmp=zmp,
            supports=self.gait.supports,
        )

    def _integrate(
        self, position: Array, velocity: Array, first: Array, half: int, support: Support
    ) -> tuple[Array, Array]:
        """One step of Runge and Kutta, fourth order."""
        step = self.step
        v2 = velocity + 0.5 * step * first
        a2, _ = self._acceleration(position + 0.5 * step * velocity, v2, half + 1, support)
        v3 = velocity + 0.5 * step * a2
        a3, _ = self._acceleration(position + 0.5 * step * v2, v3, half + 1, support)
        v4 = velocity + step * a3
        a4, _ = self._acceleration(position + step * v3, v4, half + 2, support)
        return (
            position + step / 6.0 * (velocity + 2.0 * v2 + 2.0 * v3 + v4),
            velocity + step / 6.0 * (first + 2.0 * a2 + 2.0 * a3 + a4),
        )

    def _acceleration(
        self, position: Array, velocity: Array, half: int, support: Support
    ) -> tuple[Array, ConstrainedState]:
        robot = self.robot
        state = self._state(position, velocity, support)
        columns = robot.torque_columns
        wanted, rate, push = (values[half, columns] for values in self.wanted)
        command = (
            push
            + 2.0 * _FREQUENCY * (rate - velocity[columns])
            + _FREQUENCY**2 * (wanted - position[columns])
        )
        if len(support.feet) == 1:
            missing = command - state.acceleration(np.zeros(len(columns)))[robot.torque_dofs]
            self.torque = np.linalg.solve(state.mobility, missing)
        else:
            self.torque = self._shared(state, command)
        self._flatten(state)
        return state.acceleration(self.torque + self._friction(velocity))[robot.dofs], state

    def _shared(self, state: ConstrainedState, command: Array) -> Array:
        """Return the least torques for the accelerations on two feet that come closest to those commanded."""
        robot = self.robot
        wanted = np.zeros(robot.model.nv)
        wanted[robot.torque_dofs] = command
        standing = state.jacobian[:6]
        wanted[:6] = np.linalg.solve(standing[:, :6], state.target[:6] - standing[:, 6:] @ wanted[6:])
        feasible = state.closest(wanted) - state.acceleration(np.zeros(len(command)))
        values, vectors = np.linalg.eigh(state.mobility)
        kept = values > _REDUNDANT * values[-1]
        vectors = vectors[:, kept]
        return np.asarray(vectors @ ((feasible[robot.torque_dofs] @ vectors) / values[kept]))

    def _friction(self, velocity: Array) -> Array:
        return -friction_curve(self.laws, velocity[self.robot.torque_columns])

    def _state(self, position: Array, velocity: Array, support: Support) -> ConstrainedState:
        dynamics = self.dynamics
        return dynamics.at(
            *dynamics.place(position, velocity, self.anchor, self.pose), self._ordered(support)
        )

    def _flatten(self, state: ConstrainedState) -> None:
        """Let the ground turn a foot flat that landed askew."""
        if self.landed is None:
            return
        dynamics = self.dynamics
        where, turned = dynamics.contact_pose(self._other())
        away = np.concatenate((where - self.landed[0], rotation_vector(turned @ self.landed[1].T)))
        pull = 2.0 * _FLATTENING * dynamics.contact_velocity(self._other()) + _FLATTENING**2 * away
        state.target[6:12] -= pull

    def _start(self, support: Support, position: Array, velocity: Array) -> Array:
        """Let feet go or land; return velocities after the impact, which leaves standing feet at rest."""
        dynamics = self.dynamics
        if self.anchor not in support.feet:
            dynamics.at(*dynamics.place(position, velocity, self.anchor, self.pose), ())
            self.pose = flat(dynamics.contact_pose(support.feet[0]))
            self.anchor = support.feet[0]
        self.landed = None
        if len(support.feet) == 1:
            return velocity
        state = dynamics.at(
            *dynamics.place(position, velocity, self.anchor, self.pose), self._ordered(support)
        )
        self.landed = flat(dynamics.contact_pose(self._other()))
        y = np.linalg.solve(state.inverse_factor.T, dynamics.data.qvel)
        return np.asarray(((y - state.basis @ (state.basis.T @ y)) @ state.inverse_factor)[self.robot.dofs])

    def _ordered(self, support: Support) -> tuple[str, ...]:
        return tuple(sorted(support.feet, key=lambda foot: foot != self.anchor))

    def _other(self) -> str:
        return next(foot for foot in self.robot.contacts if foot != self.anchor)

    def _zmp(self, state: ConstrainedState, friction: Array) -> Array:
        wrench = state.multipliers(self.torque + friction)[:6]
        return np.array([-wrench[4], wrench[3]]) / wrench[2]


def flat(pose: Pose) -> Pose:
    """Return a sole's pose laid on level ground: height 0, turned about the vertical only."""
    where, turned = pose
    yaw = np.arctan2(turned[1, 0], turned[0, 0])
    cosine, sine = np.cos(yaw), np.sin(yaw)
    return (
        np.array([where[0], where[1], 0.0]),
        np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]]),
    )
