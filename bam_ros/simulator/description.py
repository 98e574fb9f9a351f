# SPDX-License-Identifier: Apache-2.0
"""The description of a robot with the limits that its node enforces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True, kw_only=True)
class EnforcedLimits:
    """What the goals of a joint may be.

    Attributes:
        lower, upper: rad.
        effort: stall torque of its servo, N·m.
        velocity: of goals, rad/s.
    """

    lower: float
    upper: float
    effort: float
    velocity: float


def with_limits(urdf: str, limits: Mapping[str, EnforcedLimits]) -> str:
    """Return a URDF whose rotary joints have the limits that are enforced; comments stay.

    Planners take a joint that is continuous, or has wider limits, for free where its goals are refused.
    Effort and velocity that the file gives stay.

    Args:
        urdf: text of the file.
        limits: joint -> its limits; other joints stay as they are.
    """
    builder = ElementTree.TreeBuilder(insert_comments=True)
    robot = ElementTree.fromstring(urdf, ElementTree.XMLParser(target=builder))
    for joint in robot.iterfind("joint"):
        enforced = limits.get(joint.get("name", ""))
        if enforced is None or joint.get("type") not in ("continuous", "revolute"):
            continue
        joint.set("type", "revolute")
        limit = joint.find("limit")
        if limit is None:
            limit = ElementTree.SubElement(joint, "limit")
        limit.set("lower", f"{enforced.lower:.9g}")
        limit.set("upper", f"{enforced.upper:.9g}")
        for name, value in (("effort", enforced.effort), ("velocity", enforced.velocity)):
            if limit.get(name) is None:
                limit.set(name, f"{value:.9g}")
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"
