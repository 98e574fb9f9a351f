# SPDX-License-Identifier: Apache-2.0
"""Faults of single groups of joints, which stop their group while the others go on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from bam_ros.driver.safety_events import Event
from bam_ros.driver.safety_states import Action, Fault, Report, Safety, transition
from bam_ros.text.torque_reasons import GroupStopped, JointNotFollowing, Reason


class GroupFaults:
    """The safety state of every group that stops alone; each follows `safety_states.transition`.

    A group is only ever ready or latched: what concerns the bus concerns all joints, and the loop's own
    state has it. A joint of no group stops all joints.

    Args:
        groups: name -> places of its joints on the bus, no joint in two of them; empty: all joints stop.
    """

    def __init__(self, groups: Mapping[str, Collection[int]]) -> None:
        self._joints = {name: frozenset(joints) for name, joints in groups.items()}
        self._group = {joint: name for name, joints in self._joints.items() for joint in joints}
        self._safety = dict.fromkeys(self._joints, Safety())
        self._stopped: Mapping[int, Reason] = {}

    @property
    def stopped(self) -> Mapping[int, Reason]:
        """Joints whose torque a fault of their group keeps off -> the fault; a new object at each change."""
        return self._stopped

    @property
    def faults(self) -> Mapping[str, Fault]:
        """Groups that a fault has stopped -> the fault."""
        return {name: safety.fault for name, safety in self._safety.items() if safety.fault is not None}

    def joints(self, group: str) -> frozenset[int]:
        """Return the places of a group's joints on the bus."""
        return self._joints[group]

    def of(self, joint: int) -> str | None:
        """Return the group that a joint stops; None: all joints."""
        return self._group.get(joint)

    def by_group(self, joints: Iterable[int]) -> Mapping[str | None, tuple[int, ...]]:
        """Return joints by the group that they stop; None: all joints."""
        groups: dict[str | None, tuple[int, ...]] = {}
        for joint in joints:
            groups[self.of(joint)] = (*groups.get(self.of(joint), ()), joint)
        return groups

    def reason(self, group: str, reason: Reason) -> GroupStopped:
        """Return why a group stops."""
        if isinstance(reason, JointNotFollowing):
            cure = f"then call ~/reset_fault, or command torque off on the joints of {group}, and on"
            reason = replace(reason, cure_after=cure)
        return GroupStopped(group=group, reason=reason)

    def handle(self, group: str, event: Event) -> tuple[Action | Report, ...]:
        """Go to the state of a group that follows an event; return the actions, which concern its joints."""
        self._safety[group], actions = transition(self._safety[group], event)
        self._refresh()
        return actions

    def forget(self) -> None:
        """End all faults: an interruption, such as a reboot, has ended what came before it."""
        self._safety = dict.fromkeys(self._joints, Safety())
        self._refresh()

    def _refresh(self) -> None:
        self._stopped = {
            joint: fault.reason for name, fault in self.faults.items() for joint in sorted(self._joints[name])
        }
