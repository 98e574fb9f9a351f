# SPDX-License-Identifier: Apache-2.0
"""The parameters `groups.NAME`: joints with an action of their own; and `group_fault`: what a fault stops."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bam_core.errors import Conflict, Missing, UnknownName, WrongValue

STOP_ALL, STOP_GROUP = "stop_all", "stop_group"
"""Values of the parameter `group_fault`."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # part of a name in ROS 2


def check_names(groups: Mapping[str, Sequence[str]]) -> None:
    """Refuse groups that no action can have, whatever joints there are.

    Args:
        groups: name -> joints.

    Raises:
        WrongValue: a name is none of ROS 2.
        Missing: a group has no joint.
        Conflict: a joint is in two groups, or twice in one.
    """
    owner: dict[str, str] = {}
    for name, joints in groups.items():
        thing = f"parameter groups.{name}"
        if _NAME.fullmatch(name) is None:
            raise WrongValue(thing, name, "letters, digits and _", advice="give the group another name")
        if not joints or "" in joints:
            raise Missing(thing, "at least one joint", advice="name its joints")
        for joint in joints:
            if joint in owner:
                raise Conflict(thing, f"{joint} is in {owner[joint]} already", advice="name each joint once")
            owner[joint] = name


def check_joints(groups: Mapping[str, Sequence[str]], valid: Sequence[str]) -> None:
    """Refuse groups with joints that are not on the bus; raises UnknownName.

    Args:
        groups: name -> joints.
        valid: of the joints on the bus.
    """
    for name, joints in groups.items():
        for joint in joints:
            if joint not in valid:
                raise UnknownName(f"joint of groups.{name}", joint, valid)


def stop_alone(
    policy: str, groups: Mapping[str, Sequence[str]], valid: Sequence[str]
) -> Mapping[str, frozenset[int]]:
    """Return the groups that a fault of one of their joints stops alone: name -> places on the bus.

    Args:
        policy: of the parameter `group_fault`.
        groups: name -> joints, all of them valid.
        valid: of the joints on the bus.

    Raises:
        WrongValue: there is no such policy.
        Missing: groups shall stop alone, and there is none.
    """
    if policy not in (STOP_ALL, STOP_GROUP):
        raise WrongValue("parameter group_fault", policy, f"{STOP_ALL} or {STOP_GROUP}")
    if policy == STOP_ALL:
        return {}
    if not groups:
        raise Missing(
            "parameter group_fault", "groups that stop alone", advice="name them in groups.NAME, or stop_all"
        )
    return {name: frozenset(valid.index(joint) for joint in joints) for name, joints in groups.items()}
