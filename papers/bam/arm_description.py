# SPDX-License-Identifier: Apache-2.0
"""A two-link arm as MJCF (MjSpec) and as URDF, both from one `TwoLinkArm`."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco

from bam_core.servo.pendulum import GRAVITY
from papers.bam.two_link import JOINTS, Link, TwoLinkArm

_LEAST_INERTIA = 1e-9  # kg·m², about the link's own axis
_THICKNESS = 0.035  # radius of a link's rod relative to its length
_STEEL, _BRASS, _GREY = (0.7, 0.72, 0.75, 1.0), (0.72, 0.53, 0.2, 1.0), (0.3, 0.3, 0.33, 1.0)


def _mass(link: Link) -> float:
    return link.mass + link.tip_mass


def _centre(link: Link) -> float:
    """Distance of the centre of mass from the joint, m."""
    return (0.5 * link.mass + link.tip_mass) * link.length / _mass(link)


def _inertia(link: Link) -> float:
    """About the centre of mass, across the link, kg·m²."""
    about_joint = (link.mass / 3.0 + link.tip_mass) * link.length**2
    return max(about_joint - _mass(link) * _centre(link) ** 2, _LEAST_INERTIA)


def arm_spec(arm: TwoLinkArm, *, timestep: float = 1e-3) -> mujoco.MjSpec:
    """Return the arm without its servos, joints `shoulder` and `elbow`; `equip` adds the servos.

    Args:
        arm: what it is made of.
        timestep: s.
    """
    spec = mujoco.MjSpec()
    spec.modelname = arm.name
    spec.option.timestep = timestep
    spec.option.gravity = [0.0, 0.0, -GRAVITY]
    spec.worldbody.add_light(pos=[1.0, -0.5, 1.0], dir=[-1.0, 0.5, -1.0])
    parent, place = spec.worldbody, 0.0
    for name, joint, link in zip(("upper", "lower"), JOINTS, (arm.upper, arm.lower), strict=True):
        body = parent.add_body(
            name=name,
            pos=[0.0, 0.0, place],
            mass=_mass(link),
            ipos=[0.0, 0.0, -_centre(link)],
            inertia=[_inertia(link), _inertia(link), _LEAST_INERTIA],
            explicitinertial=True,
        )
        body.add_joint(name=joint, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[1.0, 0.0, 0.0])
        radius = _THICKNESS * link.length
        for kind, size, at, colour in (
            (mujoco.mjtGeom.mjGEOM_CAPSULE, (radius, link.length / 2, 0), -link.length / 2, _STEEL),
            (mujoco.mjtGeom.mjGEOM_SPHERE, (3.0 * radius, 0, 0), -link.length, _BRASS),
        ):
            body.add_geom(
                type=kind, size=size, pos=[0.0, 0.0, at], rgba=colour, contype=0, conaffinity=0, mass=0.0
            )
        parent, place = body, -link.length
    parent.add_site(name="tip", pos=[0.0, 0.0, place])
    return spec


def arm_urdf(arm: TwoLinkArm) -> str:
    """Return the arm as URDF, with the inertias, axes and names of `arm_spec`."""
    robot = ElementTree.Element("robot", name=arm.name)
    base = ElementTree.SubElement(robot, "link", name="base_link")
    _visual(base, "box", {"size": _numbers(*(0.2 * arm.upper.length,) * 3)}, 0.0, _GREY)
    parent, place = "base_link", 0.0
    for name, joint, link in zip(("upper", "lower"), JOINTS, (arm.upper, arm.lower), strict=True):
        _link(robot, name, link)
        hinge = ElementTree.SubElement(robot, "joint", name=joint, type="continuous")
        ElementTree.SubElement(hinge, "parent", link=parent)
        ElementTree.SubElement(hinge, "child", link=name)
        ElementTree.SubElement(hinge, "origin", xyz=_numbers(0.0, 0.0, place))
        ElementTree.SubElement(hinge, "axis", xyz="1 0 0")
        parent, place = name, -link.length
    _fixed(robot, "tip", parent, place)
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


def _link(robot: ElementTree.Element, name: str, link: Link) -> None:
    element = ElementTree.SubElement(robot, "link", name=name)
    inertial = ElementTree.SubElement(element, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_numbers(0.0, 0.0, -_centre(link)))
    ElementTree.SubElement(inertial, "mass", value=_numbers(_mass(link)))
    moments = {"ixx": _inertia(link), "iyy": _inertia(link), "izz": _LEAST_INERTIA}
    products = dict.fromkeys(("ixy", "ixz", "iyz"), 0.0)
    ElementTree.SubElement(
        inertial, "inertia", {axis: _numbers(value) for axis, value in {**moments, **products}.items()}
    )
    radius = _THICKNESS * link.length
    rod = {"radius": _numbers(radius), "length": _numbers(link.length)}
    _visual(element, "cylinder", rod, -link.length / 2.0, _STEEL)
    # A link of its own: RViz gives all visuals of a link the colour of the first.
    load = _fixed(robot, f"{name}_load", name, -link.length)
    _visual(load, "sphere", {"radius": _numbers(3.0 * radius)}, 0.0, _BRASS)


def _fixed(robot: ElementTree.Element, name: str, parent: str, height: float) -> ElementTree.Element:
    """Add a link that does not move with respect to its parent."""
    element = ElementTree.SubElement(robot, "link", name=name)
    joint = ElementTree.SubElement(robot, "joint", name=f"{name}_fixed", type="fixed")
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=name)
    ElementTree.SubElement(joint, "origin", xyz=_numbers(0.0, 0.0, height))
    return element


def _visual(
    link: ElementTree.Element,
    shape: str,
    attributes: dict[str, str],
    height: float,
    colour: tuple[float, float, float, float],
) -> None:
    visual = ElementTree.SubElement(link, "visual")
    ElementTree.SubElement(visual, "origin", xyz=_numbers(0.0, 0.0, height))
    ElementTree.SubElement(ElementTree.SubElement(visual, "geometry"), shape, attributes)
    material = ElementTree.SubElement(visual, "material", name=f"{link.get('name')}_{shape}")
    ElementTree.SubElement(material, "color", rgba=_numbers(*colour))


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.12g}" for value in values)
