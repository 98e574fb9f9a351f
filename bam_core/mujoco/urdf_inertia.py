# SPDX-License-Identifier: Apache-2.0
"""Inertia of a URDF that MuJoCo refuses and that does not matter: of its base, and of massless frames."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

_FRAME = 1e-3  # kg; a link that is lighter stands for a frame, and is given some inertia so as to have one
_KEYS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def without_void_inertia(root: ElementTree.Element) -> bool:
    """Remove inertia that no body can have where it does not matter, in place; return whether there was any.

    The root link of a URDF is fixed to the world, so that its inertia does not count. A link of less than a
    gram stands for a frame: of its inertia the products are left out. All others stay, for MuJoCo to refuse.
    """
    children = {joint.get("link", "") for joint in root.iterfind("joint/child")}
    changed = False
    for link in root.iterfind("link"):
        inertial = link.find("inertial")
        inertia = None if inertial is None else inertial.find("inertia")
        if inertial is None or inertia is None or _is_possible(inertia):
            continue
        mass = inertial.find("mass")
        if link.get("name") not in children:
            link.remove(inertial)
            changed = True
        elif mass is not None and 0.0 < _number(mass.get("value", "0")) < _FRAME:
            for key in _KEYS[3:]:
                inertia.set(key, "0")
            changed = True
    return changed


def _is_possible(inertia: ElementTree.Element) -> bool:
    xx, yy, zz, xy, xz, yz = (_number(inertia.get(key, "0")) for key in _KEYS)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return not np.all(np.isfinite(matrix)) or bool(np.linalg.eigvalsh(matrix)[0] > 0.0)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
