# SPDX-License-Identifier: Apache-2.0
"""Joints of a URDF that MuJoCo reads otherwise than they are written, without a word."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from bam_core.errors import Malformed


def require_sound_joints(path: Path, text: str) -> None:
    """Refuse joints of one name, and limits that are the wrong way round, which MuJoCo would leave out.

    Args:
        path: of the URDF, for the line.
        text: of it; where it is no XML, MuJoCo refuses it.

    Raises:
        Malformed: naming the joint.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return
    joints = root.findall("joint")
    for name, count in Counter(joint.get("name", "") for joint in joints).items():
        if count > 1:
            raise Malformed(path, f"joint '{name}' is there {count} times", expected="each name once")
    for joint in joints:
        limit = joint.find("limit")
        if limit is None or joint.get("type") not in ("revolute", "prismatic"):
            continue
        try:
            low, high = (float(limit.get(key, "0")) for key in ("lower", "upper"))
        except ValueError:
            continue  # which MuJoCo refuses
        if low > high:
            raise Malformed(
                path,
                f"joint '{joint.get('name', '')}' has a lower limit of {low:g} and an upper one of {high:g}",
                expected="a lower limit below the upper one",
                advice="exchange them",
            )
