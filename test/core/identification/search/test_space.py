# SPDX-License-Identifier: Apache-2.0
"""The search space: scales, bounds, folding, which model contains which."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bam_core.identification.search.space import Axis, fold, is_nested, search_space
from bam_core.servo.effects import EFFECTS
from bam_core.servo.friction import FRICTION_MODELS, FRICTION_PARAMETERS, Friction
from bam_core.servo.model import load_servo
from bam_core.simulation.rollout import PARAMETERS
from test.core.identification_cases import mx106, record

LOGS = [record(mx106("m1"), "sin_sin", 8.0)]


@pytest.mark.parametrize("model", FRICTION_MODELS)
def test_every_point_is_a_law_of_the_model_within_bounds(model: str) -> None:
    space = search_space(FRICTION_MODELS[model], LOGS)
    points = np.random.default_rng(0).normal(0.5, 3.0, (200, space.dimension))
    for vector in space.vectors(points):
        values = dict(zip(PARAMETERS, vector, strict=True))
        friction = Friction(**{name: values[name] for name in FRICTION_PARAMETERS})
        assert FRICTION_MODELS[model].friction(FRICTION_MODELS[model].values(friction)) == friction
        for axis in space.axes:
            assert axis.low <= values[axis.targets[0]] * (1 + 1e-12)
            assert values[axis.targets[0]] <= axis.high * (1 + 1e-12)


@pytest.mark.parametrize("model", FRICTION_MODELS)
def test_a_vector_survives_the_way_to_its_point_and_back(model: str) -> None:
    space = search_space(FRICTION_MODELS[model], LOGS)
    points = np.random.default_rng(1).random((50, space.dimension))
    vectors = space.vectors(points)
    back = np.array([space.point(vector) for vector in vectors])
    np.testing.assert_allclose(back, points, atol=1e-9)


def test_terms_that_may_be_absent_reach_exactly_zero() -> None:
    space = search_space(FRICTION_MODELS["m6"], LOGS)
    vector = space.vectors(np.zeros((1, space.dimension)))[0]
    zero = {name for name, value in zip(PARAMETERS, vector, strict=True) if value == 0.0}
    positive = {"torque_constant", "resistance", "armature", "stribeck_velocity", "stribeck_exponent"}
    assert zero == set(PARAMETERS) - positive


@given(arrays(np.float64, 5, elements=st.floats(-1e3, 1e3)))
def test_folding_stays_inside_is_continuous_and_keeps_the_inside(points: np.ndarray) -> None:
    folded = fold(points)
    assert ((folded >= 0.0) & (folded <= 1.0)).all()
    np.testing.assert_allclose(fold(points + 1e-6), folded, atol=1.1e-6)
    inside = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(fold(inside), inside, atol=1e-12)


@given(st.floats(0.0, 1.0))
def test_scales_rise_from_low_to_high(coordinate: float) -> None:
    for low in (-1.0, 0.0, 0.01):
        axis = Axis(name="x", low=low, high=10.0, targets=("viscous",))
        value = float(axis.value(np.array(coordinate)))
        assert low <= value <= 10.0 * (1 + 1e-12)
        assert float(axis.value(np.array(min(coordinate + 0.01, 1.0)))) >= value


@given(st.floats(0.0, 1.0))
def test_a_coordinate_is_found_again(coordinate: float) -> None:
    for low in (-1.0, 0.0, 0.01):
        axis = Axis(name="x", low=low, high=10.0, targets=("viscous",))
        value = float(axis.value(np.array(coordinate)))
        assert axis.coordinate(value) == pytest.approx(coordinate, abs=1e-7)


def test_a_gain_of_unknown_unit_is_searched_in_proportion() -> None:
    """Of two unit systems 100 apart, each has as much of the axis as the other."""
    axis = Axis(name="firmware_gain", low=-0.99, high=99.0, targets=("firmware_gain",))
    assert axis.value(np.array([0.0, 0.25, 0.5, 1.0])) == pytest.approx([-0.99, -0.9, 0.0, 99.0])
    for value in (-0.99, -0.5, 0.0, 3.0, 99.0):
        assert float(axis.value(np.array(axis.coordinate(value)))) == pytest.approx(value)
    narrow = Axis(name="firmware_gain", low=-0.3, high=0.3, targets=("firmware_gain",))
    assert narrow.value(np.array([0.25])) == pytest.approx([-0.15])


def test_effects_are_free_where_they_are_asked_for_and_off_elsewhere() -> None:
    space = search_space(FRICTION_MODELS["m1"], LOGS, effects=("zero_offset",))
    assert [axis.name for axis in space.axes][-1] == "zero_offset"
    points = np.full((2, space.dimension), 0.25)
    points[1, -1] = 0.5
    vectors = space.vectors(points)
    off = [name for name in EFFECTS if name != "zero_offset"]
    assert not vectors[:, [PARAMETERS.index(name) for name in off]].any()
    np.testing.assert_allclose(vectors[:, PARAMETERS.index("zero_offset")], [-0.05, 0.0], atol=1e-12)
    points[1, -1] = 0.0
    assert space.at_bound(space.vectors(points[1:])[0]) == ("zero_offset",)


def test_a_switch_is_on_where_it_is_asked_for_and_no_axis_of_the_search() -> None:
    plain = search_space(FRICTION_MODELS["m1"], LOGS)
    space = search_space(FRICTION_MODELS["m1"], LOGS, effects=("encoder_quantisation",))
    assert space.axes == plain.axes
    column = PARAMETERS.index("encoder_quantisation")
    assert (plain.base[column], space.base[column]) == (0.0, 1.0)


def test_what_is_known_of_a_servo_narrows_the_bounds() -> None:
    servo = load_servo("mx106")
    axes = {axis.name: axis for axis in search_space(FRICTION_MODELS["m1"], LOGS, servo.search.ranges).axes}
    for name, bounds in servo.search.ranges.items():
        assert (axes[name].low, axes[name].high) == bounds


def test_a_parameter_at_the_end_of_its_range_is_named_but_zero_is_not() -> None:
    space = search_space(FRICTION_MODELS["m1"], LOGS)
    point = np.full((1, space.dimension), 0.5)
    assert space.at_bound(space.vectors(point)[0]) == ()
    names = [axis.name for axis in space.axes]
    point[0, names.index("coulomb")] = 0.0
    point[0, names.index("resistance")] = 0.0
    point[0, names.index("viscous")] = 1.0
    assert set(space.at_bound(space.vectors(point)[0])) == {"resistance", "viscous"}


def test_simpler_models_are_nested_in_richer_ones() -> None:
    nested = {
        outer: {
            inner for inner in FRICTION_MODELS if is_nested(FRICTION_MODELS[inner], FRICTION_MODELS[outer])
        }
        for outer in FRICTION_MODELS
    }
    assert nested == {
        "m1": set(),
        "m2": {"m1"},
        "m3": {"m1"},
        "m4": {"m1", "m2", "m3"},
        "m5": {"m1", "m2", "m3", "m4"},
        "m6": {"m1", "m2", "m3", "m4", "m5"},
    }
