# SPDX-License-Identifier: Apache-2.0
"""The law of arrays is that of the golden cases, for many servos at once, with gradients that are finite."""

from __future__ import annotations

import logging
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bam_core.errors import Unsupported
from bam_core.exchange.conformance import conformance
from bam_core.exchange.conformance.step import ServoNumbers, Step
from bam_core.exchange.training.array_law import (
    NO_LIMIT,
    FirmwareState,
    Joint,
    ServoArrays,
    begin,
    friction_budget,
    friction_torque,
    motor_torque,
    pendulum_step,
    reset,
    servo_arrays,
)
from bam_core.exchange.training.linear_drive import DriveGains
from bam_core.servo.asymmetry import Asymmetry
from bam_core.servo.model import load_servo

jax.config.update("jax_enable_x64", True)

MODULES = [pytest.param(np, id="numpy"), pytest.param(jnp, id="jax")]
DT = 2e-3
GAINS = DriveGains(kp=400.0)


def arrays_of(numbers: ServoNumbers) -> ServoArrays:
    given = {name: value for name, value in vars(numbers).items() if name in ServoArrays._fields}
    limits = {
        name: min(getattr(numbers, name), NO_LIMIT)
        for name in ("goal_speed_limit", "goal_acceleration_limit")
    }
    return ServoArrays(
        **{**given, **numbers.friction, **limits},
        current_law=float(numbers.law == "current"),
        torque_saturation=0.0,
        opposing=0.0,
        armature=0.0,
    )


class Port:
    """The law of arrays as `bam conform` calls a port."""

    def __init__(self, numbers: ServoNumbers, xp: Any) -> None:
        self.servo, self.xp = arrays_of(numbers), xp
        self.reset()

    def reset(self) -> None:
        self.state = begin(self.xp.zeros(1), xp=self.xp)

    def step(self, step: Step) -> tuple[float, float]:
        arrays = {name: self.xp.asarray([value]) for name, value in vars(step).items()}
        joint = Joint(**{name: arrays[name] for name in Joint._fields})
        torques = TORQUES[self.xp.__name__]
        self.state, motor, friction = torques(
            self.servo, self.state, arrays["goal"], arrays["enabled"], joint, arrays["dt"]
        )
        return float(motor[0]), float(friction[0])


def torques_of(xp: Any) -> Callable[..., tuple[FirmwareState, Any, Any]]:
    def torques(servo: Any, state: Any, goal: Any, enabled: Any, joint: Any, dt: Any) -> Any:
        new, motor = motor_torque(servo, state, goal, enabled, joint, dt, xp=xp)
        return new, motor, friction_torque(servo, motor, joint, dt, xp=xp)

    return torques


TORQUES = {"numpy": torques_of(np), "jax.numpy": jax.jit(torques_of(jnp))}


@pytest.mark.parametrize("xp", MODULES)
def test_all_golden_cases_agree(xp: types.ModuleType) -> None:
    outcome = conformance(lambda numbers: Port(numbers, xp))
    assert outcome.differences == ()
    assert outcome.largest_error < 1e-9


def worlds(count: int, seed: int = 0) -> tuple[Joint, np.ndarray]:
    """Return joints and goals, a fifth of them at rest."""
    random = np.random.default_rng(seed)
    speed = random.normal(0.0, 3.0, count) * (random.random(count) > 0.2)
    joint = Joint(
        position=random.normal(0.0, 1.0, count),
        velocity=speed,
        external_torque=random.normal(0.0, 0.3, count),
        inertia=np.full(count, 5e-3),
    )
    return joint, random.normal(0.0, 1.0, count)


def test_servos_of_a_batch_are_those_one_by_one() -> None:
    rows = [servo_arrays(name, GAINS) for name in ("xl330", "xl330", "mx106")]
    batch = ServoArrays(*(np.array(column) for column in zip(*rows, strict=True)))
    joint, goal = worlds(3)
    state, torque = motor_torque(batch, begin(goal), goal, goal > -9.0, joint, DT)
    for index, servo in enumerate(rows):
        one = Joint(*(value[index] for value in joint))
        alone, alone_torque = motor_torque(servo, begin(goal[index]), goal[index], True, one, DT)
        assert alone_torque == torque[index]
        assert [float(value) for value in alone] == [float(value[index]) for value in state]


