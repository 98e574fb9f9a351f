# SPDX-License-Identifier: Apache-2.0
"""The diagram's curves are where friction's budget is used up."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.plots.diagram import margins, plot_diagram, stall_torque
from bam_core.servo.friction import Friction
from bam_core.servo.model import ServoModel, load_servo

FRICTION = load_servo("mx106").friction
torques = st.floats(0.0, 10.0)


@given(motor=torques, load=torques, velocity=st.floats(0.0, 5.0))
def test_a_joint_is_never_driven_and_backdriven_at_once(motor: float, load: float, velocity: float) -> None:
    driven, backdriven = margins(FRICTION, np.array(motor), np.array(load), velocity)
    assert not (driven > 0 and backdriven < 0)


@given(motor=torques, load=torques)
def test_without_friction_the_larger_torque_wins(motor: float, load: float) -> None:
    driven, backdriven = margins(Friction(), np.array(motor), np.array(load), 0.0)
    assert driven == backdriven == motor - load


def test_coulomb_friction_holds_a_band_of_twice_its_size() -> None:
    driven, backdriven = margins(Friction(coulomb=0.3), np.array(1.0), np.array([0.7, 1.3]), 0.0)
    assert np.isclose(driven[0], 0.0)
    assert np.isclose(backdriven[1], 0.0)


def labels(servo: ServoModel) -> dict[str, tuple[float, float]]:
    return {text.get_text(): text.get_position() for text in plot_diagram([("x", servo)]).axes[0].texts}


def test_areas_are_labelled_inside_themselves() -> None:
    servo = load_servo("mx106")
    places = labels(servo)
    assert set(places) == {"drive", "static", "backdrive"}
    for name, (motor, load) in places.items():
        driven, backdriven = margins(servo.friction, np.array(motor), np.array(load), 0.0)
        assert (driven > 0, backdriven < 0) == (name == "drive", name == "backdrive")


def test_a_self_locking_gear_has_no_backdrive_area() -> None:
    servo = load_servo("mx106")
    locking = dataclasses.replace(servo.friction, load_external_stribeck=1.5, load_motor_stribeck=0.0)
    locking = dataclasses.replace(locking, load_external=0.0, load_motor=0.0, stribeck_velocity=50.0)
    assert "backdrive" not in labels(dataclasses.replace(servo, friction=locking))


def test_an_area_too_narrow_for_its_label_has_none() -> None:
    servo = load_servo("mx106")
    thin = dataclasses.replace(servo, friction_model="m1", friction=Friction(coulomb=0.05))
    assert set(labels(thin)) == {"drive", "backdrive"}


def test_axes_end_at_the_stall_torque_of_each_servo() -> None:
    servos = [(name, load_servo(name)) for name in ("mx106", "xl330")]
    figure = plot_diagram(servos)
    for ax, (_, servo) in zip(figure.axes, servos, strict=True):
        assert ax.get_xlim() == ax.get_ylim() == (0.0, stall_torque(servo))


def test_models_of_one_servo_share_their_axes_so_that_they_compare() -> None:
    weak = load_servo("mx106")
    motor = dataclasses.replace(weak.motor, resistance=0.5 * weak.motor.resistance)
    strong = dataclasses.replace(weak, motor=motor)
    other = load_servo("xl330")
    figure = plot_diagram([("m1", weak), ("m4", strong), ("xl330", other)])
    ends = [ax.get_xlim()[1] for ax in figure.axes]
    assert ends == [stall_torque(strong), stall_torque(strong), stall_torque(other)]
    assert [ax.get_ylim()[1] for ax in figure.axes] == ends
    assert {ax.get_xlim()[1] for ax in plot_diagram([("m1", weak), ("x", other)], max_torque=0.7).axes} == {
        0.7
    }


@pytest.mark.long
@pytest.mark.parametrize(("count", "rows"), [(1, 1), (4, 1), (6, 2), (7, 2), (9, 3)])
def test_many_panels_go_in_rows_that_a_page_holds(count: int, rows: int) -> None:
    figure = plot_diagram([(f"servo {i}", load_servo("mx106")) for i in range(count)])
    assert len(figure.axes) == count
    places = [spec for ax in figure.axes if (spec := ax.get_subplotspec()) is not None]
    assert len({place.rowspan.start for place in places}) == rows
    assert figure.get_figwidth() <= 4 * 4.4


def test_a_saturating_motor_stalls_at_less_torque() -> None:
    servo = load_servo("xl330")
    motor = dataclasses.replace(servo.motor, torque_saturation=0.3)
    unsaturated = dataclasses.replace(servo, motor=dataclasses.replace(motor, torque_saturation=0.0))
    plain, current = stall_torque(unsaturated), 7.5 / motor.resistance
    assert np.isclose(plain, motor.torque_constant * current)
    saturated = stall_torque(dataclasses.replace(servo, motor=motor))
    assert np.isclose(saturated, plain / (1.0 + 0.3 * current))
