# SPDX-License-Identifier: Apache-2.0
"""A swing damped by Coulomb friction: its turning points are known, the law has them to second order."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq

from bam_core.arrays import Array
from bam_core.mujoco.step_law import reversal_correction
from bam_core.servo.friction import Friction
from bam_core.servo.pendulum import PendulumBench
from test.core.mujoco_cases import SERVO, on_bench

BENCH = PendulumBench(mass=1.0, length=0.15)
START = 1.0  # rad


def exact(coulomb: float, count: int) -> Array:
    """Turning points, rad: from one to the next, friction takes the energy that gravity has given less."""
    gravity = abs(float(BENCH.external_torque(np.pi / 2)))  # N·m, of the level arm
    angles = [START]
    for _ in range(count):
        before = angles[-1]
        angles.append(
            brentq(
                lambda after, before=before: (
                    gravity * (np.cos(after) - np.cos(before)) - coulomb * (before + after)
                ),
                0.0,
                before,
            )
        )
    return np.array(angles[1:])


def worst_error(dt: float, coulomb: float, count: int) -> float:
    """Largest error of the first turning points that the law in C++ gives with a time step, rad."""
    servo = dataclasses.replace(SERVO, friction_model="m1", friction=Friction(coulomb=coulomb))
    actuation = on_bench(servo, BENCH, position=START, dt=dt)
    actuation.torque_enabled[:] = 0.0
    turns: list[float] = []
    track = [START, START]
    while len(turns) < count:
        actuation.step()
        track.append(abs(float(actuation.position[0])))
        before, at, after = track[-3:]
        if at >= before and at > after and at < START:  # the vertex of the parabola through three samples
            turns.append(at + (after - before) ** 2 / (8.0 * (2.0 * at - before - after)))
    return float(np.abs(np.array(turns) - exact(coulomb, count)).max())


def test_every_reversal_costs_the_energy_of_friction_to_second_order() -> None:
    coarse, fine = worst_error(4e-3, 0.02, 12), worst_error(2e-3, 0.02, 12)
    assert fine < 1e-4
    assert coarse / fine == pytest.approx(4.0, abs=1.0)


@pytest.mark.parametrize("budget", [0.1, 0.4, 2.0])
@pytest.mark.parametrize("push", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("before", [-0.2, -0.05, 0.01, 0.1])
def test_what_a_step_gives_too_much_is_left_out_of_the_next(
    before: float, push: float, budget: float
) -> None:
    """A constant push against the motion: the exact velocity is that of the solver and the correction."""
    gain = 0.06  # rad/s per N·m
    sign = np.sign(before)
    stop = abs(before) / (gain * (push + budget))  # share of the step
    exact_end = -(1.0 - stop) * gain * max(push - budget, 0.0)
    if stop >= 1.0:
        return  # no reversal
    friction = float(np.clip(push - abs(before) / gain, -budget, budget))  # that could end it at rest
    velocity = abs(before) - gain * (push - friction)
    correction = reversal_correction(before, float(sign * velocity), float(sign * friction), budget, gain)
    assert 0.0 <= correction <= 2.0
    assert velocity - correction * gain * budget == pytest.approx(exact_end, abs=1e-12)
