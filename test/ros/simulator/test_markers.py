# SPDX-License-Identifier: Apache-2.0
"""Markers say by shape and colour what friction does: how much of its budget, and which regime."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from visualization_msgs.msg import Marker

from bam_ros.simulator.friction_state import FrictionState, JointPlace
from bam_ros.simulator.markers import (
    ID_BUDGET,
    ID_FRICTION,
    ID_MOTOR,
    ID_REGIME,
    ID_TEXT,
    REGIME_COLOURS,
    FrictionMarkers,
)

PLACE = JointPlace(name="knee", frame="shin", anchor=(0.1, 0.2, 0.3), axis=(1.0, 0.0, 0.0))
SIZE = 0.05


def state(
    motor: float = 0.0, external: float = 0.0, velocity: float = 0.0, budget: float = 0.5
) -> FrictionState:
    return FrictionState(
        motor_torque=motor, external_torque=external, friction_torque=0.2, budget=budget, velocity=velocity
    )


def drawn(what: FrictionState, place: JointPlace = PLACE) -> dict[int, Marker]:
    array = FrictionMarkers([place], [4.0], SIZE).draw([what], Time(sec=3))
    return {marker.id: marker for marker in array.markers}


def sweep(marker: Marker) -> float:
    """Angle of an arc around the axis +x, rad."""
    y, z = np.array([[point.y - 0.2, point.z - 0.3] for point in marker.points]).T
    angles = np.unwrap(np.arctan2(z, y))
    return float(angles[-1] - angles[0])


@pytest.mark.parametrize(
    ("motor", "external", "velocity", "regime"),
    [
        (0.3, 0.1, 0.0, "static"),
        (-0.3, -0.1, 0.0, "static"),
        (1.5, -0.5, 0.0, "drive"),  # about to move
        (1.0, -0.5, 2.0, "drive"),
        (-1.0, 0.5, -2.0, "drive"),
        (1.0, -2.5, -1.0, "backdrive"),
        (1.0, -2.5, 0.0, "backdrive"),
        (0.0, 1.0, 0.5, "backdrive"),
        (0.4, 0.0, 0.5, "drive"),
    ],
)
def test_regimes_are_those_of_the_diagram(
    motor: float, external: float, velocity: float, regime: str
) -> None:
    what = state(motor, external, velocity)
    assert what.regime == regime
    markers = drawn(what)
    colour = markers[ID_REGIME].color
    assert (colour.r, colour.g, colour.b) == pytest.approx(REGIME_COLOURS[regime])
    assert markers[ID_TEXT].text.startswith(f"knee: {regime}\n")


def test_arcs_are_as_long_as_torques() -> None:
    markers = drawn(state(motor=2.0, budget=1.0))
    full = 0.9 * math.pi
    assert sweep(markers[ID_MOTOR]) == pytest.approx(full / 2.0)
    assert sweep(drawn(state(motor=-2.0))[ID_MOTOR]) == pytest.approx(-full / 2.0)
    assert sweep(markers[ID_BUDGET]) == pytest.approx(2.0 * full / 4.0)
    assert sweep(markers[ID_FRICTION]) == pytest.approx(0.2 * full / 4.0)
    assert sweep(drawn(state(motor=100.0))[ID_MOTOR]) == pytest.approx(full)  # more does not fit


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def test_arcs_lie_around_the_axis(axis: tuple[float, float, float]) -> None:
    place = JointPlace(name="knee", frame="shin", anchor=PLACE.anchor, axis=axis)
    points = drawn(state(motor=1.0), place)[ID_MOTOR].points
    away = np.array([[p.x, p.y, p.z] for p in points]) - PLACE.anchor
    along = away @ np.array(axis)
    np.testing.assert_allclose(along, 0.4 * SIZE)  # out of the link that the joint is in
    np.testing.assert_allclose(np.linalg.norm(away - np.outer(along, axis), axis=1), SIZE)


def test_every_marker_is_in_the_frame_of_its_joint_and_has_a_number_of_its_own() -> None:
    places = [PLACE, JointPlace(name="hip", frame="thigh", anchor=(0, 0, 0), axis=(0, 1, 0))]
    array = FrictionMarkers(places, [4.0, 6.0], SIZE).draw([state(), state()], Time(sec=3))
    assert {(m.ns, m.header.frame_id) for m in array.markers} == {("knee", "shin"), ("hip", "thigh")}
    assert len({(m.ns, m.id) for m in array.markers}) == len(array.markers) == 10
    assert {m.header.stamp.sec for m in array.markers} == {3}


def test_labels_of_joints_in_a_row_are_beside_them() -> None:
    """The axis is +x, so seen along it the side is y; above a joint the next one is."""
    row = [JointPlace(name=n, frame=n, anchor=(0, 0, 0), axis=(1, 0, 0)) for n in ("hip", "knee")]
    texts = [
        marker
        for marker in FrictionMarkers(row, [4.0, 4.0], SIZE).draw([state(), state()], Time()).markers
        if marker.id == ID_TEXT
    ]
    for text in texts:
        width = 0.9 * max(map(len, text.text.splitlines())) / 1.3 * text.scale.z
        assert text.pose.position.z == pytest.approx(0.0)
        assert abs(text.pose.position.y) - 0.5 * width >= 1.0 * SIZE  # arcs are as large


def test_labels_can_be_read_in_rviz() -> None:
    """It draws blanks as wide as `scale.x`, lines twice as high as `scale.z`, nothing beyond ASCII."""
    text = drawn(state(motor=-1.25))[ID_TEXT]
    lines = text.text.count("\n") + 1
    lower_edge = text.pose.position.z - PLACE.anchor[2] - 0.5 * lines * 2.0 * text.scale.z
    assert lower_edge >= 1.1 * SIZE  # no arc lies in front of it, nor the link around the joint
    width = 0.42 * max(map(len, text.text.splitlines())) * text.scale.z  # as measured in RViz
    away = text.pose.position.z - PLACE.anchor[2]
    assert away - 0.5 * width >= 1.1 * SIZE  # likewise where the link has turned by a quarter
    assert text.scale.x == pytest.approx(0.55 * text.scale.z)
    assert text.text.isascii()
    assert "motor -1.25 Nm" in text.text
