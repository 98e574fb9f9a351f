# SPDX-License-Identifier: Apache-2.0
"""Torques and friction of joints as markers for RViz: arcs around the axis, a ball coloured by the regime."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from bam_ros.simulator.friction_state import FrictionState, JointPlace

REGIME_COLOURS = {
    "drive": (0.12, 0.47, 0.71),
    "static": (0.5, 0.5, 0.5),
    "backdrive": (0.84, 0.15, 0.16),
}
"""As in the drive/backdrive diagram."""
_MOTOR_COLOUR, _FRICTION_COLOUR = (1.0, 0.6, 0.1), (0.2, 0.7, 0.3)
_FULL_SWEEP = 0.9 * math.pi  # of an arc at the largest torque, to either side
_POINTS = 25
_BLANK = 0.55  # width of a blank per height; RViz's own is that of text 1 m high
_LIFT = 0.4  # of the size, along the axis: out of the link in front of whose face the joint lies
_LETTER_SIZE = 0.4  # of the size; RViz draws lines of text twice as high
# Of the size, from the axis to the middle of three lines, beyond the arcs also where it is beside them: it
# turns with the link, opposite to it. Lines as drawn are some ten times as wide as a letter is high.
_LABEL = 1.2 + 6 * _LETTER_SIZE
_BESIDE = 1.2 + 9 * _LETTER_SIZE  # likewise, beside the arcs: lines are 18 times as wide as a letter is high

ID_MOTOR, ID_BUDGET, ID_FRICTION, ID_REGIME, ID_TEXT = range(5)
"""Number of each of a joint's markers; their namespace is the joint's name."""


class FrictionMarkers:
    """Draws joints, in frames that `robot_state_publisher` gives.

    Around each axis lie, from the inside out: the friction that is applied, its budget to both sides, and the
    motor's torque. Arcs begin at the same angle, and a full one is the joint's stall torque. All is drawn
    a little along the axis, where the link around the joint does not hide it.

    Args:
        places: of the joints.
        full_torques: of each joint's longest arc, N·m, above zero.
        size: radius of the outer arc, m.
    """

    def __init__(self, places: Sequence[JointPlace], full_torques: Sequence[float], size: float) -> None:
        self._places, self._full, self._size = tuple(places), tuple(full_torques), size

    def draw(self, states: Iterable[FrictionState], stamp: Time) -> MarkerArray:
        """Return all markers of all joints.

        Args:
            states: of the joints, in their order.
            stamp: of the states.
        """
        markers = []
        for place, full, state in zip(self._places, self._full, states, strict=True):
            size, budget = self._size, state.budget / full
            centre = np.asarray(place.anchor) + _LIFT * size * np.asarray(place.axis)
            arcs = (
                (ID_MOTOR, 1.0, 0.0, state.motor_torque / full, _MOTOR_COLOUR),
                (ID_BUDGET, 0.8, -budget, budget, REGIME_COLOURS["static"]),
                (ID_FRICTION, 0.7, 0.0, state.friction_torque / full, _FRICTION_COLOUR),
            )
            for number, radius, start, end, colour in arcs:
                marker = _marker(place, number, Marker.LINE_STRIP, colour, stamp)
                marker.scale = Vector3(x=0.06 * size)
                marker.points = _arc(place, centre, radius * size, start, end)
                markers.append(marker)
            regime = state.regime
            ball = _marker(place, ID_REGIME, Marker.SPHERE, REGIME_COLOURS[regime], stamp)
            ball.scale = Vector3(x=0.4 * size, y=0.4 * size, z=0.4 * size)
            ball.pose.position = _point(centre)
            text = _marker(place, ID_TEXT, Marker.TEXT_VIEW_FACING, (1.0, 1.0, 1.0), stamp)
            text.scale = Vector3(x=_BLANK * _LETTER_SIZE * size, z=_LETTER_SIZE * size)
            above, beside = _across(place)
            # Above a joint, its label would hide the one before it.
            away = _LABEL * above if len(self._places) == 1 else -_BESIDE * beside
            text.pose.position = _point(centre + size * away)
            text.text = (  # ASCII: RViz draws no dot between N and m
                f"{place.name}: {regime}\nmotor {state.motor_torque:+.2f} Nm\n"
                f"friction {state.friction_torque:+.2f} of {state.budget:.2f} Nm"
            )
            markers += [ball, text]
        return MarkerArray(markers=markers)


def _marker(
    place: JointPlace, number: int, kind: int, colour: tuple[float, float, float], stamp: Time
) -> Marker:
    red, green, blue = colour
    marker = Marker(
        ns=place.name,
        id=number,
        type=kind,
        action=Marker.ADD,
        color=ColorRGBA(r=red, g=green, b=blue, a=0.9),
        pose=Pose(orientation=Quaternion(w=1.0)),
        frame_locked=True,
    )
    marker.header.frame_id, marker.header.stamp = place.frame, stamp
    return marker


def _arc(place: JointPlace, centre: np.ndarray, radius: float, start: float, end: float) -> list[Point]:
    """Points around the axis; start and end as shares of a full arc, cut off at it."""
    one, other = _across(place)
    first, last = np.clip([start, end], -1.0, 1.0) * _FULL_SWEEP
    angles = np.linspace(first, last, _POINTS)
    around = np.cos(angles)[:, None] * one + np.sin(angles)[:, None] * other
    return [_point(centre + radius * direction) for direction in around]


def _across(place: JointPlace) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that are right-handed with the axis, the first as far up as can be."""
    axis = np.asarray(place.axis)
    up = np.eye(3)[2] if abs(axis[2]) < 0.9 else np.eye(3)[0]
    one = up - axis * (axis @ up)
    one /= np.linalg.norm(one)
    return one, np.cross(axis, one)


def _point(values: Sequence[float] | np.ndarray) -> Point:
    x, y, z = (float(value) for value in values)
    return Point(x=x, y=y, z=z)
