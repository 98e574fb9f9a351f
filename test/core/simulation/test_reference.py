# SPDX-License-Identifier: Apache-2.0
"""Laws of the plain Python simulation: energy, convergence order, rest."""

import numpy as np
import pytest

from bam_core.errors import UnknownName
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.friction import Friction
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from test.core.physics_cases import BENCH, law
from test.core.reference_simulation import PendulumState, ReferenceSimulation


def simulation(integrator="midpoint", friction=None, bench=BENCH, armature=0.0):
    return ReferenceSimulation(
        firmware=FIRMWARES["mx-protocol1"],
        motor=DcMotor(torque_constant=2.2, resistance=2.0, armature=armature),
        friction=friction or Friction(),
        bench=bench,
        kp=16.0,
        integrator=integrator,
    )


def free_swing(sim, dt=5e-3, duration=6.0, start=1.0):
    n = round(duration / dt) + 1
    return sim.run(
        PendulumState(position=start),
        goal=np.zeros(n),
        supply=np.full(n, 15.0),
        enabled=np.zeros(n, dtype=bool),
        dt=dt,
    )


def amplitudes(sim, position, velocity):
    """Angle up to which each state would swing, by its energy."""
    kinetic = 0.5 * sim.inertia * velocity**2
    return np.arccos(np.cos(position) - kinetic / sim.bench.gravity_torque)


@pytest.mark.parametrize("length", [0.1, 0.15, 0.3])
@pytest.mark.parametrize("armature", [0.0, 0.02])
def test_a_frictionless_pendulum_keeps_its_amplitude(length, armature):
    sim = simulation(bench=PendulumBench(mass=1.0, length=length), armature=armature)
    assert amplitudes(sim, *free_swing(sim)) == pytest.approx(1.0, rel=1e-3)


def test_the_variants_of_the_paper_and_of_its_authors_program_do_not_keep_it():
    bench = PendulumBench(mass=1.0, length=0.1)
    gaining = simulation("algorithm1", bench=bench)
    losing = simulation("semi_implicit", bench=bench)
    assert amplitudes(gaining, *free_swing(gaining))[-1] == pytest.approx(1.898, abs=1e-3)
    assert amplitudes(losing, *free_swing(losing))[-1] == pytest.approx(0.484, abs=1e-3)


@pytest.mark.long
@pytest.mark.parametrize(("integrator", "order"), [("midpoint", 2), ("algorithm1", 1), ("semi_implicit", 1)])
def test_convergence_order(integrator, order):
    sim = simulation(integrator)

    def end(dt):
        state = PendulumState(position=0.3, velocity=-2.0)
        for _ in range(round(0.2 / dt)):
            state = sim.step(state, 6.0, True, dt)
        return np.array([state.position, state.velocity])

    limit = end(1e-5) if order == 1 else end(5e-5)
    coarse, fine = np.abs(end(4e-3) - limit), np.abs(end(2e-3) - limit)
    assert np.log2(coarse / fine) == pytest.approx([order, order], abs=0.25)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_an_arm_that_friction_holds_stays_exactly_where_it_is(integrator):
    hold = Friction(coulomb=1.1 * BENCH.gravity_torque)
    position, velocity = free_swing(simulation(integrator, hold), start=1.2)
    assert np.all(position == 1.2)
    assert np.all(velocity == 0.0)


def test_friction_brings_a_swing_to_rest_for_good():
    position, velocity = free_swing(simulation(friction=law("m6")))
    assert np.all(position[-200:] == position[-1])
    assert np.max(np.abs(velocity[-200:])) < 1e-15


def test_a_held_arm_follows_the_goal_until_friction_and_gravity_balance():
    sim = simulation(friction=law("m1"))
    position, _ = sim.run(
        PendulumState(position=0.0),
        goal=np.full(2000, 0.5),
        supply=np.full(2000, 15.0),
        enabled=np.ones(2000, dtype=bool),
        dt=1e-3,
    )
    stiffness = 0.158 * 16.0 * 15.0 * 2.2 / 2.0
    missing = stiffness * (0.5 - position[-1]) - BENCH.gravity_torque * np.sin(position[-1])
    assert abs(missing) <= law("m1").coulomb + 1e-9


def test_an_unknown_integrator_is_answered_with_the_valid_ones():
    with pytest.raises(UnknownName) as caught:
        simulation("euler")
    assert caught.value.valid == tuple(sorted(INTEGRATORS))
