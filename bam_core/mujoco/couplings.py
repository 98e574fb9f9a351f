# SPDX-License-Identifier: Apache-2.0
"""Joints that another joint moves: `<mimic>` of a URDF, and `<equality><joint>` of an MJCF.

MuJoCo translates the former from version 4 on, and dropped it before. Such a joint has no servo of its own.
"""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco

_COEFFICIENTS = 5  # of the polynomial of a joint's equality


def followers(spec: mujoco.MjSpec) -> set[str]:
    """Return the names of joints that another one moves."""
    return {
        equality.name1
        for equality in spec.equalities
        if equality.type == mujoco.mjtEq.mjEQ_JOINT and equality.active and equality.name1 and equality.name2
    }


def couple_mimics(spec: mujoco.MjSpec, text: str) -> None:
    """Couple joints of a URDF that mimic others, in place, where MuJoCo has not.

    Args:
        spec: made of the URDF.
        text: of the URDF.
    """
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):
        return
    done, names = followers(spec), {joint.name for joint in spec.joints}
    for joint in root.iterfind("joint"):
        mimic, follower = joint.find("mimic"), joint.get("name", "")
        if mimic is None or follower in done or not {follower, mimic.get("joint", "")} <= names:
            continue
        try:
            offset, factor = (float(mimic.get(key, default)) for key, default in _DEFAULTS)
        except ValueError:
            continue
        equality = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT, name1=follower, name2=mimic.get("joint", "")
        )
        polynomial = [offset, factor, *([0.0] * (_COEFFICIENTS - 2))]
        equality.data = [*polynomial, *list(equality.data)[_COEFFICIENTS:]]


_DEFAULTS = (("offset", "0"), ("multiplier", "1"))
