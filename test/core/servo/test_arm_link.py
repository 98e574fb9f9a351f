# SPDX-License-Identifier: Apache-2.0
"""The link between servo and arm: a spring with play that loses energy and never makes any."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bam_core.errors import OutOfRange
from bam_core.servo.arm_link import DAMPING_RATIO, ArmLink
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import Friction
from bam_core.simulation.rollout import Rollout, parameter_vector
from test.core.physics_cases import BENCH, run, servo
from test.core.reference_simulation import PendulumState, ReferenceSimulation

ARMATURE = 0.005


def link(compliance: float, backlash: float = 0.0, dt: float = 1e-4) -> ArmLink:
    return ArmLink(compliance=compliance, backlash=backlash, inner=ARMATURE, outer=BENCH.inertia, dt=dt)


def simulation(
    compliance: float, backlash: float = 0.0, friction: Friction | None = None
) -> ReferenceSimulation:
    model = servo(friction or Friction(), armature=ARMATURE)
    return ReferenceSimulation(
        firmware=model.firmware,
        motor=model.motor,
        friction=model.friction,
        bench=BENCH,
        kp=8.0,
        bench_effects=BenchEffects(arm_compliance=compliance, arm_backlash=backlash),
    )


def energy(sim: ReferenceSimulation, state: PendulumState, dt: float) -> float:
    """Of servo, arm, spring and gravity, J."""
    spring = sim.link(dt)
    bent = max(abs(state.position - state.arm_position) - 0.5 * spring.backlash, 0.0)
    return (
        0.5 * ARMATURE * state.velocity**2
        + 0.5 * BENCH.inertia * state.arm_velocity**2
        + 0.5 * spring.stiffness * bent**2
        + BENCH.gravity_torque * (1.0 - math.cos(state.arm_position))
    )


@pytest.mark.parametrize("compliance", [0.2, 0.02])
def test_arm_and_servo_swing_against_each_other_as_two_masses_on_a_spring(compliance: float) -> None:
    dt = 1e-4
    sim = simulation(compliance)
    reduced = ARMATURE * BENCH.inertia / (ARMATURE + BENCH.inertia)
    natural = math.sqrt(1.0 / compliance / reduced)
    state = PendulumState(position=1e-3, arm_position=-1e-3 * ARMATURE / BENCH.inertia)
    twist = []
    for _ in range(int(4.0 * math.tau / natural / dt)):
        state = sim.step(state, 0.0, 0.0, dt)
        twist.append(state.position - state.arm_position)
    crossings = np.flatnonzero(np.diff(np.sign(twist)))
    damped = natural * math.sqrt(1.0 - DAMPING_RATIO**2)
    # Gravity adds a little stiffness.
    assert math.pi / np.mean(np.diff(crossings)) / dt == pytest.approx(damped, rel=0.05)


@settings(deadline=None, max_examples=30)
@given(st.floats(1e-4, 0.5), st.floats(0.0, 0.05), st.floats(-2.0, 2.0), st.sampled_from([2e-4, 1e-3]))
def test_a_released_arm_never_gains_energy(
    compliance: float, backlash: float, start: float, dt: float
) -> None:
    sim = simulation(compliance, backlash, Friction(coulomb=0.02, load_external=0.1, load_motor=0.1))
    state = sim.at_rest(start, dt=dt)
    first = energy(sim, state, dt)
    for _ in range(400):
        state = sim.step(state, 0.0, 0.0, dt)
        # Within a step that meets the end of the play, the spring counts as it stood before.
        assert energy(sim, state, dt) <= first * (1.0 + 2e-3) + 1e-6


def test_a_stiff_link_is_a_rigid_arm() -> None:
    recording = run(np.arange(600) * 5e-3, np.sin(np.arange(600) * 0.02))
    model = servo(Friction(viscous=0.05), armature=ARMATURE)
    rollout = Rollout.for_servo([recording], model, dt=1e-3, substeps=2)
    rigid = rollout.positions(parameter_vector(model))[0]
    errors = []
    for compliance in (1e-2, 1e-3):
        linked = parameter_vector(model, BenchEffects(arm_compliance=compliance))
        errors.append(np.abs(rollout.positions(linked)[0] - rigid).max())
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 1e-3


# Near the top of a soft link the slope of its equation is small: a wrong one would not arrive.
@example(0.89 / BENCH.gravity_torque, 0.0, 3.0)
@given(st.floats(1e-4, 1.0), st.floats(0.0, 0.1), st.floats(-3.0, 3.0))
def test_an_arm_at_rest_stays_at_rest(compliance: float, backlash: float, shaft: float) -> None:
    spring = link(compliance, backlash)
    arm = spring.rest(shaft, BENCH.gravity_torque)
    if compliance * BENCH.gravity_torque < 0.9:  # else an arm may have more than one rest
        pull = spring.stiffness * math.copysign(max(abs(shaft - arm) - 0.5 * backlash, 0.0), shaft - arm)
        assert pull == pytest.approx(BENCH.gravity_torque * math.sin(arm), abs=1e-9)


def test_play_lets_the_shaft_turn_without_the_arm() -> None:
    spring = link(0.1, backlash=0.04)
    assert spring.torque(0.019, 0.0, 0.0) == 0.0
    assert spring.torque(-0.019, 0.0, 0.0) == 0.0
    assert spring.torque(0.03, 0.0, 0.0) == pytest.approx(-spring.torque(-0.03, 0.0, 0.0))
    assert spring.torque(0.03, 0.0, 0.0) == pytest.approx(0.1, rel=2e-3)


@pytest.mark.parametrize("name", ["arm_compliance", "arm_backlash"])
def test_a_link_is_never_below_zero(name: str) -> None:
    with pytest.raises(OutOfRange) as caught:
        BenchEffects(**{name: -0.1})
    assert caught.value.thing == f"bench_effects {name}"
