# SPDX-License-Identifier: Apache-2.0
"""The pendulum bench as MJCF (MjSpec) and as URDF, both from one `PendulumBench`.

The axis points at the viewer (+x), y to the viewer's right, z up: at joint angle 0 the arm hangs straight
down, and positive angles turn it counter-clockwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.etree import ElementTree

import mujoco

from bam_core.errors import Missing
from bam_core.servo.pendulum import GRAVITY, PendulumBench

BENCH_JOINT = "joint"
"""Name of the bench's joint by default."""

_LEAST_MASS = 1e-9  # kg; MuJoCo and URDF tools refuse bodies without mass, and an empty bench has none
_LEAST_INERTIA = 1e-12  # kg·m²; likewise for a load that is a point

# Only the eye sees these.
_MOUNT = (0.02, 0.02, 0.03)  # m, half sizes of the servo's box
_ARM_RADIUS = 0.004  # m
_SHORTEST_ARM = 0.01  # m
_LOAD_DENSITY = 7850.0  # kg/m³, steel
_GREY, _STEEL, _BRASS = (0.3, 0.3, 0.33, 1.0), (0.7, 0.72, 0.75, 1.0), (0.72, 0.53, 0.2, 1.0)


@dataclass(frozen=True, kw_only=True)
class _RigidBody:
    """Arm and load as one body: mass kg, distance of its centre below the axis m, inertia about it kg·m²."""

    mass: float
    centre: float
    inertia: float

    @classmethod
    def of(cls, bench: PendulumBench) -> _RigidBody:
        mass = max(bench.mass + bench.arm_mass, _LEAST_MASS)
        centre = (bench.mass + bench.arm_mass / 2.0) * bench.length / mass
        return cls(mass=mass, centre=centre, inertia=max(bench.inertia - mass * centre**2, _LEAST_INERTIA))


def bench_spec(
    bench: PendulumBench, *, joint: str = BENCH_JOINT, timestep: float = 1e-3, has_link: bool = False
) -> mujoco.MjSpec:
    """Return the bench without its servo; `equip` adds that.

    Args:
        bench: load, arm and length.
        joint: name of the hinge.
        timestep: s.
        has_link: the arm gets a hinge of its own, second after that of the servo, on the same axis. Nothing
            links them yet: see `replay.replay`.
    """
    body = _RigidBody.of(bench)
    spec = mujoco.MjSpec()
    spec.modelname = "pendulum_bench"
    spec.option.timestep = timestep
    spec.option.gravity = [0.0, 0.0, -GRAVITY]
    spec.worldbody.add_light(pos=[1.0, -0.5, 1.0], dir=[-1.0, 0.5, -1.0])
    _visual(spec.worldbody, "mount", mujoco.mjtGeom.mjGEOM_BOX, _MOUNT, (-_MOUNT[0], 0.0, 0.0), _GREY)
    if has_link:
        # Beside the arm, not above it: a joint feels the weight of all that hangs below, but this servo only
        # what the link passes on.
        shaft = spec.worldbody.add_body(
            name="shaft", mass=_LEAST_MASS, inertia=[_LEAST_INERTIA] * 3, explicitinertial=True
        )
        _hinge(shaft, joint)
    arm = spec.worldbody.add_body(
        name="arm",
        mass=body.mass,
        ipos=[0.0, 0.0, -body.centre],
        inertia=[body.inertia, body.inertia, _LEAST_INERTIA],
        explicitinertial=True,
    )
    _hinge(arm, f"{joint}_arm" if has_link else joint)
    half = max(bench.length, _SHORTEST_ARM) / 2.0
    _visual(arm, "rod", mujoco.mjtGeom.mjGEOM_CAPSULE, (_ARM_RADIUS, half, 0.0), (0.01, 0.0, -half), _STEEL)
    if bench.mass > 0.0:
        size = (_load_radius(bench), 0.0, 0.0)
        _visual(arm, "load", mujoco.mjtGeom.mjGEOM_SPHERE, size, (0.01, 0.0, -bench.length), _BRASS)
    return spec


