# SPDX-License-Identifier: Apache-2.0
"""Laws of the friction budget and of the friction that is applied."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import BamError
from bam_core.servo.friction import (
    FRICTION_MODELS,
    FRICTION_PARAMETERS,
    FRICTION_UNITS,
    Friction,
    friction_model,
)

coefficient = st.floats(0.0, 5.0)
above_zero = st.floats(0.01, 10.0)
frictions = st.builds(
    Friction,
    **dict.fromkeys(FRICTION_PARAMETERS, coefficient)
    | {"stribeck_velocity": above_zero, "stribeck_exponent": above_zero},
    quadratic_rule=st.sampled_from(["paper", "opposing"]),
)
torque = st.floats(-20.0, 20.0)
velocity = st.floats(-50.0, 50.0)
inertia = st.floats(1e-5, 10.0)
step = st.floats(1e-5, 0.05)


@given(frictions, torque, torque, velocity, inertia, step)
def test_friction_never_adds_energy(friction, motor, external, speed, inertia, dt):
    applied = float(friction.applied(motor, external, speed, inertia, dt))
    without = speed + dt / inertia * (motor + external)
    after = speed + dt / inertia * (motor + external + applied)
    rounding = 1e-12 * (abs(speed) + abs(without))
    assert abs(after) <= abs(without) + rounding
    assert applied * after <= rounding * abs(applied)


@given(frictions, torque, torque, velocity, inertia, step)
def test_applied_friction_stays_within_the_budget(friction, motor, external, speed, inertia, dt):
    applied = float(friction.applied(motor, external, speed, inertia, dt))
    assert abs(applied) <= float(friction.budget(motor, external, speed))


@given(frictions, torque, torque, inertia, step)
def test_an_arm_at_rest_stays_at_rest_exactly_while_the_budget_lasts(friction, motor, external, inertia, dt):
    applied = float(friction.applied(motor, external, 0.0, inertia, dt))
    if abs(motor + external) <= float(friction.budget(motor, external, 0.0)):
        assert motor + external + applied == 0.0


@given(frictions, torque, torque, velocity, inertia, step)
def test_friction_is_odd(friction, motor, external, speed, inertia, dt):
    one_way = friction.applied(motor, external, speed, inertia, dt)
    other_way = friction.applied(-motor, -external, -speed, inertia, dt)
    assert one_way == -other_way
    assert friction.budget(motor, external, speed) == friction.budget(-motor, -external, -speed)


@pytest.mark.parametrize(
    ("small", "values"),
    [
        ("m1", {}),
        ("m2", {"stribeck_coulomb": 0.3, "stribeck_velocity": 0.2, "stribeck_exponent": 1.4}),
        ("m3", {"load": 0.2}),
        (
            "m4",
            {
                "load": 0.2,
                "load_stribeck": 0.1,
                "stribeck_coulomb": 0.3,
                "stribeck_velocity": 0.2,
                "stribeck_exponent": 1.4,
            },
        ),
        (
            "m5",
            {
                "load_motor": 0.2,
                "load_external": 0.1,
                "load_motor_stribeck": 0.15,
                "load_external_stribeck": 0.05,
                "stribeck_coulomb": 0.3,
                "stribeck_velocity": 0.2,
                "stribeck_exponent": 1.4,
            },
        ),
    ],
)
def test_every_smaller_model_is_m6_with_terms_off(small, values):
    values = {"viscous": 0.05, "coulomb": 0.02, **values}
    spread = {}
    for name, value in values.items():
        targets = {
            "load": ("load_motor", "load_external"),
            "load_stribeck": ("load_motor_stribeck", "load_external_stribeck"),
        }.get(name, (name,))
        spread |= dict.fromkeys(targets, value)
    assert friction_model(small).friction(values) == friction_model("m6").friction(spread)


def test_the_models_have_the_parameter_counts_of_the_paper():
    counts = {name: len(model.parameters) for name, model in FRICTION_MODELS.items()}
    assert counts == {"m1": 2, "m2": 5, "m3": 3, "m4": 7, "m5": 9, "m6": 11}


def test_every_parameter_of_every_model_has_a_unit():
    for model in FRICTION_MODELS.values():
        assert set(model.parameters) <= set(FRICTION_UNITS)


def test_m6_follows_equation_10():
    law = Friction(
        viscous=0.1,
        coulomb=0.2,
        stribeck_coulomb=0.3,
        stribeck_velocity=2.0,
        stribeck_exponent=1.5,
        load_motor=0.4,
        load_external=0.5,
        load_motor_stribeck=0.6,
        load_external_stribeck=0.7,
        quadratic_motor=0.8,
        quadratic_external=0.9,
    )
    stribeck_factor = math.exp(-((3.0 / 2.0) ** 1.5))
    always = 0.1 * 3.0 + 0.2 + abs(0.4 * 1.0 - 0.5 * -2.0)
    at_rest = 0.3 + abs(0.6 * 1.0 - 0.7 * -2.0)
    assert law.budget(1.0, -2.0, -3.0) == pytest.approx(always + stribeck_factor * (at_rest + 0.8 * 1.0**2))
    always = 0.1 * 3.0 + 0.2 + abs(0.4 * 4.0 - 0.5 * -2.0)
    at_rest = 0.3 + abs(0.6 * 4.0 - 0.7 * -2.0)
    assert law.budget(4.0, -2.0, 3.0) == pytest.approx(always + stribeck_factor * (at_rest + 0.9 * 2.0**2))


@given(torque, torque, velocity)
def test_the_quadratic_rules_differ_only_where_the_torques_agree_in_sign(motor, external, speed):
    paper = Friction(quadratic_motor=1.0, quadratic_external=2.0)
    opposing = dataclasses.replace(paper, quadratic_rule="opposing")
    if motor * external < 0.0:
        assert paper.budget(motor, external, speed) == opposing.budget(motor, external, speed)
    else:
        assert opposing.budget(motor, external, speed) == 0.0


@given(frictions)
def test_a_law_survives_the_round_trip_through_m6(friction):
    model = friction_model("m6")
    assert model.friction(model.values(friction), quadratic_rule=friction.quadratic_rule) == friction


def test_arguments_broadcast():
    law = Friction(coulomb=0.1, load_motor=0.2, load_external=0.2)
    assert law.budget(np.zeros((3, 1)), np.zeros(4), 0.0).shape == (3, 4)
    assert law.applied(np.zeros((3, 1)), np.zeros(4), 0.0, 0.01, 1e-3).shape == (3, 4)


@pytest.mark.parametrize("name", [*FRICTION_PARAMETERS])
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, "0.1", None])
def test_a_coefficient_out_of_range_is_named(name, value):
    with pytest.raises(BamError, match=name):
        Friction(**{name: value})


@pytest.mark.parametrize("name", ["stribeck_velocity", "stribeck_exponent"])
def test_stribeck_velocity_and_exponent_must_be_above_zero(name):
    with pytest.raises(BamError, match=f"{name}.*> 0"):
        Friction(**{name: 0.0})


def test_an_unknown_model_parameter_or_rule_is_answered_with_the_valid_ones():
    with pytest.raises(BamError, match=r"'m7'.*m1, m2, m3, m4, m5, m6"):
        friction_model("m7")
    with pytest.raises(BamError, match=r"m3.*'loads'.*did you mean 'load'"):
        friction_model("m3").friction({"loads": 0.1})
    with pytest.raises(BamError, match="opposing, paper"):
        Friction(quadratic_rule="opposite")
