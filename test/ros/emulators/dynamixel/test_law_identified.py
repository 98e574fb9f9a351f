# SPDX-License-Identifier: Apache-2.0
"""From registers to parameters: emulated servos with a changed law, identified on a simulated clock."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import script
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_ros.driver.servo_bus import Gains
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.register import Register
from bam_ros.dynamixel.servo import DynamixelServo
from test.ros.virtual_helpers import Clock, make

LOAD = PendulumBench(mass=0.49, length=0.1)
PERIOD = 4e-3


class ClockLink:
    """The part of a `Link` that one servo needs, to an emulated servo on an explicit clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def read(self, servo: int, register: Register) -> int:
        return self._clock.read(register.name)

    def write(self, servo: int, register: Register, count: int, attempts: int) -> None:
        self._clock.write(**{register.name: count})

    def write_block(self, servo: int, address: int, data: bytes) -> None:
        self._clock.servo.write(address, data, self._clock.now)

    def read_one(self, servo: int, address: int, length: int) -> bytes:
        return self._clock.servo.read(address, length, self._clock.now)

    def read_block(self, ids: tuple[int, ...], address: int, length: int) -> dict[int, tuple[bytes, int]]:
        return dict.fromkeys(ids, (self._clock.servo.read(address, length, self._clock.now), 0))


def record(
    model: str, kp: int, name: str, *, ki: int = 0, kd: int = 0, driven: bool = True, **registers: int
) -> Recording:
    """Return a run of an emulated servo whose registers were changed before it; not `driven`: as they are."""
    clock = Clock(make(model, LOAD))
    clock.write(**registers)
    if model.startswith("mx") and "max_torque" in registers:
        clock.servo.power_on(0.0)  # the servo takes it over then
    link = cast(Link, ClockLink(clock))
    servo = DynamixelServo("joint", 1, clock.servo.table, link)
    if driven:
        servo.prepare()
        servo.set_gains(Gains(kp=kp, ki=ki, kd=kd))
    else:
        clock.write(position_p_gain=kp)
    servo.switch_on(0.0)
    follow = script(name)
    time = np.arange(0.0, follow.duration, PERIOD)
    goal, enabled = follow(time)
    states: list[Any] = []
    for wanted, torque in zip(goal, enabled, strict=True):
        if torque:
            clock.write(goal_position=servo.count(float(wanted)))
        elif servo.torque:
            servo.release()
        data, error = link.read_block((1,), servo.block.address, servo.block.length)[1]
        states.append(servo.state(servo.measured(data), error))
        clock.run(PERIOD)
    place = Path("emulated") / f"{model}_{name}_kp{kp}_{registers}"
    return Recording(
        name=place.name,
        source=place,
        sha256=place.name,
        servo=model,
        bench=LOAD,
        kp=kp,
        ki=ki,
        kd=kd,
        supply_voltage=clock.servo.bench.hidden.supply_voltage,
        demand_limit=servo.law.demand_limit,
        script=name,
        time=time,
        goal_position=goal,
        torque_enabled=enabled,
        position=np.array([state.position for state in states]),
        velocity=np.array([state.velocity for state in states]),
        voltage=np.array([state.voltage for state in states]),
        temperature=np.array([state.temperature for state in states]),
        duty=np.array([state.duty for state in states]),
    )


def truth(model: str, library: str) -> ServoModel:
    """Return the model of the emulated servo, as nobody but its maker knows it."""
    hidden = make(model, LOAD).bench.hidden
    return dataclasses.replace(
        load_servo(library),
        motor=hidden.motor,
        friction=hidden.friction,
        friction_model="m6",
        integrator="midpoint",
    )


def error(model: ServoModel, run: Recording) -> float:
    """Return the mean absolute error of a model on a run, rad."""
    # An XL330 counts with its mean supply, as readings of a real one are off; those of the emulated are not.
    plain = dataclasses.replace(model, servo_effects=ServoEffects())
    vector = parameter_vector(plain, BenchEffects(supply_ripple=1.0))
    return float(Rollout.for_servo([run], plain).errors(vector)[0, 0])