def bench_urdf(bench: PendulumBench, *, joint: str = BENCH_JOINT) -> str:
    """Return the bench as URDF, with the inertia, axis and names of `bench_spec`.

    The link `load` is a frame where the load hangs, also on an empty bench. Its inertia is in the arm's;
    its colour is its own: RViz gives all visuals of a link that of the first.

    Raises:
        BamError: the joint has no name.
    """
    if not joint:
        raise Missing("bench joint, name", "one such as 'joint'", advice="give it one")
    body = _RigidBody.of(bench)
    robot = ElementTree.Element("robot", name="pendulum_bench")
    mount = ElementTree.SubElement(robot, "link", name="base_link")
    _urdf_visual(mount, "box", {"size": _numbers(*(2 * s for s in _MOUNT))}, (-_MOUNT[0], 0.0, 0.0), _GREY)
    arm = ElementTree.SubElement(robot, "link", name="arm")
    inertial = ElementTree.SubElement(arm, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_numbers(0.0, 0.0, -body.centre))
    ElementTree.SubElement(inertial, "mass", value=_numbers(body.mass))
    moments = {
        "ixx": body.inertia,
        "iyy": body.inertia,
        "izz": _LEAST_INERTIA,
        "ixy": 0.0,
        "ixz": 0.0,
        "iyz": 0.0,
    }
    ElementTree.SubElement(inertial, "inertia", {axis: _numbers(value) for axis, value in moments.items()})
    length = max(bench.length, _SHORTEST_ARM)
    rod = {"radius": _numbers(_ARM_RADIUS), "length": _numbers(length)}
    _urdf_visual(arm, "cylinder", rod, (0.01, 0.0, -length / 2.0), _STEEL)
    hinge = ElementTree.SubElement(robot, "joint", name=joint, type="continuous")
    ElementTree.SubElement(hinge, "parent", link="base_link")
    ElementTree.SubElement(hinge, "child", link="arm")
    ElementTree.SubElement(hinge, "axis", xyz="1 0 0")
    load = ElementTree.SubElement(robot, "link", name="load")
    if bench.mass > 0.0:
        _urdf_visual(load, "sphere", {"radius": _numbers(_load_radius(bench))}, (0.01, 0.0, 0.0), _BRASS)
    tip = ElementTree.SubElement(robot, "joint", name="load_fixed", type="fixed")
    ElementTree.SubElement(tip, "parent", link="arm")
    ElementTree.SubElement(tip, "child", link="load")
    ElementTree.SubElement(tip, "origin", xyz=_numbers(0.0, 0.0, -bench.length))
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


def _hinge(body: mujoco.MjsBody, name: str) -> None:
    body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[1.0, 0.0, 0.0])


def _visual(
    body: mujoco.MjsBody,
    name: str,
    kind: mujoco.mjtGeom,
    size: tuple[float, float, float],
    position: tuple[float, float, float],
    colour: tuple[float, float, float, float],
) -> None:
    body.add_geom(
        name=name, type=kind, size=size, pos=position, rgba=colour, contype=0, conaffinity=0, mass=0.0
    )


def _urdf_visual(
    link: ElementTree.Element,
    shape: str,
    attributes: dict[str, str],
    position: tuple[float, float, float],
    colour: tuple[float, float, float, float],
) -> None:
    visual = ElementTree.SubElement(link, "visual")
    ElementTree.SubElement(visual, "origin", xyz=_numbers(*position))
    ElementTree.SubElement(ElementTree.SubElement(visual, "geometry"), shape, attributes)
    material = ElementTree.SubElement(visual, "material", name=f"{link.get('name')}_{shape}")
    ElementTree.SubElement(material, "color", rgba=_numbers(*colour))


def _load_radius(bench: PendulumBench) -> float:
    return float((3.0 * bench.mass / (4.0 * math.pi * _LOAD_DENSITY)) ** (1.0 / 3.0))


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.12g}" for value in values)
