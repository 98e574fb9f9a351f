# SPDX-License-Identifier: Apache-2.0
"""Contacts between links of one robot that overlap where it starts: artefacts of descriptions, left out.

MuJoCo's own rule leaves out contacts between a link and the one that carries it, but not where the latter is
fixed to the world. The base of a URDF always is, and where its mesh overlaps the first link, contact friction
clamps the first joint. Convex hulls of meshes overlap between grandchildren, too.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.mujoco.robot import compile_robot
from bam_core.text.description_findings import StartContacts

log = logging.getLogger(__name__)

_TOUCHING = 1e-4  # m; parts that are drawn flush touch after rounding
_TURNS = 24  # postures of a joint at the fixed base, over its range, in which its two links may overlap
_ONE_DOF = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_ENDLESS = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
_WORLD = "world"

_NO_SOLIDS = 2e-3  # m; of links that overlap as far where a robot was measured, no contact can be real
_MOST_POSTURES = 200  # of one path

JointPath = tuple[Sequence[str], Array]
"""Joints, and (n, joints) their positions, rad or m: where a robot starts, and postures that it was in."""
Pair = tuple[int, int]
"""Numbers of two bodies, the smaller one first."""


def exclude_start_contacts(
    spec: mujoco.MjSpec, paths: Sequence[JointPath] = (), *, keyframe: str = ""
) -> StartContacts | None:
    """Exclude contacts between links of one robot that touch where it starts, in place.

    It starts in a keyframe, else as described with joints moved into their ranges, and where paths begin.
    Links that overlap deeply further on a path, which the robot did take, are no solids either. Two links
    that a joint at a fixed base connects count where they touch anywhere in its range, as by MuJoCo's own
    rule for all other joints. Contacts with what is around a robot, and with other robots or things that lie
    on each other, stay. So do pairs that the description names (`<contact><pair>`).

    Args:
        spec: the description.
        paths: that the robot takes; joints that are not in them are as in the keyframe.
        keyframe: its name; the first one where there is none of this name.

    Returns:
        What was excluded, which is also logged, once; None: nothing.

    Raises:
        BamError: MuJoCo refuses the description.
    """
    if not any(geom.contype or geom.conaffinity for geom in spec.geoms):
        return None
    named = spec.copy()
    names = _name_bodies(named)
    links = _Links(compile_robot(named), keyframe, is_fused=bool(spec.compiler.fusestatic))
    touching = links.touching(paths)
    if not touching:
        return None
    involved = {links.model.body(body).name for pair in touching for body in pair}
    for body, name in zip(spec.bodies, names, strict=True):
        if not body.name and name in involved:
            body.name = name
    shown = []
    for pair in touching:
        first, second = (links.model.body(body).name for body in pair)
        spec.add_exclude(bodyname1=first, bodyname2=second)
        shown.append((_root_link(spec) if first == _WORLD else first, second))
    finding = StartContacts(robot=spec.modelname, pairs=tuple(shown), depth=max(touching.values()))
    _warn_once(finding)
    return finding


class _Links:
    """The links of the robots of a model, and which of them touch."""

    def __init__(self, model: mujoco.MjModel, keyframe: str, *, is_fused: bool) -> None:
        self.model = model
        self._keyframe = max(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, keyframe), 0)
        self._is_fused = is_fused
        self._data = mujoco.MjData(model)
        model.geom_margin[:] = np.maximum(model.geom_margin, _TOUCHING)
        self._named = {
            frozenset(pair) for pair in zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True)
        }

    def touching(self, paths: Sequence[JointPath]) -> dict[Pair, float]:
        """Return pairs of links and how deep they overlap, m."""
        result: dict[Pair, float] = {}

        def add(posture: Array, least: float = 0.0, link: int | None = None) -> None:
            for pair, depth in self._overlaps(posture):
                if depth >= least and (link is None or self._connects(link, pair)):
                    result[pair] = max(depth, result.get(pair, 0.0))

        add(self._home())
        for joint in self._base_joints():
            for posture in self._turns(joint):
                add(posture, link=int(self.model.jnt_bodyid[joint]))
        for joints, positions in paths:
            for number, posture in enumerate(self._postures(joints, positions)):
                add(posture, _NO_SOLIDS if number else 0.0)
        return result

    def _home(self) -> Array:
        model = self.model
        home: Array = np.array(model.key_qpos[self._keyframe] if model.nkey else model.qpos0)
        for joint in range(model.njnt):
            if model.jnt_limited[joint] and model.jnt_type[joint] in _ONE_DOF:
                address = model.jnt_qposadr[joint]
                home[address] = np.clip(home[address], *model.jnt_range[joint])
        return home

    def _postures(self, joints: Sequence[str], positions: Array) -> Iterator[Array]:
        model = self.model
        numbers = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint) for joint in joints]
        columns = [
            k for k, number in enumerate(numbers) if number >= 0 and model.jnt_type[number] in _ONE_DOF
        ]
        addresses = model.jnt_qposadr[[numbers[k] for k in columns]]
        for row in positions[:: max(len(positions) // _MOST_POSTURES, 1), columns]:
            posture = self._home()
            posture[addresses] = np.where(np.isfinite(row), row, posture[addresses])
            yield posture

    def _base_joints(self) -> Iterator[int]:
        model = self.model
        for joint in range(model.njnt):
            body = model.jnt_bodyid[joint]
            is_at_base = model.body_weldid[model.body_parentid[body]] == 0
            is_hinge = model.jnt_type[joint] == _ONE_DOF[0]
            if is_at_base and (is_hinge or (model.jnt_type[joint] in _ONE_DOF and model.jnt_limited[joint])):
                yield joint

    def _turns(self, joint: int) -> Iterator[Array]:
        model = self.model
        low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi, np.pi)
        for position in np.linspace(low, high, _TURNS):
            posture = self._home()
            posture[model.jnt_qposadr[joint]] = position
            yield posture

    def _overlaps(self, posture: Array) -> Iterator[tuple[Pair, float]]:
        """Give pairs of links of one robot that touch, and how deep, m."""
        model, data = self.model, self._data
        data.qpos[:] = posture
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        contacts = data.contact
        for number in np.flatnonzero(contacts.dist < contacts.includemargin):
            geoms = [int(geom) for geom in contacts.geom[number]]
            if min(geoms) < 0 or frozenset(geoms) in self._named:
                continue
            geoms.sort(key=lambda geom: int(model.geom_bodyid[geom]))
            if self._is_one_robot(*geoms):
                first, second = (int(model.geom_bodyid[geom]) for geom in geoms)
                yield (first, second), max(-float(contacts.dist[number]), 0.0)

    def _is_one_robot(self, first: int, second: int) -> bool:
        """Return whether two geoms, in the order of their bodies, are of links of the same robot."""
        model = self.model
        still, moving = (int(model.geom_bodyid[geom]) for geom in (first, second))
        if still == 0 and int(model.geom_type[first]) in _ENDLESS:
            return False
        if self._robot(still) == self._robot(moving):
            return True
        # The world of an MJCF may hold a table, too: only the first link meets a base that is drawn there.
        is_first = int(model.body_parentid[moving]) == 0 and not self._is_free(moving)
        return still == 0 and is_first

    def _robot(self, body: int) -> int:
        """Return a number of the robot that a body belongs to; a URDF is one, with its base in the world."""
        root = int(self.model.body_rootid[body])
        return 0 if self._is_fused and not self._is_free(root) else root

    def _is_free(self, root: int) -> bool:
        joint = int(self.model.body_jntadr[root])
        return joint >= 0 and int(self.model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE)

    def _connects(self, link: int, pair: Pair) -> bool:
        """Return whether a pair is a link and the fixed base that carries it."""
        base = int(self.model.body_parentid[link])
        is_link = int(self.model.body_weldid[pair[1]]) == link
        return pair[0] == base and is_link and self._robot(base) == self._robot(link)


def _name_bodies(spec: mujoco.MjSpec) -> list[str]:
    """Give each body a name, by which pairs are excluded; return all of them, in order."""
    taken = {body.name for body in spec.bodies}
    names = []
    for number, body in enumerate(spec.bodies):
        name = body.name or f"body_{number}"
        while not body.name and name in taken:
            name += "_"
        if body.name != name:
            body.name = name
        names.append(name)
    return names


def _root_link(spec: mujoco.MjSpec) -> str:
    """Return the root link of a URDF, which MuJoCo merges into the world; empty where there is none."""
    links = [body for body in spec.worldbody.bodies if not list(body.joints) and body.name]
    return links[0].name if spec.compiler.fusestatic and links else ""


@functools.cache
def _warn_once(finding: StartContacts) -> None:
    """Log what one command would repeat for each of its recordings."""
    log.warning("%s", finding)
