# SPDX-License-Identifier: Apache-2.0
"""Simulated servos in PWM mode, and trajectories on them: both live in simulated time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Unsupported
from bam_core.feedforward import Points
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.servo_bus import ServoGoal
from bam_ros.feedforward.bus import FeedForwardBus
from bam_ros.feedforward.settings import FeedForwardSettings
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.pacer import Pacer
from bam_ros.simulator.settings import SimulationSettings

SERVO = load_servo("mx64")
LOAD = PendulumBench(mass=0.3, length=0.12)
ON, OFF = ServoGoal(torque_enable=(True,), position=(math.nan,)), ServoGoal.released(1)
TWO = """
<mujoco>
  <worldbody>
    <body>
      <joint name="hip" axis="1 0 0"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.2"/>
    </body>
    <body pos="0 1 0">
      <joint name="knee" axis="1 0 0"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.2"/>
    </body>
  </worldbody>
</mujoco>
"""


class Wall:
    """A wall clock that only sleeping and stalls move."""

    def __init__(self) -> None:
        self.now = 100.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def simulated(factor: float = 0.0, wall: Wall | None = None, **changes: object) -> MujocoBus:
    """A bench in PWM mode, open."""
    fields = {"servos": {"joint": SERVO}, "bench": LOAD, "real_time_factor": factor, "pwm": True, **changes}
    wall = wall or Wall()
    pacer = Pacer(factor, monotonic=lambda: wall.now, sleep=wall.sleep, wall=lambda: round(wall.now * 1e9))
    bus = MujocoBus(SimulationSettings(**fields), pacer)  # type: ignore[arg-type]
    bus.open()
    return bus


def duty(*values: float) -> ServoGoal:
    return ServoGoal(torque_enable=(True,) * len(values), position=(math.nan,) * len(values), setpoint=values)


def test_a_duty_drives_the_motor_of_its_own_joint_until_torque_goes_off(tmp_path: Path) -> None:
    model = tmp_path / "two.xml"
    model.write_text(TWO)
    bus = simulated(servos={"hip": SERVO, "knee": SERVO}, model=str(model))
    for _ in range(100):
        sample = bus.exchange(duty(0.2, -0.3))
    assert sample.duty == pytest.approx((0.2, -0.3))
    assert sample.position[0] > 0.1 > -0.1 > sample.position[1]
    assert all(math.isnan(goal) for goal in sample.goal_position)
    for _ in range(3):
        sample = bus.exchange(ServoGoal.released(2))
    assert sample.duty == (0.0, 0.0)
    assert sample.effort == (0.0, 0.0)
    assert sample.torque_enabled == (False, False)


def test_the_first_duty_after_torque_on_is_none_and_none_is_more_than_the_firmware_gives() -> None:
    bus = simulated()
    assert bus.exchange(duty(0.5)).duty == (0.0,)
    assert bus.exchange(duty(0.5)).duty == (0.5,)
    assert bus.exchange(duty(1.0)).duty == (SERVO.firmware.demand_limit,)
    assert bus.exchange(ON).duty == (0.0,)
    bus.exchange(OFF)
    assert bus.exchange(duty(0.5)).duty == (0.0,)


def test_a_servo_that_regulates_its_current_has_no_pwm_mode() -> None:
    with pytest.raises(Unsupported) as caught:
        SimulationSettings(servos={"a": SERVO, "b": load_servo("erob80_100")}, pwm=True)
    assert caught.value.thing == "joint 'b'"


def fed(bus: MujocoBus) -> FeedForwardBus:
    settings = FeedForwardSettings(servos=[""] * len(bus.names), limits=[(-3.0, 3.0)] * len(bus.names))
    found = FeedForwardBus(bus, settings)
    found.open()
    return found


def swing() -> Points:
    times = np.linspace(0.0, 1.5, 16)
    place, rate = 0.3 * (1.0 - np.cos(math.tau * times / 1.5)), 0.4 * math.pi * np.sin(math.tau * times / 1.5)
    return Points(time=times, position=place[:, None], velocity=rate[:, None])


Motion = list[tuple[float, float, float]]


def motion(
    factor: float, disturb: Callable[[int, MujocoBus, Wall], None] = lambda count, bus, wall: None
) -> Motion:
    """Simulated time, goal and position while a trajectory is followed, one row per period."""
    wall = Wall()
    bus = simulated(factor, wall)
    servos = fed(bus)
    servos.exchange(ON)
    servos.follow(swing(), bus.now() + 0.1)
    rows: Motion = []
    count = 0
    while bus.now() < 2.0:
        disturb(count, bus, wall)
        sample = servos.exchange(ON)
        assert sample.torque_enabled == (True,)
        assert sample.hardware_error == (0,)
        row = bus.now(), sample.goal_position[0], sample.position[0]
        if not rows or row[0] > rows[-1][0]:
            rows.append(row)
        else:
            assert row == rows[-1]  # paused
        count += 1
    return rows


@pytest.fixture(scope="module")
def reference() -> Motion:
    """The motion as fast as possible."""
    return motion(0.0)


def test_a_trajectory_is_followed_in_simulated_time(reference: Motion) -> None:
    when, goal, seen = np.array(reference).T
    wanted = np.interp(when, 0.1 + swing().time, swing().position[:, 0], left=0.0, right=0.0)
    np.testing.assert_allclose(goal, wanted, atol=0.02)
    assert np.max(goal) == pytest.approx(0.6, abs=0.01)
    np.testing.assert_allclose(seen, goal, atol=0.05)


@pytest.mark.parametrize("factor", [1.0, 0.1, 5.0])
def test_a_motion_is_the_same_at_any_speed(factor: float, reference: Motion) -> None:
    assert motion(factor) == reference


def test_a_motion_is_the_same_on_a_machine_that_stalls(reference: Motion) -> None:
    def stall(count: int, bus: MujocoBus, wall: Wall) -> None:
        wall.now += 0.3 if count % 100 == 99 else 0.0

    assert motion(1.0, stall) == reference


def test_a_pause_freezes_a_motion_for_as_long_as_it_takes(reference: Motion) -> None:
    def pause(count: int, bus: MujocoBus, wall: Wall) -> None:
        if count in (200, 700):
            bus.paused = count == 200

    assert motion(1.0, pause) == reference


def test_by_hand_a_motion_goes_on_step_by_step() -> None:
    bus = simulated()
    servos = fed(bus)
    servos.exchange(ON)
    servos.follow(swing(), bus.now() + 0.1)
    bus.paused = True
    timestep = 1e-3
    goals = []
    for _ in range(700):
        bus.step()
        servos.exchange(ON)  # measures what the step did; the next one answers that
        sample = servos.exchange(ON)
        goals.append((bus.now(), sample.goal_position[0], sample.position[0]))
    when, goal, seen = np.array(goals).T
    np.testing.assert_allclose(np.diff(when), timestep)
    assert goal[-1] == pytest.approx(
        np.interp(when[-1] - 0.1, swing().time, swing().position[:, 0]), abs=0.02
    )
    assert goal[-1] > 0.4
    assert seen[-1] == pytest.approx(goal[-1], abs=0.05)


def test_two_simulations_have_a_clock_each() -> None:
    slow, fast = simulated(), simulated(period=4e-3)
    for _ in range(10):
        slow.exchange(OFF)
        fast.exchange(OFF)
    assert (slow.now(), fast.now()) == pytest.approx((0.02, 0.04))
