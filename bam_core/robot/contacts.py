# SPDX-License-Identifier: Apache-2.0
"""Which parts of a robot come near each other, or near what is around it, on a way."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import UnknownName
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.root import FIXED, stand

_FLOOR = "bam_bench_level_floor"
_EVERY = 0.02  # rad; the largest change of a joint between two postures that are looked at
_Pair = frozenset[str]


class ContactCheck:
    """Finds contacts by geometry alone.

    Parts that touch in a posture that is known to be good are taken as how links meet, or as what the robot
    stands on: `allow`.

    Args:
        spec: the robot as described, with all around it. Its base is free, or `root` is "fixed".
        root: what the base does; see `root.prepare_root`.
        clearance: m; what is nearer than that touches.
        floor: height of a level floor, m; None: only what the description has.
    """

    def __init__(
        self, spec: mujoco.MjSpec, root: str, *, clearance: float, floor: float | None = None
    ) -> None:
        prepared = spec.copy()
        if root == FIXED:
            for joint in [joint for joint in prepared.joints if joint.type == mujoco.mjtJoint.mjJNT_FREE]:
                prepared.delete(joint)
            for key in list(prepared.keys):
                prepared.delete(key)
        if floor is not None:
            prepared.worldbody.add_geom(
                name=_FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], pos=[0.0, 0.0, floor]
            )
        self._root = root
        self._clearance = clearance
        self.model = compile_robot(prepared)
        self.model.geom_margin[:] = clearance
        self._data = mujoco.MjData(self.model)
        self._allowed: frozenset[_Pair] = frozenset()

    @property
    def has_surroundings(self) -> bool:
        """Whether anything that does not move can be touched."""
        return any(
            self.model.geom_bodyid[geom] == 0
            and (self.model.geom_contype[geom] or self.model.geom_conaffinity[geom])
            for geom in range(self.model.ngeom)
        )

    def allow(self, joints: Sequence[str], posture: Array) -> list[str]:
        """Allow what touches in a posture from now on; return these pairs in words.

        Args:
            joints: names.
            posture: (joints,) rad.
        """
        touching = self._touching(self.state(joints, posture))
        self._allowed |= touching
        return sorted(" and ".join(sorted(pair)) for pair in touching)

    def state(self, joints: Sequence[str], posture: Array) -> Array:
        """Return (nq,) the robot's coordinates with some joints in a posture and the base where it stands.

        Raises:
            UnknownName: there is no such joint.
        """
        mujoco.mj_resetData(self.model, self._data)
        for joint, angle in zip(joints, posture, strict=True):
            number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, joint)
            if number < 0:
                names = [self.model.joint(index).name for index in range(self.model.njnt)]
                raise UnknownName("joint", joint, filter(None, names))
            self._data.qpos[self.model.jnt_qposadr[number]] = angle
        stand(self.model, self._data, self._root)
        return np.array(self._data.qpos)

    def problem(self, states: Array) -> str:
        """Return what comes too near on a way, in words; empty: nothing.

        Args:
            states: (n, nq) the robot's coordinates.
        """
        last: Array | None = None
        for state in states:
            if last is not None and np.abs(state - last).max() < _EVERY:
                continue
            last = state
            for pair in self._touching(state) - self._allowed:
                return f"{' and '.join(sorted(pair))} come nearer than {1e3 * self._clearance:g} mm"
        return ""

    def way(self, joints: Sequence[str], begin: Array, end: Array) -> Array:
        """Return (n, nq) the states on the straight way of some joints between two postures, rad."""
        steps = 2 + int(np.abs(end - begin).max() / _EVERY)
        return np.stack(
            [self.state(joints, begin + share * (end - begin)) for share in np.linspace(0.0, 1.0, steps)]
        )

    def _touching(self, state: Array) -> set[_Pair]:
        self._data.qpos[:] = state
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_collision(self.model, self._data)
        contacts = self._data.contact
        near = np.flatnonzero(contacts.dist < self._clearance)
        return {frozenset(self._name(int(geom)) for geom in contacts.geom[contact]) for contact in near}

    def _name(self, geom: int) -> str:
        """Return what a user calls a geom: its body, or what of the surroundings it is."""
        body = int(self.model.geom_bodyid[geom])
        name = self.model.geom(geom).name
        if body == 0:
            return "the floor" if name == _FLOOR else name or "the surroundings"
        return self.model.body(body).name or name or f"body {body}"
