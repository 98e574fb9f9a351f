# SPDX-License-Identifier: Apache-2.0
"""A humanoid with the joints, ranges, gears, mass and height of TORO (Egle, table 4.1 and section 4.1).

The paper gives no lengths and no masses of links: those here are a person's, made to add up to the mass and
the height that it does give. So are the directions of the joints: those of each limb follow each other from
the trunk outwards in the order of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import mujoco

from bam_core.mujoco import compile_robot
from bam_core.servo.pendulum import GRAVITY
from bam_core.whole_body.robot import WholeBody

MASS = 79.2
"""kg."""
HEIGHT = 1.74
"""m, standing upright."""
HIP_HEIGHT, KNEE_HEIGHT, ANKLE_HEIGHT, HIP_OFFSET = 0.89, 0.49, 0.09, 0.10
"""m, above the sole, standing upright; half the distance of the hips."""
SOLES = ("right_sole", "left_sole")
"""Sites under the feet."""
_LEG = ("hip_roll", "hip_pitch", "hip_yaw", "knee", "ankle_roll", "ankle_pitch")
RIGHT_LEG = tuple(f"right_{name}" for name in _LEG)
LEFT_LEG = tuple(f"left_{name}" for name in _LEG)
LEGS = RIGHT_LEG + LEFT_LEG
"""The twelve leg joints, numbered 1 to 12 in Egle's tables."""
NECK = ("neck_yaw", "neck_pitch")
"""Position-controlled."""


@dataclass(frozen=True, kw_only=True)
class JointSpecification:
    """A row of table 4.1.

    Attributes:
        letter: in figure 4.1.
        motor: its type.
        gear_ratio: of the harmonic drive.
        speed: limit, °/s.
        torque: limit, N·m.
        range: from, to, °; of a left limb.
    """

    letter: str
    motor: str
    gear_ratio: int
    speed: float
    torque: float
    range: tuple[float, float]


def _row(
    letter: str, motor: str, gear_ratio: int, speed: float, torque: float, low: float, high: float
) -> JointSpecification:
    return JointSpecification(
        letter=letter, motor=motor, gear_ratio=gear_ratio, speed=speed, torque=torque, range=(low, high)
    )


SPECIFICATIONS: Mapping[str, JointSpecification] = MappingProxyType(
    {
        "hip_roll": _row("A", "ILM85", 160, 110, 176, -45, 90),
        "hip_pitch": _row("B", "ILM70", 160, 157, 100, -115, 90),
        "hip_yaw": _row("C", "ILM70", 160, 157, 100, -120, 120),
        "knee": _row("D", "ILM85", 100, 176, 130, -105, 105),
        "ankle_roll": _row("E", "ILM50", 160, 120, 40, -19.5, 19.5),
        "ankle_pitch": _row("F", "ILM85", 100, 176, 130, -45, 45),
        "waist": _row("G", "ILM70", 160, 157, 100, -120, 120),
        "shoulder_1": _row("H", "ILM70", 160, 157, 100, -120, 120),
        "shoulder_2": _row("I", "ILM70", 160, 157, 100, -15, 180),
        "shoulder_3": _row("J", "ILM50", 160, 120, 40, -105, 105),
        "elbow": _row("K", "ILM50", 160, 120, 40, 0, 148),
        "wrist_1": _row("L", "ILM50", 160, 120, 40, -145, 118),
        "wrist_2": _row("M", "ILM50", 160, 120, 40, -105, 105),
        "neck_yaw": _row("N", "MS106T", 225, 270, 8.4, -90, 90),
        "neck_pitch": _row("O", "MS106T", 225, 270, 8.4, -30, 90),
    }
)
"""Table 4.1, by the joint's name without its side."""

_MIRRORED = ("hip_roll", "shoulder_2")  # turn about x: outwards is the other way round on the right


def specification(joint: str) -> JointSpecification:
    """Return the row of table 4.1 of a joint of the humanoid; the range is that of its side."""
    kind = joint.removeprefix("right_").removeprefix("left_")
    row = SPECIFICATIONS[kind]
    if not joint.startswith("right_") or kind not in _MIRRORED:
        return row
    low, high = row.range
    return _row(row.letter, row.motor, row.gear_ratio, row.speed, row.torque, -high, -low)


def humanoid() -> WholeBody:
    """Return the humanoid: 25 torque-controlled joints, two held ones in the neck, soles as contacts."""
    return WholeBody(compile_robot(mujoco.MjSpec.from_string(humanoid_mjcf())), contacts=SOLES, held=NECK)


