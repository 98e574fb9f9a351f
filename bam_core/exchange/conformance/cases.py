# SPDX-License-Identifier: Apache-2.0
"""Golden cases: laws of friction, motors, firmware, sticking and resets, the same at every call."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from bam_core.exchange.conformance.specification import Specification
from bam_core.exchange.conformance.step import GoldenCase, ServoNumbers, Step
from bam_core.servo.friction import FRICTION_MODELS, FRICTION_PARAMETERS

VERSION = 3
"""Of the cases; a new number where one changes."""

_STATES = 99  # random states per law: every branch of eq. 10 comes up more than five times
_STEPS = 200  # of a run
_DT = 4e-3  # s
_INERTIA = 0.01  # kg·m²
_GRAVITY = 0.6  # N·m, largest
_COEFFICIENTS = {
    "viscous": 0.05,
    "coulomb": 0.08,
    "stribeck_coulomb": 0.05,
    "stribeck_velocity": 0.3,
    "stribeck_exponent": 1.4,
    "load_motor": 0.12,
    "load_external": 0.18,
    "load_motor_stribeck": 0.06,
    "load_external_stribeck": 0.09,
    "quadratic_motor": 0.03,
    "quadratic_external": 0.05,
}


@cache
def golden_cases() -> tuple[GoldenCase, ...]:
    """Return all cases with the torques of the specification."""
    return tuple(_cases())


def friction_of(model: str) -> dict[str, float]:
    """Return the eleven coefficients of a friction model of the cases by name."""
    parameters = FRICTION_MODELS[model].parameters
    values = {name: _COEFFICIENTS.get(name, 0.15) for name in parameters}
    law = FRICTION_MODELS[model].friction(values)
    return {name: getattr(law, name) for name in FRICTION_PARAMETERS}


def _cases() -> Iterator[GoldenCase]:
    for model in FRICTION_MODELS:
        servo = ServoNumbers(friction_model=model, friction=friction_of(model))
        yield _case(f"friction {model}: states", servo, _random_states(servo, enabled=True), every=1)
        yield _case(f"friction {model}: run", servo, _run(servo))
    friction = friction_of("m4")
    yield _case("torque off: states", _servo(), _random_states(_servo(), enabled=False), every=1)
    current = ServoNumbers(
        law="current",
        stiffness=20.0,
        damping=2.0,
        limit=4.0,
        supply=6.0,
        friction_model="m4",
        friction=friction,
    )
    yield _case("current law: states", current, _random_states(current, enabled=True), every=1)
    yield _case("current law: run", current, _run(current))
    slewed = _servo(goal_speed_limit=2.0)
    yield _case("goal speed limit: run with resets", slewed, _run(slewed), every=_STEPS // 4)
    profiled = _servo(goal_speed_limit=2.0, goal_acceleration_limit=30.0)
    yield _case("goal acceleration limit: run with resets", profiled, _run(profiled), every=_STEPS // 4)
    rated = _servo(rate_time=0.03)
    yield _case("derivative gain: run with resets", rated, _run(rated), every=_STEPS // 4)
    integrated = _servo(stiffness=1.0, integral_rate=30.0, limit=0.15)
    yield _case("integral gain: run with resets", integrated, _run(integrated), every=_STEPS // 4)
    summed = _servo(integral_rate=8.0, dead_band=0.02, error_offset=0.01)
    yield _case("integral gain, dead band and error offset: run", summed, _run(summed))
    band = _servo(dead_band=0.02, error_offset=0.01)
    yield _case("dead band and error offset: run", band, _run(band))
    yield _case("held by friction: rest", _servo(), _rest())
    yield _case("sampled goals: run", _servo(), _run(_servo(), hold=10))


def _servo(**changes: float) -> ServoNumbers:
    return ServoNumbers(friction_model="m4", friction=friction_of("m4"), **changes)  # type: ignore[arg-type]


def _case(name: str, servo: ServoNumbers, steps: list[Step], every: int | None = None) -> GoldenCase:
    resets = frozenset(range(0, len(steps), every or len(steps)))
    law = Specification(servo)
    expected = np.empty((len(steps), 2))
    for index, step in enumerate(steps):
        if index in resets:
            law.reset()
        expected[index] = law.step(step)
    return GoldenCase(name=name, servo=servo, steps=tuple(steps), resets=resets, expected=expected)


def _random_states(servo: ServoNumbers, *, enabled: bool) -> list[Step]:
    """Return states of which a third is at rest, a third slow and a third fast; no step knows another."""
    random = np.random.default_rng(0)
    speeds = (0.0, 0.2, 5.0)
    return [
        Step(
            goal=float(random.normal(0.0, 0.3)),
            enabled=enabled,
            position=float(random.normal(0.0, 0.3)),
            velocity=float(random.normal(0.0, speeds[index % 3])),
            external_torque=float(random.normal(0.0, _GRAVITY)),
            inertia=_INERTIA,
            dt=_DT,
        )
        for index in range(_STATES)
    ]


def _run(servo: ServoNumbers, hold: int = 1) -> list[Step]:
    """Return a run in closed loop that swings, stops, sticks, and is released for a while."""
    law = Specification(servo)
    position = velocity = 0.0
    steps = []
    for index in range(_STEPS):
        time = index // hold * hold * _DT
        goal = 0.8 * math.sin(9.0 * time) if index < _STEPS // 2 else 0.4
        step = Step(
            goal=goal,
            enabled=not 0.75 <= index / _STEPS < 0.85,
            position=position,
            velocity=velocity,
            external_torque=-_GRAVITY * math.sin(position),
            inertia=_INERTIA,
            dt=_DT,
        )
        motor, friction = law.step(step)
        acceleration = (motor + step.external_torque + friction) / _INERTIA
        position += velocity * _DT + 0.5 * acceleration * _DT**2
        velocity += acceleration * _DT
        steps.append(step)
    return steps


def _rest() -> list[Step]:
    """Return a joint at rest under loads that friction holds, and some that it does not."""
    return [
        Step(
            goal=0.0,
            enabled=index % 2 == 0,
            position=0.0,
            velocity=0.0,
            external_torque=float(load),
            inertia=_INERTIA,
            dt=_DT,
        )
        for index, load in enumerate(np.linspace(-0.4, 0.4, 81))
    ]
