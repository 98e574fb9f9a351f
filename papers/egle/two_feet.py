# SPDX-License-Identifier: Apache-2.0
"""Torques that a recorded motion on two feet takes: what is determined of them, and what is not.

On two feet the equations (5.4) of Egle leave the difference of both feet's wrenches open, six numbers; any
torques of the legs that go with them explain the motion as well. Determined are

- joints of open chains, such as arms, each on its own;
- sums over both legs of joints whose axes coincide, such as hip pitch, knee and ankle pitch of a squat: what
  one foot's wrench adds to the one, it takes from the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Conflict
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics
from bam_core.whole_body.robot import WholeBody

_LEVER = 0.05  # m; a moment counts as much as a force at this lever, about half a foot


@dataclass(frozen=True, kw_only=True)
class RequiredTorques:
    """What a motion takes.

    Attributes:
        torque: of the robot's joints, (n, k) N·m, on the links' side of the gears.
        weight: mean vertical force of both feet, N.
    """

    torque: Array
    weight: float


def required_torques(
    robot: WholeBody, position: Array, velocity: Array, acceleration: Array, *, share: float = 0.5
) -> RequiredTorques:
    """Return the torques that a motion takes while both of a robot's contacts stand still.

    The first contact stands level; the base follows from it. The total wrench is split with the least squares
    of what either foot carries, relative to its share.

    Args:
        robot: with two contacts; torques are those behind the gears, so that rotors take no part in them.
        position: (n, k) rad.
        velocity: (n, k) rad/s.
        acceleration: (n, k) rad/s².
        share: of the first contact, between 0 and 1.

    Raises:
        BamError: the robot has not two contacts.
    """
    if len(robot.contacts) != 2:
        raise Conflict(
            "robot", f"has {len(robot.contacts)} contacts", expected="two", advice="name both soles"
        )
    dynamics = ConstrainedDynamics(robot)
    model, data = robot.model, dynamics.data
    scale = np.array([1.0, 1.0, 1.0, 1.0 / _LEVER, 1.0 / _LEVER, 1.0 / _LEVER])
    scale = 1.0 / np.concatenate((scale / share, scale / (1.0 - share)))
    torque, up = np.empty_like(position), np.empty(len(position))
    needed = np.empty(model.nv)
    for index in range(len(position)):
        place = dynamics.place(position[index], velocity[index], robot.contacts[0])
        state = dynamics.at(*place, robot.contacts)
        first = state.jacobian[:6]
        data.qacc[robot.dofs] = acceleration[index]
        missing = state.target[:6] - first[:, robot.dofs] @ acceleration[index]
        data.qacc[:6] = np.linalg.solve(first[:, :6], missing)
        mujoco.mj_rne(model, data, 1, needed)
        feet = state.jacobian[:12] * scale[:, None]
        split = np.linalg.lstsq(feet[:, :6].T, needed[:6], rcond=None)[0]
        torque[index] = (needed - feet.T @ split)[robot.dofs]
        up[index] = needed[2]
    return RequiredTorques(torque=torque, weight=float(up.mean()))
