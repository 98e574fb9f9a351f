# SPDX-License-Identifier: Apache-2.0
"""Velocities, currents and duties: which part of a command a joint gets, and what happens when they end."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from bam_bench.msg import ServoCommands

from bam_core.errors import BamError, Conflict, OutOfRange
from bam_ros.driver.command_inputs import CommandInputs
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_command import JointCommandTopic
from bam_ros.driver.joint_limits import HALF_TURN
from bam_ros.driver.servo_bus import ServoGoal, ServoSample
from bam_ros.driver.servo_commands import parse_commands
from bam_ros.driver.setpoint_limits import JointMotion, limited_setpoint
from bam_ros.driver.state_messages import StateMessages
from bam_ros.driver.trajectory_follower import TrajectoryFollower
from bam_ros.driver.trajectory_goal import Ending, FollowerSettings, Outcome, TrajectoryGoal
from bam_ros.text.torque_reasons import VelocityNotFollowing
from test.ros.stepped_bus import SteppedBus, SteppedLoop

POSITION, VELOCITY, CURRENT, DUTY = CommandKind
DEMANDS = pytest.mark.parametrize("kind", [CURRENT, DUTY])


def limited(
    kind: CommandKind, wanted: float, position: float = 0.0, velocity: float = 0.0, largest: float = 2.0
) -> float:
    motion = JointMotion(position=position, velocity=velocity)
    return limited_setpoint(kind, wanted, motion, limits=(-1.0, 1.0), largest=largest, speed=5.0)


@pytest.mark.parametrize("kind", [VELOCITY, CURRENT, DUTY])
def test_what_is_allowed_passes_unchanged_and_nothing_is_zero(kind: CommandKind) -> None:
    assert limited(kind, 0.7) == 0.7
    assert limited(kind, -0.7) == -0.7
    assert limited(kind, math.nan) == 0.0
    assert limited(kind, math.inf) == 0.0
    assert limited(kind, 0.7, position=math.nan) == 0.0


@pytest.mark.parametrize("kind", [VELOCITY, CURRENT, DUTY])
def test_a_setpoint_is_cut_off_at_what_the_servo_takes(kind: CommandKind) -> None:
    assert limited(kind, 3.0) == 2.0
    assert limited(kind, -3.0) == -2.0


def test_a_velocity_is_at_most_the_limit_of_speed_and_fades_out_towards_a_limit() -> None:
    assert limited(VELOCITY, 9.0, position=-0.9, largest=math.inf) == 5.0
    assert limited(VELOCITY, 2.0, position=0.7) == pytest.approx(1.0)
    assert limited(VELOCITY, 2.0, position=1.0) == 0.0
    assert limited(VELOCITY, 2.0, position=1.2) == 0.0
    assert limited(VELOCITY, -2.0, position=1.2) == -2.0
    assert limited(VELOCITY, -2.0, position=-0.85) == pytest.approx(-0.5)


@DEMANDS
def test_a_demand_drives_no_joint_out_of_its_limits_or_beyond_its_speed(kind: CommandKind) -> None:
    assert limited(kind, 0.5, position=1.0) == 0.0
    assert limited(kind, 0.5, position=0.8, velocity=3.0) == 0.0
    assert limited(kind, 0.5, position=0.5, velocity=1.0) == 0.5
    assert limited(kind, -0.5, position=1.3) == -0.5
    assert limited(kind, 0.5, velocity=5.0) == 0.0
    assert limited(kind, -0.5, velocity=5.0) == -0.5
    assert limited(kind, -0.5, velocity=-5.0) == 0.0
    assert limited(kind, 0.5, position=0.8, velocity=math.nan) == 0.5


class SetpointBus(SteppedBus):
    """Servos with the velocities that they are told, of these kinds."""

    def __init__(self, *kinds: CommandKind, step: float = 0.01) -> None:
        super().__init__(*(f"joint_{index}" for index in range(len(kinds))), step=step)
        self.kinds = kinds
        self.blocked = False

    @property
    def command_kinds(self) -> tuple[CommandKind, ...]:
        return self.kinds

    @property
    def setpoint_limits(self) -> tuple[float, ...]:
        return (3.0,) * len(self.kinds)

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        return ((-math.inf, math.inf),) * len(self.kinds)

    def exchange(self, goal: ServoGoal) -> ServoSample:
        sample = super().exchange(goal)
        if not goal.setpoint:
            return sample
        velocity = [0.0 if self.blocked or math.isnan(each) else each for each in goal.setpoint]
        self.position = [
            position + self.step * each for position, each in zip(self.position, velocity, strict=True)
        ]
        return replace(
            sample, position=tuple(self.position), velocity=tuple(velocity), setpoint=goal.setpoint
        )


def stepped(*kinds: CommandKind, **settings: object) -> tuple[SetpointBus, SteppedLoop]:
    bus = SetpointBus(*kinds)
    return bus, SteppedLoop(bus, **settings)


def run(loop: SteppedLoop, seconds: float, setpoint: float | None, joint: int = 0) -> list[float]:
    """Return the set-points that a joint was told, by a client that keeps commanding or is silent."""
    first, end = len(loop.bus.goals), loop.bus.time + seconds
    while loop.bus.time < end - 1e-9:
        if setpoint is not None:
            loop.loop.take({joint: JointCommand(torque_enable=True, setpoint=setpoint)})
        loop.loop.step()
    return [goal.setpoint[joint] for goal in loop.bus.goals[first:]]


@pytest.mark.parametrize("kind", [VELOCITY, CURRENT, DUTY])
def test_torque_goes_on_with_a_setpoint_of_zero(kind: CommandKind) -> None:
    _, loop = stepped(kind)
    assert run(loop, 0.03, 1.0) == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("kind", [VELOCITY, CURRENT, DUTY])
def test_where_commands_stop_the_setpoint_is_zero_after_half_the_timeout_then_torque_is_off(
    kind: CommandKind,
) -> None:
    bus, loop = stepped(kind, command_timeout=0.5)
    run(loop, 0.1, 0.3)
    told = run(loop, 0.25, None)
    assert told[:20] == [0.3] * 20
    assert run(loop, 0.2, None)[1:] == [0.0] * 19
    assert bus.goals[-1].torque_enable == (True,)
    run(loop, 0.1, None)
    assert bus.goals[-1].torque_enable == (False,)
    assert list(loop.loop.withheld) == ["joint_0"]
    assert run(loop, 0.03, 0.3)[1:] == [0.3, 0.3]


def test_a_joint_that_is_commanded_by_velocity_stops_at_its_limit_and_comes_back() -> None:
    bus, loop = stepped(VELOCITY, limits=((-1.0, 1.0),))
    run(loop, 2.0, 2.0)
    assert bus.position[0] == pytest.approx(1.0, abs=5e-3)
    run(loop, 0.5, -1.0)
    assert bus.position[0] < 0.6
    assert loop.events == []


def test_without_limits_a_wheel_turns_on() -> None:
    bus, loop = stepped(VELOCITY, limits=((-math.inf, math.inf),))
    run(loop, 5.0, 2.5)
    assert bus.position[0] > 10.0


def test_a_joint_that_does_not_reach_its_velocity_is_a_fault() -> None:
    bus, loop = stepped(VELOCITY, velocity_error=1.0)
    run(loop, 0.5, 2.0)
    assert loop.loop.fault is None
    bus.blocked = True
    run(loop, 0.7, 0.9)  # less than the error that is allowed
    assert loop.loop.fault is None
    run(loop, 0.7, 2.0)
    reason = loop.loop.fault_reason
    assert isinstance(reason, VelocityNotFollowing)
    assert (reason.joint, reason.distance, reason.limit) == ("joint_0", 2.0, 1.0)
    assert bus.goals[-1].torque_enable == (False,)


def test_positions_and_other_goals_go_side_by_side() -> None:
    bus, loop = stepped(POSITION, VELOCITY)
    loop.command(0.2, joint=0)
    run(loop, 0.2, 1.5, joint=1)
    goal = bus.goals[-1]
    assert goal.position[0] == pytest.approx(0.2)
    assert math.isnan(goal.position[1])
    assert math.isnan(goal.setpoint[0])
    assert goal.setpoint[1] == 1.5


KINDS = (POSITION, VELOCITY, CURRENT, DUTY)
NAMES = ("hip", "wheel", "hand", "fan")
LIMITS = (HALF_TURN,) * 4
NAN = math.nan


def test_a_message_has_each_goal_in_the_array_of_its_kind() -> None:
    message = ServoCommands(
        name=list(NAMES),
        torque_enabled=[True] * 4,
        goal_position=[0.5, NAN, NAN, NAN],
        goal_velocity=[NAN, 2.0, NAN, NAN],
        goal_current=[NAN, NAN, 0.3, NAN],
        goal_duty=[NAN, NAN, NAN, -0.2],
    )
    commands = parse_commands(message, NAMES, LIMITS, KINDS)
    assert commands[0] == JointCommand(torque_enable=True, position=0.5)
    assert [commands[index].setpoint for index in (1, 2, 3)] == [2.0, 0.3, -0.2]


@pytest.mark.parametrize(
    ("joint", "goals", "kind"),
    [
        ("wheel", {"goal_position": [0.5]}, Conflict),
        ("hip", {"goal_velocity": [0.5]}, Conflict),
        ("hand", {"goal_current": [0.1], "goal_duty": [0.1]}, Conflict),
        ("hand", {"goal_current": [math.inf]}, OutOfRange),
    ],
)
def test_a_goal_of_another_kind_or_without_end_is_refused(
    joint: str, goals: dict[str, list[float]], kind: type[BamError]
) -> None:
    message = ServoCommands(name=[joint], torque_enabled=[True], **goals)
    with pytest.raises(kind):
        parse_commands(message, NAMES, LIMITS, KINDS)


class Sink:
    def __init__(self) -> None:
        self.taken: dict[int, JointCommand] = {}

    def take(self, commands: dict[int, JointCommand]) -> None:
        self.taken |= commands


def test_joint_command_has_velocities_and_efforts_for_joints_that_take_them() -> None:
    sink, lines = Sink(), []
    inputs = CommandInputs(sink, lambda: 1.0, 4, 0.5)
    topic = JointCommandTopic(NAMES, inputs, lines.append, KINDS, lambda: (NAN, NAN, 2.0, NAN))
    topic.take(NAMES, [0.5, NAN, NAN, NAN], LIMITS, [NAN, 2.0, NAN, NAN], [NAN, NAN, 0.5, 9.0])
    assert sink.taken[0].position == 0.5
    assert [sink.taken[index].setpoint for index in (1, 2)] == [2.0, 0.25]  # N·m by N·m/A
    assert 3 not in sink.taken
    assert len(lines) == 1  # JointState has no duty
    topic.take(["wheel"], [], LIMITS, [1.0], [])
    assert sink.taken[1].setpoint == 1.0
    topic.take(["wheel"], [0.1], LIMITS, [], [])
    assert sink.taken[1].setpoint == 1.0
    assert len(lines) == 2


def test_an_effort_without_a_known_torque_constant_is_ignored() -> None:
    sink, lines = Sink(), []
    inputs = CommandInputs(sink, lambda: 1.0, 4, 0.5)
    topic = JointCommandTopic(NAMES, inputs, lines.append, KINDS, lambda: (NAN,) * 4)
    topic.take(["hand"], [], LIMITS, [], [0.5])
    assert sink.taken == {}
    assert len(lines) == 1


def test_a_trajectory_is_for_joints_that_are_commanded_by_position() -> None:
    bus, loop = stepped(POSITION, VELOCITY)
    inputs = CommandInputs(loop.loop, bus.now, 2, 0.5)
    follower = TrajectoryFollower(bus, loop.loop, inputs, lambda: (HALF_TURN,) * 2, FollowerSettings())
    outcomes: list[Outcome] = []
    follower.start(TrajectoryGoal(joints=("joint_1",), points=()), outcomes.append)
    assert [outcome.ending for outcome in outcomes] == [Ending.ABORTED]


def test_states_have_the_goals_of_kinds_that_are_used() -> None:
    bus, loop = stepped(POSITION, VELOCITY)
    run(loop, 0.05, 1.5, joint=1)
    assert loop.loop.sample is not None
    _, states = StateMessages(bus.names, "", bus.command_kinds).fill(loop.loop.sample, 1)
    assert math.isnan(states.goal_velocity[0])
    assert states.goal_velocity[1] == 1.5
    assert all(map(math.isnan, (*states.goal_current, *states.goal_duty)))
