# SPDX-License-Identifier: Apache-2.0
"""A swing damped by Coulomb friction: its turning points are known, the law has them to second order."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq

from bam_core.arrays import Array
from bam_core.servo.friction import Friction
from bam_core.servo.pendulum import PendulumBench
from test.core.mujoco_cases import SERVO, on_bench

BENCH = PendulumBench(mass=1.0, length=0.15)
COULOMB = 0.02  # N·m
START = 1.0  # rad
TURNS = 12


def exact() -> Array:
    """Turning points, rad: from one to the next, friction takes the energy that gravity has given less."""
    gravity = abs(float(BENCH.external_torque(np.pi / 2)))  # N·m, of the level arm
    angles = [START]
    for _ in range(TURNS):
        before = angles[-1]
        angles.append(
            brentq(
                lambda after, before=before: (
                    gravity * (np.cos(after) - np.cos(before)) - COULOMB * (before + after)
                ),
                0.0,
                before,
            )
        )
    return np.array(angles[1:])


def worst_error(dt: float) -> float:
    """Largest error of the turning points that the law in C++ gives with a time step, rad."""
    servo = dataclasses.replace(SERVO, friction_model="m1", friction=Friction(coulomb=COULOMB))
    actuation = on_bench(servo, BENCH, position=START, dt=dt)
    actuation.torque_enabled[:] = 0.0
    turns: list[float] = []
    track = [START, START]
    while len(turns) < TURNS:
        actuation.step()
        track.append(abs(float(actuation.position[0])))
        before, at, after = track[-3:]
        if at >= before and at > after and at < START:  # the vertex of the parabola through three samples
            turns.append(at + (after - before) ** 2 / (8.0 * (2.0 * at - before - after)))
    return float(np.abs(np.array(turns) - exact()).max())


def test_every_reversal_costs_the_energy_of_friction_to_second_order() -> None:
    coarse, fine = worst_error(4e-3), worst_error(2e-3)
    assert fine < 1e-4
    assert coarse / fine == pytest.approx(4.0, abs=1.0)
