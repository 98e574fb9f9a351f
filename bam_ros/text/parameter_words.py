# SPDX-License-Identifier: Apache-2.0
"""What the help of a node adds to the description of a parameter; which given parameters have no effect."""

from __future__ import annotations

from dataclasses import dataclass

from bam_ros.text.notice import Notice


def bounds_words(low: float | None, high: float | None, *, read_only: bool) -> str:
    """Return the range of a parameter, and whether it may change; begins with what separates it.

    Args:
        low: lowest value; None: it has no bounds.
        high: largest value; None likewise.
        read_only: it is read once.
    """
    changes = "" if read_only else "; may change while the node runs"
    return changes if low is None or high is None else f" [{low:g} to {high:g}]{changes}"


@dataclass(frozen=True, kw_only=True)
class SharedParametersIgnored(Notice):
    """Parameters that a file gives several nodes, and that one of them does not have; `names`: theirs."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join(self.names)
        return f"parameters of other nodes, from a section for several nodes, are ignored: {names}"


@dataclass(frozen=True, kw_only=True)
class QosOverridesIgnored(Notice):
    """Parameters `qos_overrides` of topics that a node does not have; `names`: theirs."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{', '.join(self.names)}: without effect (expected qos_overrides./TOPIC.publisher or"
            " .subscription, then .depth, .history or .reliability); write the topic's full name"
        )


@dataclass(frozen=True, kw_only=True)
class OrphanReleased(Notice):
    """Joints that are held no longer: whoever started the node has gone, and no client commands them.

    Attributes:
        joints: names.
        seconds: that they were held.
    """

    joints: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        return (
            f"{', '.join(self.joints)}: torque off, the terminal that started this node has gone and no"
            f" client has commanded them for {self.seconds:g} s (parameter orphan_hold_time); send a new goal"
            " to go on"
        )
