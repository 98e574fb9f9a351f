# SPDX-License-Identifier: Apache-2.0
"""Robots whose servos are drawn: they get the commands of the simulated one, and their band holds it."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Missing, OutOfRange, Unsupported
from bam_core.gears import Asymmetry
from bam_core.servo.model import load_servo
from bam_core.validation.validation import LEAST_DRAWS
from bam_ros.driver.servo_bus import Gains, ServoGoal
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.ghosts import Draws, draws_of
from bam_ros.simulator.settings import SimulationSettings

SERVO = load_servo("mx106")


def bus_of(draws: dict[str, Draws]) -> MujocoBus:
    settings = SimulationSettings(servos=dict.fromkeys(draws, SERVO), real_time_factor=0.0)
    bus = MujocoBus(settings, draws=draws)
    bus.open()
    return bus


def swing(bus: MujocoBus, exchanges: int = 150) -> list[float]:
    goal = ServoGoal(torque_enable=(True,), position=(0.8,))
    return [bus.exchange(goal).position[0] for _ in range(exchanges)]


def test_draws_that_are_the_servo_itself_move_as_it_does() -> None:
    bus = bus_of({"joint": Draws(servos=(SERVO,) * LEAST_DRAWS, residual=0.0)})
    for _ in range(5):
        position = swing(bus, 30)[-1]
        assert bus.band is not None
        low, high = bus.band
        assert low[0] == high[0] == pytest.approx(position, abs=0.5 * SERVO.firmware.resolution)


def test_the_residual_widens_the_band_by_its_share_of_a_normal_distribution() -> None:
    bus = bus_of({"joint": Draws(servos=(SERVO,) * LEAST_DRAWS, residual=0.01)})
    swing(bus)
    assert bus.band is not None
    low, high = bus.band
    assert high[0] - low[0] == pytest.approx(2.0 * 1.6449 * 0.01, rel=1e-3)


def test_the_band_is_of_percentiles_of_the_draws() -> None:
    shares = np.linspace(0.5, 1.5, 41)
    servos = tuple(
        dataclasses.replace(
            SERVO, motor=dataclasses.replace(SERVO.motor, torque_constant=share * SERVO.motor.torque_constant)
        )
        for share in shares
    )
    bus = bus_of({"joint": Draws(servos=servos, residual=0.0)})
    swing(bus)
    ends = []
    for each in servos:
        alone = MujocoBus(SimulationSettings(servos={"joint": each}, real_time_factor=0.0))
        alone.open()
        swing(alone)
        ends.append(float(alone.world.actuation.position[0]))
    assert bus.band is not None
    assert (bus.band[0][0], bus.band[1][0]) == pytest.approx(tuple(np.quantile(ends, (0.05, 0.95))), abs=1e-9)


def test_a_reset_takes_the_ghosts_along() -> None:
    bus = bus_of({"joint": Draws(servos=(SERVO,) * LEAST_DRAWS, residual=0.0)})
    swing(bus)
    bus.reset()
    assert bus.band is not None
    assert bus.band[0][0] == bus.band[1][0] == 0.0


def test_joints_with_the_same_servo_are_drawn_independently() -> None:
    draws = draws_of({"left": "xl330", "right": "xl330"}, LEAST_DRAWS)
    left, right = ([each.motor.resistance for each in draws[joint].servos] for joint in ("left", "right"))
    assert len(left) == LEAST_DRAWS
    assert abs(np.corrcoef(left, right)[0, 1]) < 0.9
    assert draws == draws_of({"left": "xl330", "right": "xl330"}, LEAST_DRAWS)


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutOfRange, match="draws"):
        draws_of({"joint": "xl330"}, LEAST_DRAWS - 1)
    SERVO.with_gear(Asymmetry(input_side=0.1, output_side=1.05)).save(tmp_path / "gear.yaml")
    with pytest.raises((Unsupported, Missing)):
        draws_of({"joint": str(tmp_path / "gear.yaml")}, LEAST_DRAWS)


def band_and_position(bus: MujocoBus, goal: ServoGoal) -> tuple[float, float, float]:
    for _ in range(30):
        position = bus.exchange(goal).position[0]
    assert bus.band is not None
    return float(bus.band[0][0]), float(bus.band[1][0]), position


def test_draws_get_gain_release_and_goal_of_the_simulated_robot() -> None:
    bus = bus_of({"joint": Draws(servos=(SERVO,) * LEAST_DRAWS, residual=0.0)})
    gain = bus.read_gains("joint").kp
    swing(bus, 30)
    for kp, goal in (
        (0.25 * gain, ServoGoal(torque_enable=(True,), position=(-0.8,))),
        (0.25 * gain, ServoGoal.released(1)),
        (2.0 * gain, ServoGoal(torque_enable=(True,), position=(0.4,))),
    ):
        bus.set_gains("joint", Gains(kp=kp, ki=0.0, kd=0.0))
        low, high, position = band_and_position(bus, goal)
        assert low == high == pytest.approx(position, abs=0.5 * SERVO.firmware.resolution)


def test_draws_get_the_duty_of_a_simulated_robot_in_pwm_mode() -> None:
    settings = SimulationSettings(servos={"joint": SERVO}, real_time_factor=0.0, pwm=True)
    bus = MujocoBus(settings, draws={"joint": Draws(servos=(SERVO,) * LEAST_DRAWS, residual=0.0)})
    bus.open()
    low, high, position = band_and_position(
        bus, ServoGoal(torque_enable=(True,), position=(math.nan,), setpoint=(0.3,))
    )
    assert abs(position) > 0.05
    assert low == high == pytest.approx(position, abs=0.5 * SERVO.firmware.resolution)