def humanoid_mjcf() -> str:
    """Return the humanoid as MJCF. Controls are torques of the motors, before their gears, in N·m."""
    root = Element("mujoco", model="humanoid")
    SubElement(root, "compiler", angle="degree", autolimits="true")
    SubElement(root, "option", gravity=f"0 0 {-GRAVITY}", timestep="0.001")
    world = SubElement(root, "worldbody")
    SubElement(world, "light", pos="0 0 4", dir="0 0 -1")
    SubElement(world, "geom", name="ground", type="plane", size="10 10 0.1", contype="2", conaffinity="1")
    pelvis = _body(world, "pelvis", (0, 0, HIP_HEIGHT))
    SubElement(pelvis, "freejoint", name="base")
    _box(pelvis, 9.0, (0.10, 0.13, 0.07), (0, 0, 0.04))
    for side, sign in (("right", -1), ("left", 1)):
        _leg(pelvis, side, sign)
    torso = _body(pelvis, "torso", (0, 0, 0.11))
    _joint(torso, "waist", "0 0 1")
    _box(torso, 18.6, (0.11, 0.16, 0.22), (0, 0, 0.24))
    for side, sign in (("right", -1), ("left", 1)):
        _arm(torso, side, sign)
    neck = _body(torso, "neck", (0, 0, 0.50))
    _joint(neck, "neck_yaw", "0 0 1")
    _capsule(neck, 0.4, 0.03, (0, 0, 0), (0, 0, 0.04))
    head = _body(neck, "head", (0, 0, 0.05))
    _joint(head, "neck_pitch", "0 1 0")
    SubElement(head, "geom", type="sphere", size="0.11", pos="0 0 0.08", mass="1.8")
    _actuators(root)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _leg(pelvis: Element, side: str, sign: int) -> None:
    roll = _body(pelvis, f"{side}_hip_bracket", (0, sign * HIP_OFFSET, 0))
    _joint(roll, f"{side}_hip_roll", "1 0 0")
    _box(roll, 2.4, (0.06, 0.05, 0.05), (-0.03, 0, 0))
    pitch = _body(roll, f"{side}_hip_yoke", (0, 0, 0))
    _joint(pitch, f"{side}_hip_pitch", "0 1 0")
    _box(pitch, 2.2, (0.05, 0.06, 0.05), (0, sign * 0.02, -0.04))
    thigh = _body(pitch, f"{side}_thigh", (0, 0, 0))
    _joint(thigh, f"{side}_hip_yaw", "0 0 1")
    _capsule(thigh, 6.0, 0.065, (0, 0, -0.10), (0, 0, KNEE_HEIGHT - HIP_HEIGHT + 0.05))
    shank = _body(thigh, f"{side}_shank", (0, 0, KNEE_HEIGHT - HIP_HEIGHT))
    _joint(shank, f"{side}_knee", "0 1 0")
    _capsule(shank, 5.0, 0.055, (0.01, 0, -0.04), (0, 0, ANKLE_HEIGHT - KNEE_HEIGHT + 0.06))
    ankle = _body(shank, f"{side}_ankle", (0, 0, ANKLE_HEIGHT - KNEE_HEIGHT))
    _joint(ankle, f"{side}_ankle_roll", "1 0 0")
    _box(ankle, 0.6, (0.03, 0.03, 0.03), (0, 0, 0))
    foot = _body(ankle, f"{side}_foot", (0, 0, 0))
    _joint(foot, f"{side}_ankle_pitch", "0 1 0")
    _box(foot, 1.8, (0.13, 0.065, 0.02), (0.035, 0, -ANKLE_HEIGHT + 0.02), touches=True)
    SubElement(foot, "site", name=f"{side}_sole", pos=_text((0, 0, -ANKLE_HEIGHT)), size="0.01")


def _arm(torso: Element, side: str, sign: int) -> None:
    first = _body(torso, f"{side}_shoulder", (0, sign * 0.20, 0.42))
    _joint(first, f"{side}_shoulder_1", "0 1 0")
    _box(first, 1.3, (0.05, 0.05, 0.05), (0, 0, 0))
    second = _body(first, f"{side}_shoulder_yoke", (0, sign * 0.05, 0))
    _joint(second, f"{side}_shoulder_2", "1 0 0")
    _box(second, 1.3, (0.045, 0.045, 0.06), (0, 0, -0.05))
    upper = _body(second, f"{side}_upper_arm", (0, 0, 0))
    _joint(upper, f"{side}_shoulder_3", "0 0 1")
    _capsule(upper, 1.7, 0.045, (0, 0, -0.12), (0, 0, -0.26))
    fore = _body(upper, f"{side}_forearm", (0, 0, -0.29))
    _joint(fore, f"{side}_elbow", "0 -1 0")
    _capsule(fore, 1.3, 0.04, (0, 0, -0.04), (0, 0, -0.18))
    wrist = _body(fore, f"{side}_wrist", (0, 0, -0.22))
    _joint(wrist, f"{side}_wrist_1", "0 0 1")
    _box(wrist, 0.5, (0.03, 0.03, 0.03), (0, 0, 0))
    hand = _body(wrist, f"{side}_hand", (0, 0, -0.03))
    _joint(hand, f"{side}_wrist_2", "0 1 0")
    _box(hand, 0.6, (0.02, 0.04, 0.07), (0, 0, -0.08))


def _actuators(root: Element) -> None:
    actuators = SubElement(root, "actuator")
    for joint in root.iter("joint"):
        name = joint.get("name", "")
        row = specification(name)
        limit = row.torque / row.gear_ratio
        SubElement(
            actuators,
            "motor",
            name=name,
            joint=name,
            gear=str(row.gear_ratio),
            ctrlrange=f"{-limit:.6g} {limit:.6g}",
        )


def _body(parent: Element, name: str, where: tuple[float, float, float]) -> Element:
    return SubElement(parent, "body", name=name, pos=_text(where))


def _joint(body: Element, name: str, axis: str) -> None:
    low, high = specification(name).range
    SubElement(body, "joint", name=name, axis=axis, range=f"{low} {high}")


def _box(
    body: Element,
    mass: float,
    half: tuple[float, float, float],
    where: tuple[float, float, float],
    touches: bool = False,
) -> None:
    _geom(body, touches, type="box", size=_text(half), pos=_text(where), mass=str(mass))


def _capsule(
    body: Element,
    mass: float,
    radius: float,
    start: tuple[float, float, float],
    end: tuple[float, float, float],
) -> None:
    _geom(body, False, type="capsule", size=str(radius), fromto=_text(start + end), mass=str(mass))


def _geom(body: Element, touches: bool, **attributes: str) -> None:
    """Only soles touch, and only the ground."""
    attributes["contype"], attributes["conaffinity"] = ("1", "2") if touches else ("0", "0")
    SubElement(body, "geom", attributes)


def _text(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:.6g}" for value in values)
