# SPDX-License-Identifier: Apache-2.0
"""Efficiencies, static set and shapes of gears (Kikuuwe eqs. 17-27)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bam_core.errors import BamError
from bam_core.gears import Asymmetry, leadscrew, spur_gear, worm_gear

coefficient = st.floats(-3.0, 3.0)
torque = st.floats(-50.0, 50.0)
angle = st.floats(0.02, 1.5)
roughness = st.floats(0.0, 0.6)
radius = st.floats(0.005, 0.5)


@st.composite
def asymmetries(draw: st.DrawFn) -> Asymmetry:
    one, other = draw(coefficient), draw(coefficient)
    return Asymmetry(input_side=max(one, -other), output_side=other)


@given(st.floats(0.01, 0.99), st.floats(-5.0, 0.99))
def test_efficiencies_lead_to_coefficients_and_back(forward: float, backward: float) -> None:
    gear = Asymmetry.from_efficiencies(forward=forward, backward=backward)
    assert gear.forward_efficiency == pytest.approx(forward, abs=1e-9)
    assert gear.backward_efficiency == pytest.approx(backward, abs=1e-9)


@given(st.floats(-0.98, 0.98), st.floats(-0.98, 0.98))
def test_coefficients_lead_to_efficiencies_and_back_where_those_are_efficiencies(u: float, v: float) -> None:
    assume(u + v > 0.01)
    gear = Asymmetry(input_side=u, output_side=v)
    assert 0.0 < gear.forward_efficiency < 1.0
    assert 0.0 < gear.backward_efficiency < 1.0
    back = Asymmetry.from_efficiencies(forward=gear.forward_efficiency, backward=gear.backward_efficiency)
    assert (back.input_side, back.output_side) == pytest.approx((gear.input_side, gear.output_side), abs=1e-9)


@given(asymmetries(), torque, torque)
def test_the_three_forms_of_the_static_set_are_one(gear: Asymmetry, drive: float, load: float) -> None:
    u, v = gear.input_side, gear.output_side
    product = ((1 + v) * load - (1 - u) * drive) * ((1 + u) * drive - (1 - v) * load)  # (24)
    assume(abs(product) > 1e-9 * (1.0 + drive**2 + load**2))
    assert bool(gear.holds(drive, load)) == (product > 0.0)
    assume(abs(1 + u) > 1e-3)
    assume(abs(1 + v) > 1e-3)
    slopes = (load - gear.forward_efficiency * drive) * (drive - gear.backward_efficiency * load)
    assert bool(gear.holds(drive, load)) == ((1 + u) * (1 + v) * slopes > 0.0)  # (25)


@given(asymmetries(), st.floats(0.1, 50.0))
def test_a_torque_on_one_side_alone_is_held_where_the_class_says_so(gear: Asymmetry, size: float) -> None:
    assert bool(gear.holds(0.0, size)) == (not gear.is_backdrivable)
    assert bool(gear.holds(size, 0.0)) == (not gear.is_forward_drivable)


@pytest.mark.parametrize(
    ("input_side", "output_side", "drivability"),
    [(0.1, 0.3, "BD & FD"), (0.2, 1.05, "nBD & FD"), (1.2, 0.4, "BD & nFD"), (1.5, 2.0, "nBD & nFD")],
)
def test_the_classes_of_figure_5_are_told_apart(
    input_side: float, output_side: float, drivability: str
) -> None:
    assert Asymmetry(input_side=input_side, output_side=output_side).drivability == drivability


def test_a_gear_that_neither_side_drives_alone_still_moves_with_both() -> None:
    locked = Asymmetry(input_side=1.3, output_side=1.6)
    assert locked.holds(30.0, 0.0)
    assert locked.holds(0.0, 30.0)
    assert not locked.holds(30.0, -10.0)


@given(torque, torque)
def test_without_friction_only_equal_torques_hold(drive: float, load: float) -> None:
    assert bool(Asymmetry(input_side=0.0, output_side=0.0).holds(drive, load)) == (drive == load)


def test_a_negative_sum_is_refused_with_the_equation_and_the_cure() -> None:
    with pytest.raises(BamError, match=r"γ_u \+ γ_v.*eq\. 14.*γ_u = 0\.5, γ_v = -0\.2"):
        Asymmetry(input_side=-0.5, output_side=0.2)


@pytest.mark.parametrize(
    ("forward", "backward", "named"),
    [
        (0.0, 0.5, r"forward: is 0\.0 .*eq\. 27.*give γ_u and γ_v"),
        (1.0, 0.5, r"forward: is 1\.0 .*without friction give γ_u = γ_v = 0"),
        (80.0, 60.0, r"forward: is 80\.0 .*0\.8 for 80 %"),
        ("0.8", 0.5, r"forward: is '0\.8' "),
        (0.5, 1.0, r"backward: is 1\.0 .*without friction"),
        (0.5, math.nan, "backward: is nan"),
        (0.5, None, "backward: is None"),
    ],
)
def test_impossible_efficiencies_are_refused(forward: float, backward: float, named: str) -> None:
    with pytest.raises(BamError, match=f"efficiency {named}"):
        Asymmetry.from_efficiencies(forward=forward, backward=backward)


@pytest.mark.parametrize("value", [math.nan, math.inf, "0.1", None])
def test_what_is_no_number_is_refused_as_a_coefficient(value: object) -> None:
    with pytest.raises(BamError, match=r"gear\.output_side \(γ_v\): is .*finite number, eq\. 14"):
        Asymmetry(input_side=0.1, output_side=value)  # type: ignore[arg-type]


@given(angle, radius, roughness)
def test_a_screw_locks_itself_where_its_angle_is_below_that_of_friction(
    lead: float, r: float, mu: float
) -> None:
    screw = leadscrew(lead_angle=lead, radius=r, friction=mu)
    assume(abs(mu - math.tan(lead)) > 1e-9)
    assert screw.asymmetry.is_backdrivable == (math.tan(lead) > mu)
    assert screw.reduction * r * math.tan(lead) == pytest.approx(1.0)  # one rad travels r·tan θ


@given(st.floats(0.05, 1.2), st.floats(0.001, 0.3))
def test_a_screw_has_the_efficiency_of_an_inclined_plane(lead: float, mu: float) -> None:
    screw = leadscrew(lead_angle=lead, radius=0.01, friction=mu).asymmetry
    expected = math.tan(lead) / math.tan(lead + math.atan(mu))
    assume(lead + math.atan(mu) < 1.5)
    assert screw.forward_efficiency == pytest.approx(expected)


@given(angle, radius, radius, roughness)
def test_a_worm_without_pressure_angle_is_a_leadscrew_around_a_wheel(
    lead: float, worm: float, wheel: float, mu: float
) -> None:
    gear = worm_gear(lead_angle=lead, pressure_angle=0.0, worm_radius=worm, gear_radius=wheel, friction=mu)
    screw = leadscrew(lead_angle=lead, radius=worm, friction=mu)
    assert gear.asymmetry == screw.asymmetry
    assert gear.reduction == pytest.approx(screw.reduction * wheel)


@given(st.floats(0.1, 1.0), st.floats(0.0, 0.6), st.floats(0.0, 0.4), st.floats(-20, 20), st.floats(-20, 20))
def test_a_worm_moves_by_its_forces_as_by_the_inclusion(
    lead: float, pressure: float, mu: float, drive: float, load: float
) -> None:
    """Equations (15) of worm and wheel in motion, solved for acceleration and normal force, against (14)."""
    w, g, screw_inertia, wheel_inertia = 0.02, 0.08, 2e-4, 0.05
    gear = worm_gear(lead_angle=lead, pressure_angle=pressure, worm_radius=w, gear_radius=g, friction=mu)
    u, v = gear.asymmetry.input_side, gear.asymmetry.output_side
    m, torque_in = gear.reflected_inertia(screw_inertia), gear.reflected_torque(drive)
    assume(abs(u * m - v * wheel_inertia) < 0.95 * (m + wheel_inertia))
    for normal_sign in (1.0, -1.0):
        # Unknowns: v̇ and λ_n; the worm moves forwards, so the tangential force is +μ·|λ_n|.
        rough = mu * normal_sign
        worm_arm = (math.cos(pressure) * math.sin(lead) + rough * math.cos(lead)) * w
        wheel_arm = (math.cos(pressure) * math.cos(lead) - rough * math.sin(lead)) * g
        matrix = np.array([[screw_inertia * gear.reduction, worm_arm], [wheel_inertia, -wheel_arm]])
        acceleration, normal = np.linalg.solve(matrix, [drive, -load])
        if normal * normal_sign < 0.0:
            continue
        internal = mu * g / math.sin(lead) * normal
        visible = torque_in - load - abs(internal)
        hidden = u * torque_in + v * load - internal
        scale = 1.0 + abs(torque_in) + abs(load)
        assert (m + wheel_inertia) * acceleration == pytest.approx(visible, abs=1e-8 * scale)
        assert (u * m - v * wheel_inertia) * acceleration == pytest.approx(hidden, abs=1e-8 * scale)


@given(
    st.floats(0.01, 0.1), st.floats(0.01, 0.1), st.floats(0.0, 0.5), st.floats(0.0, 0.3), st.floats(-0.8, 0.8)
)
def test_spur_gears_have_the_efficiency_that_their_forces_have(
    ru: float, rv: float, pressure: float, mu: float, where: float
) -> None:
    """Forces on two wheels that turn steadily, teeth in contact past the pitch point or before."""
    along = where * min(ru, rv) * 0.3
    gear = spur_gear(
        input_radius=ru, output_radius=rv, pressure_angle=pressure, friction=mu, contact=along
    ).asymmetry
    # Input wheel at (-R_u, 0) turns clockwise: teeth at the pitch point move down, and push the output's down
    # and away. ξ grows with the motion.
    normal = np.array([math.sin(pressure), -math.cos(pressure)])
    point = along * normal
    velocity_in = 1.0 / ru * np.array([point[1], -(point[0] + ru)])
    velocity_out = 1.0 / rv * np.array([-point[1], point[0] - rv])
    sliding = velocity_in - velocity_out
    assert abs(sliding @ normal) < 1e-9 * np.hypot(*velocity_in)
    rubbing = mu * np.sign(sliding) * np.abs(sliding) / max(np.hypot(*sliding), 1e-300)
    force = normal + (rubbing if np.hypot(*sliding) > 1e-12 else 0.0)  # on the output wheel
    torque_in = -((point[0] + ru) * force[1] - point[1] * force[0])
    torque_out = (point[0] - rv) * force[1] - point[1] * force[0]
    assume(torque_in > 1e-6)
    assert torque_out / (torque_in * rv / ru) == pytest.approx(gear.forward_efficiency, rel=1e-6)


def test_the_mean_of_a_cycle_is_the_mean_of_its_points() -> None:
    shape = {"input_radius": 0.01, "output_radius": 0.03, "pressure_angle": 0.35, "friction": 0.1}
    whole = spur_gear(**shape, contact=(-0.002, 0.004)).asymmetry
    points = [spur_gear(**shape, contact=x).asymmetry for x in np.linspace(-0.002, 0.004, 60_001)]
    assert whole.input_side == pytest.approx(np.mean([p.input_side for p in points]), rel=1e-3)
    assert whole.output_side == pytest.approx(np.mean([p.output_side for p in points]), rel=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: leadscrew(lead_angle=0.0, radius=0.01, friction=0.1),
        lambda: worm_gear(lead_angle=0.1, pressure_angle=1.6, worm_radius=1, gear_radius=1, friction=0.1),
        lambda: spur_gear(
            input_radius=1, output_radius=1, pressure_angle=0.3, friction=0.1, contact=(0.1, -0.1)
        ),
        lambda: leadscrew(lead_angle=0.1, radius=0.01, friction=-0.1),
        lambda: leadscrew(lead_angle="5", radius=0.01, friction=0.1),
        lambda: spur_gear(
            input_radius=1, output_radius=1, pressure_angle=0.3, friction=0.1, contact=[0, 0.1]
        ),
        lambda: spur_gear(
            input_radius=1, output_radius=1, pressure_angle=0.3, friction=0.1, contact=(0,) * 3
        ),
    ],
)
def test_impossible_shapes_are_refused(wrong) -> None:
    with pytest.raises(BamError, match="correct it"):
        wrong()


def test_degrees_and_millimetres_are_told_from_radians_and_metres() -> None:
    with pytest.raises(BamError, match=r"is 20 rad .*20° are 0\.349 rad"):
        worm_gear(lead_angle=0.1, pressure_angle=20, worm_radius=0.01, gear_radius=0.04, friction=0.1)
    with pytest.raises(BamError, match=r"contact: is \(-3\.0, 3\.0\) m, beyond the larger wheel of 0\.03 m"):
        spur_gear(
            input_radius=0.01, output_radius=0.03, pressure_angle=0.35, friction=0.1, contact=(-3.0, 3.0)
        )
