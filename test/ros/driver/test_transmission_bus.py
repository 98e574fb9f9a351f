# SPDX-License-Identifier: Apache-2.0
"""Joints behind transmissions: signs, zeros and ratios go both ways, and power is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import OutOfRange
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.servo_bus import Gains, LawSettings, ServoGoal, ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.transmission import DIRECT, Transmission
from bam_ros.driver.transmission_bus import TransmissionBus, behind_transmissions
from test.ros.ros_helpers import FakeBus
from test.ros.stepped_bus import SteppedBus

TURNED = Transmission(direction=-1, offset=0.5, ratio=2.0)
ANY = st.builds(
    Transmission,
    direction=st.sampled_from([-1, 1]),
    offset=st.floats(-4.0, 4.0),
    ratio=st.floats(0.1, 100.0),
)


@given(ANY, st.floats(-10.0, 10.0), st.floats(-5.0, 5.0), st.floats(-9.0, 9.0))
def test_positions_go_there_and_back_and_power_is_kept(
    joint: Transmission, position: float, velocity: float, torque: float
) -> None:
    assert joint.servo_position(joint.position(position)) == pytest.approx(position, abs=1e-9)
    assert joint.effort(torque) * joint.velocity(velocity) == pytest.approx(torque * velocity)
    step = 1e-3
    moved = joint.position(position + step * velocity) - joint.position(position)
    assert moved == pytest.approx(step * joint.velocity(velocity), abs=1e-9)


@given(ANY)
def test_limits_stay_in_order(joint: Transmission) -> None:
    low, high = joint.limits((-1.0, 2.0))
    assert low < high
    assert sorted((joint.servo_position(low), joint.servo_position(high))) == pytest.approx([-1.0, 2.0])


@pytest.mark.parametrize(
    "wrong", [{"direction": 0}, {"direction": 2}, {"offset": math.nan}, {"ratio": 0.0}, {"ratio": -2.0}]
)
def test_what_no_transmission_is_like_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OutOfRange):
        Transmission(**wrong)  # type: ignore[arg-type]


class Measuring(FakeBus):
    """A servo with every quantity, behind whatever it drives."""

    law_settings = (LawSettings(demand_limit=0.8), LawSettings())
    position_limits = ((-3.0, 1.0), (-3.0, 1.0))

    def exchange(self, goal: ServoGoal) -> ServoSample:
        two = (1.0, 1.0)
        return replace(
            super().exchange(goal), velocity=two, current=two, duty=two, effort=two, goal_position=two
        )


def test_every_quantity_of_a_sample_is_the_joint_s() -> None:
    servos = Measuring(("a", "b"), position=1.0)
    bus = TransmissionBus(servos, (TURNED, DIRECT))
    sample = bus.exchange(ServoGoal.released(2))
    assert sample.position == (0.0, 1.0)
    assert sample.velocity == (-0.5, 1.0)
    assert sample.current == (-1.0, 1.0)
    assert sample.duty == (-1.0, 1.0)
    assert sample.effort == (-2.0, 1.0)
    assert sample.goal_position == (0.0, 1.0)
    assert bus.position_limits == ((0.0, 2.0), (-3.0, 1.0))
    bus.exchange(ServoGoal(torque_enable=(True, True), position=(1.5, math.nan)))
    goal = servos.goals[-1]
    assert goal.position[0] == -2.0
    assert math.isnan(goal.position[1])


class Driving(FakeBus):
    """Servos that are commanded by velocity, current and duty."""

    @property
    def command_kinds(self) -> tuple[CommandKind, ...]:
        return (CommandKind.VELOCITY, CommandKind.CURRENT, CommandKind.DUTY)

    @property
    def setpoint_limits(self) -> tuple[float, ...]:
        return (4.0, 2.0, 1.0)

    @property
    def torque_constants(self) -> tuple[float, ...]:
        return (1.5,) * 3


def test_a_velocity_is_the_joint_s_and_current_and_duty_are_the_motor_s() -> None:
    servos = Driving(("a", "b", "c"))
    bus = TransmissionBus(servos, (TURNED,) * 3)
    bus.exchange(ServoGoal(torque_enable=(True,) * 3, position=(math.nan,) * 3, setpoint=(1.0, 0.5, 0.2)))
    assert servos.goals[-1].setpoint == (-2.0, -0.5, -0.2)
    assert bus.setpoint_limits == (2.0, 2.0, 1.0)
    assert bus.torque_constants == (3.0,) * 3


def test_a_gear_is_no_part_of_any_model_and_a_sign_is() -> None:
    bus = TransmissionBus(Measuring(("a", "b")), (TURNED, Transmission(direction=-1, offset=1.0)))
    geared, turned = bus.law_settings
    assert (geared.demand_limit, bool(geared.unmodelled), turned.unmodelled) == (0.8, True, "")


def test_joints_that_are_their_servos_shafts_need_no_transmission() -> None:
    servos = FakeBus(("a", "b"))
    assert behind_transmissions(servos, (DIRECT, DIRECT)) is servos
    bus = behind_transmissions(servos, (DIRECT, TURNED))
    wanted = Gains(kp=3.0, ki=0.0, kd=0.0)
    assert bus.set_gains("b", wanted) == bus.read_gains("b") == servos.gains["b"]
    assert (bus.names, bus.second, bus.unreleased) == (servos.names, servos.second, servos.unreleased)


def test_limits_and_speed_limit_are_the_joint_s() -> None:
    servos = SteppedBus("joint")
    settings = LoopSettings(speed_limit=1.0, torque_on_speed=1.0, command_timeout=10.0)
    bus = TransmissionBus(servos, (Transmission(ratio=4.0),))
    loop = ServoLoop(bus, settings, lambda *_: None, lambda *_: None)
    loop.step()
    start = servos.time
    for _ in range(250):
        loop.take({0: JointCommand(torque_enable=True, position=1.0)})
        loop.step()
    goals = [goal.position[0] for goal in servos.goals if goal.torque_enable[0]]
    speeds = [(after - before) / servos.step for before, after in pairwise(goals)]
    assert max(speeds) == pytest.approx(4.0)  # of the servo
    assert goals[-1] == pytest.approx(4.0 * (servos.time - start), abs=0.05)
