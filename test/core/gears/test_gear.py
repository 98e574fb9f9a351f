# SPDX-License-Identifier: Apache-2.0
"""Laws of a gear with one degree of freedom (Kikuuwe eqs. 14, 28-45, lemmas 1 and 2)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bam_core.errors import OutOfRange
from bam_core.gears import Asymmetry, Gear, friction_torque, internal_force, internal_forces
from bam_core.servo.friction import Friction
from test.core.refusals import refused

torque = st.floats(-50.0, 50.0)
velocity = st.floats(-20.0, 20.0)
inertia = st.floats(1e-3, 10.0)
step = st.floats(1e-5, 0.02)
coefficient = st.floats(-2.0, 2.0)
side = st.floats(-1.0, 1.0)
well_posed = st.floats(-0.99, 0.99)
frictions = st.builds(
    Friction,
    viscous=st.floats(0.0, 2.0),
    coulomb=st.floats(0.0, 2.0),
    stribeck_coulomb=st.floats(0.0, 2.0),
    stribeck_velocity=st.floats(0.05, 5.0),
)


@st.composite
def gears(draw: st.DrawFn, coefficients: st.SearchStrategy[float] = coefficient) -> Gear:
    one, other = draw(coefficients), draw(coefficients)
    return Gear(
        asymmetry=Asymmetry(input_side=max(one, -other), output_side=other),
        input_inertia=draw(inertia),
        output_inertia=draw(inertia),
        friction=draw(frictions),
    )


@pytest.fixture(scope="module", autouse=True)
def _compile_before_the_clock_runs() -> None:
    friction_torque(0.5, 1.0, 0.5)
    jamming().step(1.0, 1.0, 1.0, 1e-3)


# λ and Φ


@given(torque, st.floats(-3.0, 3.0))
def test_lemma_1_the_internal_forces_are_all_solutions_and_no_others(drive: float, feedback: float) -> None:
    assume(abs(drive) > 1e-6 or drive == 0.0)
    assume(abs(abs(feedback) - 1.0) > 1e-6)
    found = internal_forces(drive, feedback)
    for force in found:
        assert force - feedback * abs(force) == pytest.approx(drive, abs=1e-9 * max(1.0, abs(force)))
    # Each sign has one candidate; those that have the sign they were made for are all there are.
    positive, negative = drive / (1.0 - feedback), drive / (1.0 + feedback)
    valid = [force for force, fits in ((positive, positive > 0.0), (negative, negative < 0.0)) if fits]
    assert sorted(found) == (sorted(valid) if drive != 0.0 else [0.0])


@pytest.mark.parametrize(
    ("drive", "feedback", "expected"),
    [
        (0.0, 5.0, (0.0,)),
        (2.0, -1.0, (1.0,)),
        (-2.0, 1.0, (-1.0,)),
        (2.0, 1.0, ()),
        (2.0, 3.0, ()),
        (-2.0, 3.0, (1.0, -0.5)),
        (2.0, -3.0, (0.5, -1.0)),
        (2.0, 0.5, (4.0,)),
    ],
)
def test_internal_forces_are_those_of_equation_31(
    drive: float, feedback: float, expected: tuple[float, ...]
) -> None:
    assert internal_forces(drive, feedback) == expected


@given(torque, st.floats(-0.99, 0.99))
def test_the_single_valued_force_is_the_only_one_where_there_is_one(drive: float, feedback: float) -> None:
    assert internal_forces(drive, feedback) == (internal_force(drive, feedback),)


@given(torque, st.floats(-4.0, 4.0))
def test_where_nothing_solves_the_equation_the_force_is_infinite_as_in_35(
    drive: float, feedback: float
) -> None:
    force = internal_force(drive, feedback)
    solutions = internal_forces(drive, feedback)
    if not solutions:
        assert math.isinf(force)
        assert force * drive > 0.0
    elif abs(feedback) != 1.0:
        assert force in solutions
        assert force * drive >= 0.0


@given(torque, well_posed, side, side)
def test_lemma_2_friction_grows_with_the_side_and_is_bounded(
    drive: float, feedback: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    rounding = 1e-12 * abs(drive) / (1.0 - abs(feedback))
    assert friction_torque(low, drive, feedback) <= friction_torque(high, drive, feedback) + rounding
    assert abs(friction_torque(high, drive, feedback)) <= abs(drive) / (1.0 - abs(feedback)) + rounding


@given(st.floats(-20, 20), st.floats(-0.95, 0.95), st.floats(-0.999, 0.999), st.floats(1e-6, 1e-3))
def test_lemma_2_friction_is_continuous(drive: float, feedback: float, at: float, near: float) -> None:
    jump = abs(friction_torque(at + near, drive, feedback) - friction_torque(at, drive, feedback))
    assert jump <= near * abs(drive) / (1.0 - abs(feedback)) ** 2 * 1.01 + 1e-12


@given(gears(), torque, torque, velocity)
def test_the_differential_inclusion_33_is_the_algebraic_one_14(
    gear: Gear, drive: float, load: float, speed: float
) -> None:
    assume(abs(gear.feedback) < 0.99)
    assume(speed != 0.0)
    u, v = gear.asymmetry.input_side, gear.asymmetry.output_side
    friction = friction_torque(math.copysign(1.0, speed), gear.drive(drive, load), gear.feedback)
    acceleration = (drive - load - friction) / gear.inertia
    hidden = (u * gear.input_inertia - v * gear.output_inertia) * acceleration
    internal = u * drive + v * load - hidden  # (14b)
    scale = 1.0 + abs(internal) + abs(drive) + abs(load)
    assert abs(internal) * math.copysign(1.0, speed) == pytest.approx(friction, abs=1e-9 * scale)  # (14a)


@given(gears(st.floats(-0.95, 0.95)), torque, torque, velocity)
def test_apparent_inertias_are_those_of_forward_and_backward_driving(
    gear: Gear, drive: float, load: float, speed: float
) -> None:
    """Equation (38) of earlier work, with its two inertias, against the one expression (33)."""
    phi = gear.drive(drive, load)
    assume(abs(speed * phi) > 1e-6)
    side = math.copysign(1.0, speed)
    acceleration = (drive - load - friction_torque(side, phi, gear.feedback)) / gear.inertia
    forward, backward = gear.asymmetry.forward_efficiency, gear.asymmetry.backward_efficiency
    if speed * phi > 0.0:
        inertia, net = forward * gear.input_inertia + gear.output_inertia, forward * drive - load
    else:
        inertia, net = gear.input_inertia / backward + gear.output_inertia, drive / backward - load
    assert inertia * acceleration == pytest.approx(net, rel=1e-7, abs=1e-7)


# the step


@given(gears(), velocity, torque, torque, step)
def test_a_step_solves_the_inclusion_that_it_discretises(
    gear: Gear, speed: float, drive: float, load: float, dt: float
) -> None:
    assume(abs(gear.feedback) < 0.99)
    made = gear.step(speed, drive, load, dt)
    extra = float(gear.friction.budget(0.0, 0.0, speed))
    scale = 1.0 + gear.inertia / dt * abs(speed) + abs(drive) + abs(load) + abs(made.internal_force)
    u, v = gear.asymmetry.input_side, gear.asymmetry.output_side
    acceleration = (made.velocity - speed) / dt
    hidden = u * drive + v * load - made.internal_force
    assert gear.inertia * acceleration == pytest.approx(drive - load - made.friction, abs=1e-9 * scale)
    assert (u * gear.input_inertia - v * gear.output_inertia) * acceleration == pytest.approx(
        hidden, abs=1e-8 * scale
    )
    bound = abs(made.internal_force) + extra
    assert abs(made.friction) <= bound + 1e-9 * scale
    if made.velocity != 0.0:
        assert made.friction == pytest.approx(math.copysign(bound, made.velocity), abs=1e-9 * scale)


@given(gears(st.floats(-5.0, 5.0)), velocity, torque, torque, step)
def test_friction_never_adds_energy_even_where_the_gear_is_ill_posed(
    gear: Gear, speed: float, drive: float, load: float, dt: float
) -> None:
    made = gear.step(speed, drive, load, dt)
    assert math.isfinite(made.velocity)
    assert made.friction * made.velocity >= 0.0
    gained = 0.5 * gear.inertia * (made.velocity**2 - speed**2)
    work = dt * made.velocity * (drive - load)
    assert gained <= work + 1e-9 * (1.0 + gear.inertia * speed**2 + abs(work))


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@given(gears(st.floats(0.0, 0.95)), st.floats(0.1, 1.0))
def test_a_swing_on_a_spring_never_gains_height(gear: Gear, start: float) -> None:
    dt = 1e-3
    stiffness = gear.inertia * 10.0**2  # 10 rad/s without friction
    position, speed, peaks = start, 0.0, [start]
    for _ in range(2000):
        after = gear.step(speed, 0.0, stiffness * position, dt).velocity
        position += dt * after
        if after * speed < 0.0:
            peaks.append(abs(position))
        speed = after
    for earlier, later in itertools.pairwise(peaks):
        assert later <= earlier * (1.0 + 2.0 * 10.0 * dt)  # a peak falls between two steps
    assert max(peaks[1:], default=0.0) <= start * (1.0 + 10.0 * dt)


@given(gears(st.floats(-0.95, 0.95)), torque, torque, step)
def test_a_gear_at_rest_stays_at_rest_exactly_as_long_as_its_static_set_says(
    gear: Gear, drive: float, load: float, dt: float
) -> None:
    bare = Gear(
        asymmetry=gear.asymmetry, input_inertia=gear.input_inertia, output_inertia=gear.output_inertia
    )
    u, v = gear.asymmetry.input_side, gear.asymmetry.output_side
    assume(abs(abs(drive - load) - abs(u * drive + v * load)) > 1e-9 * (1.0 + abs(drive) + abs(load)))
    held = bool(gear.asymmetry.holds(drive, load))
    assert (bare.step(0.0, drive, load, dt).velocity == 0.0) == held


@pytest.mark.long
def test_a_self_locking_gear_creeps_not_at_all_in_100_000_steps() -> None:
    gear = Gear(asymmetry=Asymmetry(input_side=0.2, output_side=1.05), input_inertia=1.0, output_inertia=1.0)
    random = np.random.default_rng(1)
    speed = position = 0.0
    for load in random.normal(0.0, 400.0, 100_000):
        speed = gear.step(speed, 0.0, float(load), 1e-3).velocity
        position += 1e-3 * speed
        assert speed == 0.0
    assert position == 0.0


@settings(deadline=None)
@given(gears(st.floats(0.2, 0.95)), st.floats(2.0, 50.0), st.floats(-0.15, 0.15), velocity)
def test_a_moving_gear_whose_torques_hold_comes_to_rest_exactly(
    gear: Gear, drive: float, unbalance: float, speed: float
) -> None:
    load = drive * (1.0 + unbalance)  # |f_u - f_v| < 0.2·f_u <= |γ_u·f_u + γ_v·f_v|
    for _ in range(20_000):
        speed = gear.step(speed, drive, load, 0.2).velocity
        if speed == 0.0:
            break
    assert speed == 0.0
    assert gear.step(speed, drive, load, 0.2).velocity == 0.0


@given(gears(), velocity, torque, torque, step)
def test_a_gear_knows_no_direction(gear: Gear, speed: float, drive: float, load: float, dt: float) -> None:
    one, other = gear.step(speed, drive, load, dt), gear.step(-speed, -drive, -load, dt)
    assert (one.velocity, one.friction) == (-other.velocity, -other.friction)


@given(frictions, inertia, inertia, velocity, torque, torque, step)
def test_without_asymmetry_the_friction_is_that_of_algorithm_1(
    friction: Friction, m: float, big: float, speed: float, motor: float, external: float, dt: float
) -> None:
    gear = Gear(
        asymmetry=Asymmetry(input_side=0.0, output_side=0.0),
        input_inertia=m,
        output_inertia=big,
        friction=friction,
    )
    made = gear.step(speed, motor, -external, dt)
    applied = float(friction.applied(motor, external, speed, m + big, dt))
    assert made.friction == -applied
    stepped = speed + (motor + external + applied) / (m + big) * dt
    assert made.velocity == pytest.approx(stepped, abs=1e-12 * (1.0 + abs(speed)))


@given(gears(st.floats(-0.9, 0.9)), velocity, torque, torque)
def test_the_step_converges_to_the_motion_that_it_discretises(
    gear: Gear, speed: float, drive: float, load: float
) -> None:
    """Constant torques: the exact motion is piecewise linear while the gear moves one way."""
    bare = Gear(
        asymmetry=gear.asymmetry, input_inertia=gear.input_inertia, output_inertia=gear.output_inertia
    )
    assume(abs(speed) > 0.1)
    once = bare.step(speed, drive, load, 1e-3)
    assume(once.velocity * speed > 0.0)
    twice = bare.step(bare.step(speed, drive, load, 5e-4).velocity, drive, load, 5e-4)
    assert twice.velocity == pytest.approx(once.velocity, rel=1e-9, abs=1e-12)


# the ill-posed case


def jamming() -> Gear:
    return Gear(asymmetry=Asymmetry(input_side=3.0, output_side=0.5), input_inertia=9.0, output_inertia=1.0)


def test_an_ill_posed_gear_says_so_and_jams_in_one_direction_only() -> None:
    gear = jamming()
    assert gear.feedback == pytest.approx(2.65)
    assert not gear.is_well_posed
    drive, load = 1.0, 2.0  # φ = 3 + 1 + 2.65 > 0, so ρ̂·v·φ > 0 forwards
    assert not internal_forces(gear.drive(drive, load), gear.feedback)
    forwards, backwards = gear.step(1.0, drive, load, 1e-3), gear.step(-1.0, drive, load, 1e-3)
    assert forwards.jammed
    assert forwards.velocity == 0.0
    assert math.isfinite(forwards.friction)
    assert not backwards.jammed
    assert backwards.velocity < 0.0


def test_backwards_an_ill_posed_gear_follows_the_branch_that_hangs_together() -> None:
    gear = jamming()
    made = gear.step(-1.0, 1.0, 2.0, 1e-3)
    phi = gear.drive(1.0, 2.0)
    assert made.internal_force == pytest.approx(phi / (1.0 + gear.feedback))
    assert made.friction == pytest.approx(-made.internal_force)


@pytest.mark.parametrize("friction", [Friction(load_motor=0.1), Friction(quadratic_external=0.1)])
def test_load_dependent_terms_beside_a_gear_are_refused(friction: Friction) -> None:
    with refused(OutOfRange, value=0.1):
        Gear(
            asymmetry=Asymmetry(input_side=0.1, output_side=0.2),
            input_inertia=1.0,
            output_inertia=1.0,
            friction=friction,
        )


@pytest.mark.parametrize("name", ["input_inertia", "output_inertia"])
def test_a_gear_without_inertia_is_refused(name: str) -> None:
    inertias = {"input_inertia": 1.0, "output_inertia": 1.0, name: 0.0}
    with refused(OutOfRange, value=0.0):
        Gear(asymmetry=Asymmetry(input_side=0.1, output_side=0.2), **inertias)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((math.nan, 0.0, 0.0, 1e-3), "velocity"),
        ((0.0, math.inf, 0.0, 1e-3), "input_torque"),
        ((0.0, 0.0, math.nan, 1e-3), "output_torque"),
        ((0.0, 0.0, 0.0, 0.0), "dt"),
        ((0.0, 0.0, 0.0, -1e-3), "dt"),
    ],
)
def test_a_step_from_or_over_what_is_no_number_is_refused(
    arguments: tuple[float, float, float, float], name: str
) -> None:
    with refused(OutOfRange, thing=f"gear step {name}"):
        jamming().step(*arguments)