def test_a_reset_world_forgets_and_the_others_do_not() -> None:
    state = FirmwareState(*(np.array([0.3, 0.4]) for _ in FirmwareState._fields))
    done = reset(state, np.array([True, False]))
    assert [value.tolist() for value in done] == [[0.0, 0.4]] * len(FirmwareState._fields)


def test_gradients_are_finite_differences_away_from_sticking_and_finite_everywhere() -> None:
    servo = servo_arrays("xl330", GAINS)
    joint, goal = worlds(2000)

    def final(position: Any, velocity: Any, external: Any, target: Any, scale: Any) -> Any:
        own = servo._replace(coulomb=servo.coulomb * scale, torque_constant=servo.torque_constant * scale)
        here = Joint(position, velocity, external, jnp.asarray(5e-3))
        state = begin(position, xp=jnp)
        for _ in range(3):
            state, here = pendulum_step(own, state, target, here, DT, xp=jnp)
        return here.position

    slopes = jax.jit(jax.vmap(jax.grad(final, argnums=(0, 1, 2, 3, 4)), in_axes=(0, 0, 0, 0, None)))
    given = (joint.position, joint.velocity, joint.external_torque, goal, 1.0)
    found = slopes(*given)
    assert all(bool(jnp.all(jnp.isfinite(slope))) for slope in found)
    fast = np.abs(joint.velocity) > 1.0
    step = 1e-6
    many = jax.jit(jax.vmap(final, in_axes=(0, 0, 0, 0, None)))
    for index in range(5):
        ends = []
        for sign in (1.0, -1.0):
            moved = list(given)
            moved[index] = moved[index] + sign * step
            ends.append(many(*moved))
        slope = (ends[0] - ends[1]) / (2.0 * step)
        error = np.abs(np.asarray(slope - found[index]))[fast]
        # Some cross rest, a limit of the duty, or |τ_m| = |τ_e| between the two ends.
        assert np.quantile(error, 0.97) < 1e-6


def test_friction_at_rest_holds_what_is_within_its_budget() -> None:
    servo = servo_arrays("mx106", DriveGains(kp=32.0))
    external = np.linspace(-0.5, 0.5, 101)
    joint = Joint(np.zeros(101), np.zeros(101), external, np.full(101, 0.01))
    friction = friction_torque(servo, np.zeros(101), joint, DT)
    budget = friction_budget(servo, np.zeros(101), external, np.zeros(101))
    held = np.abs(external) <= budget
    assert 10 < held.sum() < 101
    assert np.array_equal(friction[held], -external[held])


def test_draws_are_arrays_and_their_mean_is_the_servo() -> None:
    one, many = servo_arrays("xl330", GAINS), servo_arrays("xl330", GAINS, draws=50, seed=1)
    assert many.coulomb.shape == (50,)
    assert np.std(many.coulomb) > 0.0
    assert np.median(many.torque_constant) == pytest.approx(one.torque_constant, rel=0.1)


def test_effects_that_arrays_lack_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        servo_arrays("xl330", GAINS)
    assert "winding_heating" in caplog.text


def test_the_quadratic_rule_of_bams_program_is_that_of_the_servo_file() -> None:
    servo = load_servo("mx106")
    assert servo.friction.quadratic_rule == "opposing"
    random = np.random.default_rng(0)
    motor, external, velocity = random.normal(0.0, 2.0, (3, 500))
    budget = friction_budget(servo_arrays("mx106", DriveGains(kp=32.0)), motor, external, velocity)
    assert budget == pytest.approx(servo.friction.budget(motor, external, velocity), rel=1e-12)


def test_a_gear_is_refused(tmp_path: Path) -> None:
    geared = load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=1.05))
    geared.save(tmp_path / "own.yaml")
    with pytest.raises(Unsupported):
        servo_arrays(tmp_path / "own.yaml", GAINS)
