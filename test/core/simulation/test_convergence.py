# SPDX-License-Identifier: Apache-2.0
"""How the kernel's error falls with the step, with friction that sticks, slips and turns round."""

import numpy as np
import pytest

from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.effects import BenchEffects
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, commanded

CASES = {
    "mx106": ([(0.75, 0.15), (1.25, 0.15)], (8.0, 24.0)),
    "xl320": ([(0.075, 0.1), (0.125, 0.1)], (12.0, 48.0)),
    "erob80_100": ([(5.0, 0.5), (10.0, 0.5)], (15.0, 70.0)),
}
"""Loads (kg, m) and gains."""


def simulated(name, **stepping):
    """Return (runs, samples) rad, every 10.6 ms: goals and torque change within steps of any length."""
    servo = load_servo(name)
    loads, gains = CASES[name]
    runs = [
        commanded(
            servo,
            PendulumBench(mass=mass, length=length),
            script,
            kp,
            SynthesisSettings(sample_period=5.3e-3),
        )
        for mass, length in loads
        for kp in gains
        for script in SCRIPTS
    ]
    rollout = Rollout(
        runs, servo.firmware, RolloutSettings(quadratic_rule=servo.friction.quadratic_rule, **stepping)
    )
    return np.array(rollout.positions(parameter_vector(servo)))[:, ::2]


def distance(name, limit, **stepping):
    return np.abs(simulated(name, **stepping) - limit).mean()


@pytest.mark.parametrize("name", CASES)
def test_the_step_of_a_period_is_of_second_order_with_friction_and_all(name):
    limit = simulated(name, substeps=64)
    errors = [distance(name, limit, substeps=n) for n in (1, 2, 4)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(orders > 1.5)
    assert errors[0] < 0.01e-3


@pytest.mark.parametrize("name", CASES)
def test_a_step_may_stand_for_several_periods_of_the_firmware(name):
    limit = simulated(name, substeps=16)
    # Two steps of first order per period left 0.1 mrad on the mean for the MX-106.
    assert distance(name, limit, periods=4) < 0.1e-3
    assert distance(name, limit, periods=2) < 0.03e-3
    # What shorter steps leave is that goals are means over four periods.
    assert distance(name, limit, periods=4, substeps=8) < 0.03e-3


@pytest.mark.parametrize("integrator", ["algorithm1", "semi_implicit"])
def test_longer_steps_of_a_regulated_current_work_with_every_integrator(integrator):
    limit = simulated("erob80_100", substeps=16)
    assert distance("erob80_100", limit, periods=2, substeps=1, integrator=integrator) < 10e-3


def test_candidates_on_a_link_have_steps_of_their_own_and_leave_those_beside_them_alone():
    servo = load_servo("xl330_bam")
    runs = [
        commanded(
            servo, PendulumBench(mass=0.3, length=0.1), script, 200.0, SynthesisSettings(sample_period=5.3e-3)
        )
        for script in SCRIPTS
    ]
    rigid, linked = parameter_vector(servo), parameter_vector(servo, BenchEffects(arm_compliance=0.05))
    rule = servo.friction.quadratic_rule
    fast = Rollout(runs, servo.firmware, RolloutSettings(periods=4, short_substeps=8, quadratic_rule=rule))
    together = fast.errors([rigid, linked, rigid])
    alone = [fast.errors(each)[0] for each in (rigid, linked, rigid)]
    np.testing.assert_array_equal(together, alone)
    for vector in (rigid, linked):
        exact = Rollout(runs, servo.firmware, RolloutSettings(substeps=16, quadratic_rule=rule))
        limit = exact.positions(vector)
        apart = [np.abs(x - y).mean() for x, y in zip(fast.positions(vector), limit, strict=True)]
        assert np.mean(apart) < 0.1e-3