def motor_error(model: ServoModel) -> float:
    """Return how far torque constant or resistance, whichever is worse, is off from the emulated XL330."""
    true = truth("xl330", "xl330_bam").motor
    return max(
        abs(model.motor.torque_constant / true.torque_constant - 1.0),
        abs(model.motor.resistance / true.resistance - 1.0),
    )


LIMITED = [("xl330", "xl330_bam", 800, {"pwm_limit": 442}), ("mx106", "mx106", 32, {"max_torque": 60})]


@pytest.mark.parametrize(("model", "library", "kp", "registers"), LIMITED)
def test_a_limited_servo_moves_as_the_true_parameters_say_under_its_limit(
    model: str, library: str, kp: int, registers: dict[str, int]
) -> None:
    run = record(model, kp, "sin_time_square", **registers)
    assert run.demand_limit < 0.52
    true = truth(model, library)
    assert error(true, run) < 3e-3
    untold = dataclasses.replace(run, demand_limit=math.inf)
    assert error(true, untold) > 5.0 * error(true, run)


@pytest.mark.parametrize(
    ("model", "library", "kp", "kd"), [("mx106", "mx106", 16, 16), ("mx106_2", "mx106_2", 400, 2000)]
)
def test_a_derivative_gain_moves_the_emulated_servo_as_the_law_says(
    model: str, library: str, kp: int, kd: int
) -> None:
    """The emulator has the manual's conversions, and differences of its counts from tick to tick."""
    run = record(model, kp, "sin_time_square", kd=kd)
    true = truth(model, library)
    assert error(true, run) < 3e-3
    assert error(true, dataclasses.replace(run, kd=0)) > 5.0 * error(true, run)


@pytest.mark.parametrize(
    ("model", "library", "kp", "ki"), [("mx106", "mx106", 16, 60), ("mx106_2", "mx106_2", 400, 4000)]
)
def test_an_integral_gain_moves_the_emulated_servo_as_the_law_says(
    model: str, library: str, kp: int, ki: int
) -> None:
    """The emulator has the manual's conversions, and sums counts from tick to tick."""
    run = record(model, kp, "sin_time_square", ki=ki)
    true = truth(model, library)
    assert error(true, run) < 3e-3
    assert error(true, dataclasses.replace(run, ki=0)) > 5.0 * error(true, run)


@pytest.mark.long
def test_an_xl330_with_half_its_duty_is_identified_right() -> None:
    plan = ((200, "sin_sin"), (400, "sin_sin"), (800, "sin_time_square"), (800, "lift_and_drop"))
    runs = [record("xl330", kp, name, pwm_limit=442) for kp, name in plan]
    untold = [dataclasses.replace(run, demand_limit=math.inf) for run in runs]
    start = dataclasses.replace(load_servo("xl330_bam"), integrator="midpoint")
    right, wrong = (
        identify(logs, start, IdentifySettings(models=["m4"], trials=800, effects=[], seed=1)).fits["m4"]
        for logs in (runs, untold)
    )
    # Of seeds 1 to 4: at most 0.11 where the limit is told; 0.26, 0.33, 1.3 and 1.5 where it is not. Which of
    # the two parameters is wrong most depends on the seed.
    assert motor_error(right.servo) < 0.15
    assert motor_error(wrong.servo) > 0.2
    assert wrong.train_mae > 5.0 * right.train_mae


@pytest.mark.parametrize(
    ("model", "library", "kp", "registers"),
    [
        ("xl330", "xl330_bam", 400, {"feedforward_1st_gain": 300}),
        ("xl330", "xl330_bam", 400, {"profile_velocity": 30}),
        ("mx106_2", "mx106_2", 200, {"feedforward_2nd_gain": 16000}),
        ("mx106", "mx106", 16, {"punch": 200}),
        ("mx106", "mx106", 16, {"goal_velocity": 10}),
    ],
)
def test_a_driver_keeps_other_laws_out_of_the_recording(
    model: str, library: str, kp: int, registers: dict[str, int]
) -> None:
    true = truth(model, library)
    plain = error(true, record(model, kp, "sin_sin"))
    assert plain < 3e-3
    assert error(true, record(model, kp, "sin_sin", **registers)) == pytest.approx(plain, rel=1e-6)
    assert error(true, record(model, kp, "sin_sin", driven=False, **registers)) > 2.0 * plain
