# SPDX-License-Identifier: Apache-2.0
"""The model (3), (4) and the law (1), (2): with the law's voltage, the model moves as it was asked to."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bam_core.errors import OutOfRange, Unsupported
from bam_core.feedforward import FeedForwardLaw
from bam_core.servo.effects import ServoEffects
from bam_core.servo.friction import FRICTION_MODELS, QUADRATIC_RULES
from bam_core.servo.model import ServoModel
from bam_core.servo.parameters import FRICTION_EFFECTS
from papers.dynaban.motor_model import DYNABAN_PARAMETERS
from test.core.feedforward_cases import MODEL
from test.core.physics_cases import M6, law, servo
from test.core.refusals import refused

DT = 2e-3
moving = st.floats(0.05, 6.0) | st.floats(-6.0, -0.05)
torques = st.floats(-2.0, 2.0)


@given(moving, st.floats(-60.0, 60.0), torques)
@settings(max_examples=60, deadline=None)
def test_the_voltage_of_the_law_gives_the_acceleration_that_was_asked_for(speed, acceleration, load) -> None:
    then = speed + DT * acceleration
    mean = 0.5 * (speed + then)
    if abs(mean) < 0.03:
        return
    voltage = MODEL.law.voltage(speed, then, DT, load)
    torque = MODEL.motor.torque(voltage, speed)
    left = torque - np.sign(mean) * MODEL.budget(mean) - load
    assert left / MODEL.armature == pytest.approx(acceleration, abs=1e-6)


def assert_torque_is_right(actuator: ServoModel, speed: float, acceleration: float, load: float) -> None:
    """Where a torque gives the acceleration, it is found; where none does, the one at the jump is.

    The quadratic term of M6 jumps at |τ_m| = |τ_e|: an acceleration may need more than |τ_e| by the friction
    below it, and less by the friction above it.
    """
    then = speed + DT * acceleration
    mean = 0.5 * (speed + then)
    if abs(mean) < 0.03:
        return
    torque = float(FeedForwardLaw.from_servo(actuator).torque(speed, then, DT, load))
    inertial = actuator.motor.armature * (then - speed) / DT

    def surplus(motor: float) -> float:
        friction = np.sign(mean) * actuator.friction.budget(motor, -load, mean)
        return float(motor - friction - load - inertial)

    if abs(torque) == pytest.approx(abs(load), abs=1e-9):
        below, above = surplus(torque - 1e-8), surplus(torque + 1e-8)
        assert below < 1e-7
        assert above > -1e-7
    else:
        assert surplus(torque) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("model", sorted(FRICTION_MODELS))
@given(speed=moving, acceleration=st.floats(-60.0, 60.0), load=torques)
@example(speed=3.0, acceleration=-25.0, load=1.09375)  # no torque gives this one with M6
@settings(max_examples=40)
def test_so_it_does_with_friction_that_depends_on_the_torque_it_asks_for(
    model, speed, acceleration, load
) -> None:
    assert_torque_is_right(servo(law(model), model=model), speed, acceleration, load)


@pytest.mark.parametrize("rule", QUADRATIC_RULES)
@given(
    moving, st.floats(-60.0, 60.0), torques, st.floats(0.0, 0.5), st.floats(0.0, 0.5), st.floats(0.0, 0.45)
)
@settings(max_examples=40)
def test_so_it_does_with_strong_quadratic_friction(
    rule, speed, acceleration, load, motor_square, external_square, share
) -> None:
    changed = {
        "quadratic_motor": motor_square,
        "quadratic_external": external_square,
        "load_motor": share,
        "load_motor_stribeck": share,
    }
    friction = FRICTION_MODELS["m6"].friction({**M6, **changed}, quadratic_rule=rule)
    assert_torque_is_right(servo(friction), speed, acceleration, load)


def test_at_the_jump_of_the_quadratic_term_the_torque_is_the_load_s() -> None:
    law_of_m6 = FeedForwardLaw.from_servo(servo(law("m6")))
    assert law_of_m6.torque(3.0, 3.0 - 25.0 * DT, DT, 1.09375) == pytest.approx(1.09375, abs=1e-12)


@pytest.mark.parametrize("state", [math.nan, math.inf])
def test_a_state_that_is_no_number_gives_no_torque(state) -> None:
    assert np.isnan(FeedForwardLaw.from_servo(servo(law("m6"))).voltage([0.0, 1.0], [state, 1.0], DT, 0.1)[0])
    assert np.isnan(FeedForwardLaw.from_servo(servo(law("m6"))).torque(1.0, 1.0, DT, state))


@given(moving)
@settings(max_examples=60, deadline=None)
def test_m2_with_exponent_one_is_equation_4(speed) -> None:
    assert MODEL.friction.budget(0.0, 0.0, speed) == pytest.approx(MODEL.budget(speed))
    assert MODEL.budget(-speed) == MODEL.budget(speed)


def test_friction_goes_from_static_to_coulomb_and_then_grows_with_speed() -> None:
    assert MODEL.budget(0.0) == pytest.approx(MODEL.static)
    fast = 50.0
    assert MODEL.budget(fast) == pytest.approx(MODEL.coulomb + MODEL.viscous * fast)


def test_a_motion_at_rest_is_not_pushed_by_friction() -> None:
    assert MODEL.law.voltage(0.0, 0.0, DT, 0.0) == 0.0


@given(st.floats(0.0, 0.3), moving, torques)
@settings(max_examples=60, deadline=None)
def test_viscous_friction_cannot_be_told_from_back_emf(share, speed, load) -> None:
    """k_e/r and k_e²/r + k_vis are all that motions and commands know: one of seven parameters is idle."""
    ratio = MODEL.torque_constant / MODEL.resistance
    constant = MODEL.torque_constant - share * MODEL.viscous / ratio
    other = replace(
        MODEL,
        torque_constant=constant,
        resistance=constant / ratio,
        viscous=MODEL.viscous * (1.0 + share),
    )
    one, two = (each.law for each in (MODEL, other))
    assert two.voltage(speed, speed, DT, load) == pytest.approx(one.voltage(speed, speed, DT, load), abs=1e-9)


def test_the_vector_of_a_model_has_its_seven_parameters_in_order() -> None:
    assert dict(zip(DYNABAN_PARAMETERS, MODEL.vector(), strict=True)) == asdict(MODEL)
    assert len(DYNABAN_PARAMETERS) == 7


def test_what_cannot_be_is_refused() -> None:
    with refused(OutOfRange, value=0.0):
        replace(MODEL, armature=0.0)
    with refused(OutOfRange, thing="Dynaban model static", value=0.05):
        _ = replace(MODEL, static=0.05).friction
    with refused(OutOfRange, value=0.0):
        MODEL.law.voltage(1.0, 1.0, 0.0, 0.0)
    heavy = FRICTION_MODELS["m6"].friction({**M6, "load_motor": 0.9})
    with refused(OutOfRange) as caught:
        FeedForwardLaw.from_servo(servo(heavy))
    assert caught.value.thing.endswith("load_motor + load_motor_stribeck")


@pytest.mark.parametrize("name", FRICTION_EFFECTS)
def test_friction_that_the_law_does_not_know_is_refused(name: str) -> None:
    actuator = replace(servo(), servo_effects=ServoEffects(**{name: 0.5}))
    with refused(Unsupported, thing=f"servo 'test', {name}"):
        FeedForwardLaw.from_servo(actuator)
