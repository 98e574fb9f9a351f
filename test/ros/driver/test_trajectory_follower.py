# SPDX-License-Identifier: Apache-2.0
"""Goals of trajectories: followed, held, cancelled, replaced, aborted, refused; a loop is stepped by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bam_core.errors import Conflict, Unavailable
from bam_core.recordings.joint_path import PathPoint
from bam_ros.driver.active_trajectory import Progress
from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.joint_command import JointCommandTopic
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.servo_bus import BusGone, ServoGoal, ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.trajectory_follower import FEEDBACK_PERIOD, TrajectoryFollower
from bam_ros.driver.trajectory_goal import (
    DefaultTolerances,
    Ending,
    ErrorCode,
    FollowerSettings,
    Outcome,
    ToleranceRequest,
    TrajectoryGoal,
)
from test.ros.stepped_bus import SteppedBus

TIMEOUT = 0.5  # s
LIMITS = ((-2.0, 2.0), (-2.0, 2.0))
STEP = 0.002  # s
SLACK = 0.05  # s; torque goes on, and goals reach servos, a few steps late


class StampedBus(SteppedBus):
    """Stamps its samples with its own clock: a test may stand still for a while."""

    def exchange(self, goal: ServoGoal) -> ServoSample:
        return replace(super().exchange(goal), stamp=round(self.time * 1e9))

    def acquired(self, sample: ServoSample) -> float:
        return sample.stamp * 1e-9


class Rig:
    """A loop of two joints that follows trajectories; servos reach their goals at once."""

    def __init__(
        self, default: DefaultTolerances | None = None, *, acknowledges: bool = False, **settings: object
    ) -> None:
        self.bus = StampedBus("hip", "knee", step=STEP)
        self.loop = ServoLoop(
            self.bus,
            LoopSettings(**{"command_timeout": TIMEOUT, **settings}),  # type: ignore[arg-type]
            lambda sample, _: self.on_sample(sample),
            lambda *_: self.follower.check(),
        )
        self.inputs = CommandInputs(self.loop, self.bus.now, 2, TIMEOUT)
        self.follower = TrajectoryFollower(
            self.bus,
            self.loop,
            self.inputs,
            lambda: LIMITS,
            FollowerSettings(
                default=default or DefaultTolerances(), timeout=TIMEOUT, acknowledges_faults=acknowledges
            ),
        )
        self.loop.acknowledge = self.loop.end_fault  # type: ignore[method-assign]  # there is no thread
        self.sample: ServoSample | None = None
        self.outcomes: list[Outcome] = []
        self.progress: list[Progress] = []
        self.cancelled = False
        self.loop.step()

    def on_sample(self, sample: ServoSample) -> None:
        self.sample = sample
        self.follower.step(sample)

    def start(self, goal: TrajectoryGoal) -> list[Outcome]:
        """Return where the goal's outcome will be."""
        outcomes: list[Outcome] = []

        def on_done(outcome: Outcome) -> None:
            outcomes.append(outcome)
            self.outcomes.append(outcome)

        self.follower.start(goal, on_done, cancelled=lambda: self.cancelled, on_progress=self.progress.append)
        return outcomes

    def run(self, seconds: float) -> list[tuple[float, ...]]:
        """Step for some time of the bus and return the goals of every step, rad."""
        first, end = len(self.bus.goals), self.bus.time + seconds
        while self.bus.time < end - 1e-9:
            self.loop.step()
        return [goal.position for goal in self.bus.goals[first:]]

    def servo_command(self, joint: int, *, on: bool) -> None:
        command = JointCommand(torque_enable=on, position=0.0 if on else math.nan)
        self.inputs.take(CommandInput.SERVO_COMMANDS, {joint: command})


def towards(seconds: float = 1.0, **positions: float) -> TrajectoryGoal:
    """Return a goal to go straight to these positions."""
    point = PathPoint(time=seconds, position=tuple(positions.values()))
    return TrajectoryGoal(joints=tuple(positions), points=(point,))


def within(position: float, *names: str) -> Mapping[str, ToleranceRequest]:
    return {name: ToleranceRequest(position=position) for name in names}


def check(outcomes: list[Outcome], code: ErrorCode, words: str = "") -> None:
    (outcome,) = outcomes
    assert (outcome.ending, outcome.code) == (Ending.ABORTED, code)
    assert words in outcome.text
    assert "\n" not in outcome.text
    assert outcome.text


# Following


def test_joints_follow_their_path_in_any_order_and_are_held_at_its_end() -> None:
    rig = Rig()
    outcomes = rig.start(towards(knee=-0.5, hip=1.0))
    rig.run(0.5)
    assert rig.bus.position == pytest.approx([0.5, -0.25], abs=SLACK)
    assert outcomes == []
    rig.run(0.6)
    assert [outcome.ending for outcome in outcomes] == [Ending.SUCCEEDED]
    assert outcomes[0].code is ErrorCode.SUCCESSFUL
    rig.run(20.0 * TIMEOUT)
    assert rig.bus.position == [1.0, -0.5]
    assert rig.bus.torque == [True, True]


def test_a_goal_that_the_speed_limit_holds_back_ends_when_its_last_point_is_in_force() -> None:
    rig = Rig(speed_limit=2.0)
    outcomes = rig.start(towards(0.02, hip=1.0))
    rig.run(0.45)
    assert outcomes == []
    rig.run(0.1)
    assert outcomes[0].ending is Ending.SUCCEEDED
    assert rig.bus.position[0] == pytest.approx(1.0, abs=0.01)


def test_points_with_velocities_are_passed_smoothly() -> None:
    rig = Rig()
    points = [
        PathPoint(time=0.5, position=(0.25,), velocity=(1.0,)),
        PathPoint(time=1.0, position=(0.5,), velocity=(0.0,)),
    ]
    rig.start(TrajectoryGoal(joints=("hip",), points=tuple(points)))
    goals = [goal[0] for goal in rig.run(1.0) if not math.isnan(goal[0])]
    speeds = [(b - a) / STEP for a, b in itertools.pairwise(goals)]
    assert max(speeds) == pytest.approx(1.0, abs=0.05)
    changes = [abs(b - a) for a, b in itertools.pairwise(speeds)]
    assert max(changes[5:]) < 0.05


def test_a_goal_that_ends_in_motion_is_refused_and_a_stream_may() -> None:
    """Held at its last point, a joint would stop at once."""
    rig = Rig()
    moving = TrajectoryGoal(joints=("hip",), points=(PathPoint(time=0.5, position=(0.25,), velocity=(0.1,)),))
    outcomes = rig.start(moving)
    assert [(outcome.ending, outcome.code) for outcome in outcomes] == [
        (Ending.ABORTED, ErrorCode.INVALID_GOAL)
    ]
    assert not any(rig.bus.torque)
    point = replace(moving.points[0], velocity=(1e-9,))  # as planners round
    for followed in (replace(moving, points=(point,)), replace(moving, ends_at_rest=False)):
        outcomes = rig.start(followed)
        rig.run(0.6)
        assert outcomes[0].ending is Ending.SUCCEEDED


def test_a_joint_that_a_goal_does_not_name_stays_as_it_is() -> None:
    rig = Rig()
    rig.start(towards(hip=0.5))
    rig.run(1.1)
    assert rig.bus.torque == [True, False]


def test_a_path_that_overshoots_its_points_stays_within_the_limits() -> None:
    rig = Rig()
    points = [
        PathPoint(time=2.0, position=(1.9,), velocity=(3.0,)),
        PathPoint(time=3.0, position=(1.9,), velocity=(0.0,)),
    ]
    rig.start(TrajectoryGoal(joints=("hip",), points=tuple(points)))
    goals = [goal[0] for goal in rig.run(3.2) if not math.isnan(goal[0])]
    assert max(goals) == 2.0
    assert goals[-1] == 1.9


def test_progress_tells_where_joints_are_and_should_be() -> None:
    rig = Rig()
    rig.start(towards(knee=1.0))
    rig.run(1.1)
    times = [progress.time for progress in rig.progress]
    assert len(times) == pytest.approx(1.0 / FEEDBACK_PERIOD, abs=3)
    assert all(b - a >= FEEDBACK_PERIOD - STEP for a, b in itertools.pairwise(times))
    for progress in (each for each in rig.progress[2:] if each.time < 1.0):
        assert progress.desired[0] == pytest.approx(progress.time, abs=1e-9)
        assert progress.actual[0] == pytest.approx(progress.desired[0], abs=SLACK)
        assert progress.desired_velocity[0] == pytest.approx(1.0)


# Tolerances


def test_without_tolerances_a_goal_succeeds_at_its_end_however_far_joints_are() -> None:
    rig = Rig()
    rig.bus.stuck = {"hip"}
    outcomes = rig.start(towards(hip=0.5))
    rig.run(1.1)
    assert outcomes[0].ending is Ending.SUCCEEDED


@pytest.mark.parametrize("by", ["goal", "default"])
def test_a_joint_that_leaves_its_path_aborts_and_is_held_where_it_is(by: str) -> None:
    rig = Rig(DefaultTolerances(path=0.1 if by == "default" else 0.0))
    rig.bus.stuck = {"hip"}
    outcomes = rig.start(replace(towards(hip=0.5, knee=0.5), path=within(0.1, "hip") if by == "goal" else {}))
    rig.run(0.15)
    assert outcomes == []
    rig.run(0.15)
    check(outcomes, ErrorCode.PATH_TOLERANCE_VIOLATED, "hip: ")
    goals = rig.run(5.0 * TIMEOUT)[-1]
    assert goals[0] == pytest.approx(rig.bus.position[0], abs=1e-9)  # nothing presses on what blocks it
    assert rig.bus.torque == [True, True]


def test_a_negative_tolerance_takes_the_default_away() -> None:
    rig = Rig(DefaultTolerances(path=0.1, goal=0.1))
    rig.bus.stuck = {"hip"}
    outcomes = rig.start(replace(towards(hip=0.5), path=within(-1.0, "hip"), goal=within(-1.0, "hip")))
    rig.run(1.1)
    assert outcomes[0].ending is Ending.SUCCEEDED


@pytest.mark.parametrize(("asked", "default", "time"), [(0.3, 0.0, 0.3), (0.0, 0.3, 0.3), (0.2, 0.9, 0.2)])
def test_a_joint_that_is_not_at_its_goal_in_time_aborts_and_keeps_the_goal(
    asked: float, default: float, time: float
) -> None:
    rig = Rig(DefaultTolerances(goal=0.1, goal_time=default))
    rig.bus.stuck = {"hip"}
    outcomes = rig.start(replace(towards(hip=0.5), goal_time=asked))
    rig.run(1.0 + time - SLACK)
    assert outcomes == []
    rig.run(2.0 * SLACK)
    check(outcomes, ErrorCode.GOAL_TOLERANCE_VIOLATED, "hip: 0.5 rad")
    assert rig.run(5.0 * TIMEOUT)[-1][0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(("asked", "default"), [(0.0, 0.0), (-1.0, 0.3), (2.0, 0.3)])
def test_a_joint_that_comes_late_within_the_time_succeeds(asked: float, default: float) -> None:
    rig = Rig(DefaultTolerances(goal=0.1, goal_time=default))
    rig.bus.stuck = {"hip"}
    outcomes = rig.start(replace(towards(hip=0.5), goal_time=asked))
    rig.run(2.5)
    assert outcomes == []
    rig.bus.stuck = set()
    rig.run(SLACK)
    assert outcomes[0].ending is Ending.SUCCEEDED


# Ends


def test_a_cancelled_goal_ends_at_once_and_its_joints_are_held() -> None:
    rig = Rig()
    outcomes = rig.start(towards(hip=1.0))
    rig.run(0.5)
    rig.cancelled = True
    goals = rig.run(10.0 * TIMEOUT)
    assert outcomes[0].ending is Ending.CANCELLED
    assert {goal[0] for goal in goals[2:]} == {goals[-1][0]}
    assert goals[-1][0] == pytest.approx(0.5, abs=SLACK)
    assert rig.bus.torque[0]


def test_a_new_goal_replaces_the_old_one_without_a_jump() -> None:
    rig = Rig()
    old = rig.start(towards(hip=1.0, knee=1.0))
    before = rig.run(0.5)
    new = rig.start(towards(hip=0.0))
    goals = before[-2:] + rig.run(1.1)
    assert [(outcome.ending, outcome.code) for outcome in old] == [(Ending.REPLACED, ErrorCode.INVALID_GOAL)]
    assert new[0].ending is Ending.SUCCEEDED
    assert max(abs(b[0] - a[0]) for a, b in itertools.pairwise(goals)) < 1.5 * STEP
    assert rig.bus.position[0] == 0.0
    assert rig.bus.position[1] == pytest.approx(0.5, abs=SLACK)  # held: the new goal does not name it
    assert rig.bus.torque == [True, True]


def test_a_fault_aborts_and_nothing_asks_for_torque_any_more() -> None:
    rig = Rig()
    outcomes = rig.start(towards(hip=1.0))
    rig.run(0.5)
    rig.bus.errors[1] = 4
    rig.run(0.1)
    check(outcomes, ErrorCode.INVALID_GOAL, "knee: ")
    rig.bus.errors[1] = 0
    rig.run(TIMEOUT + 0.1)
    check(rig.start(towards(hip=0.0)), ErrorCode.INVALID_GOAL, "torque is off")
    rig.servo_command(0, on=False)
    rig.run(TIMEOUT + 0.1)
    assert not rig.loop.latched
    again = rig.start(towards(hip=0.0))
    rig.run(1.1)
    assert again[0].ending is Ending.SUCCEEDED


def test_a_bus_that_is_lost_aborts_though_no_samples_come() -> None:
    rig = Rig(retry_period=0.0)
    outcomes = rig.start(towards(hip=1.0))
    rig.run(0.5)
    rig.bus.failure = BusGone("port", "has vanished", advice="plug it in")
    rig.loop.step()
    check(outcomes, ErrorCode.INVALID_GOAL, "has vanished")


@pytest.mark.parametrize("on", [True, False])
def test_servo_commands_take_a_joint_away_and_the_others_are_held(on: bool) -> None:
    rig = Rig()
    outcomes = rig.start(towards(hip=1.0, knee=1.0))
    rig.run(0.5)
    rig.servo_command(0, on=on)
    rig.run(0.1)
    check(outcomes, ErrorCode.INVALID_GOAL, "hip: commanded by servo_commands")
    assert rig.follower.held == {1}
    assert rig.bus.torque == [on, True]
    rig.run(5.0 * TIMEOUT)
    assert rig.bus.torque == [False, True]


def test_a_joint_outside_its_limits_gets_no_torque_and_aborts() -> None:
    rig = Rig(limits=((0.5, 1.0), (-2.0, 2.0)))
    outcomes = rig.start(towards(hip=0.7, knee=0.1))
    rig.run(1.2)
    check(outcomes, ErrorCode.INVALID_GOAL, "hip: its torque is off (at 0.000 rad")
    rig.run(5.0 * TIMEOUT)
    assert rig.bus.torque == [False, True]


def test_a_node_that_is_deactivated_ends_its_goal_and_holds_nothing() -> None:
    rig = Rig()
    rig.start(towards(knee=0.1))
    rig.run(1.1)
    outcomes = rig.start(towards(hip=1.0))
    rig.run(0.5)
    rig.follower.stop("the node is not active any more")
    check(outcomes, ErrorCode.INVALID_GOAL, "not active")
    rig.run(TIMEOUT + 0.1)
    assert rig.bus.torque == [False, False]


def test_every_goal_has_one_outcome() -> None:
    rig = Rig()
    for number in range(4):
        rig.start(towards(hip=0.1 * number))
        rig.run(0.3)
    rig.cancelled = True
    rig.run(0.1)
    rig.follower.stop("ends")
    assert len(rig.outcomes) == 4


# Beside other inputs


def test_a_joint_that_is_held_follows_joint_command_and_one_on_its_way_does_not() -> None:
    rig = Rig()
    warnings: list[str] = []
    topic = JointCommandTopic(rig.bus.names, rig.inputs, warnings.append)
    rig.start(towards(hip=0.5))
    for _ in range(400):
        topic.take(["hip"], [-0.5], LIMITS)
        rig.loop.step()
    assert rig.bus.position[0] == pytest.approx(0.8 * 0.5, abs=SLACK)
    assert len(warnings) == 1
    rig.run(1.0)  # that client pauses, and the goal is reached
    assert rig.follower.held == {0}
    for _ in range(1000):
        topic.take(["hip"], [-0.5], LIMITS)
        rig.loop.step()
    assert rig.bus.position[0] == -0.5
    assert rig.follower.held == frozenset()
    rig.run(TIMEOUT + 0.1)
    assert rig.bus.torque == [False, False]


def test_a_joint_command_that_follows_the_outcome_at_once_is_obeyed() -> None:
    rig = Rig()
    topic = JointCommandTopic(rig.bus.names, rig.inputs, lambda _: None)
    outcomes = rig.start(towards(0.2, hip=0.5))
    while not outcomes:
        rig.loop.step()
    for _ in range(400):
        topic.take(["hip"], [0.1], LIMITS)
        rig.loop.step()
    assert rig.bus.position[0] == pytest.approx(0.1, abs=0.01)


def test_a_goal_takes_a_joint_over_from_joint_command_where_it_is() -> None:
    rig = Rig()
    topic = JointCommandTopic(rig.bus.names, rig.inputs, lambda _: None)
    for _ in range(300):
        topic.take(["hip"], [0.5], LIMITS)
        rig.loop.step()
    outcomes = rig.start(towards(0.2, hip=0.6))
    goals = rig.run(5.0 * TIMEOUT)
    assert outcomes[0].ending is Ending.SUCCEEDED
    assert max(abs(b[0] - a[0]) for a, b in itertools.pairwise(goals)) < 1.5 * STEP
    assert rig.bus.torque[0]


def test_a_goal_for_a_joint_that_servo_commands_have_is_refused() -> None:
    rig = Rig()
    rig.servo_command(0, on=True)
    check(rig.start(towards(hip=0.5)), ErrorCode.INVALID_GOAL, "servo_commands")
    assert rig.start(towards(knee=0.5)) == []
    rig.run(TIMEOUT + 0.1)
    assert rig.start(towards(hip=0.5)) == []


# Refused


@pytest.mark.parametrize(
    "goal",
    [
        towards(elbow=0.1),
        towards(),
        TrajectoryGoal(joints=("hip", "hip"), points=(PathPoint(time=1.0, position=(0.0, 0.0)),)),
        replace(towards(hip=0.1), path=within(0.1, "knee")),
        replace(towards(hip=0.1), goal=within(0.1, "elbow")),
    ],
    ids=["unknown", "none", "twice", "tolerance of another", "tolerance of an unknown one"],
)
def test_joints_that_cannot_be_are_refused(goal: TrajectoryGoal) -> None:
    rig = Rig()
    check(rig.start(goal), ErrorCode.INVALID_JOINTS)
    rig.run(0.1)
    assert rig.bus.torque == [False, False]


@pytest.mark.parametrize(
    "goal",
    [
        TrajectoryGoal(joints=("hip",), points=()),
        TrajectoryGoal(joints=("hip", "knee"), points=(PathPoint(time=1.0, position=(0.0,)),)),
        towards(hip=2.1),
        towards(hip=math.nan),
        towards(-1.0, hip=0.1),
        replace(towards(hip=0.1), path=within(math.nan, "hip")),
        replace(towards(hip=0.1), goal_time=math.nan),
    ],
    ids=["no points", "too few positions", "beyond limits", "NaN", "early", "NaN tolerance", "NaN time"],
)
def test_points_that_cannot_be_are_refused_and_the_goal_before_goes_on(goal: TrajectoryGoal) -> None:
    rig = Rig()
    before = rig.start(towards(hip=0.5))
    rig.run(0.3)
    check(rig.start(goal), ErrorCode.INVALID_GOAL)
    rig.run(0.8)
    assert before[0].ending is Ending.SUCCEEDED


def test_a_trajectory_that_is_over_by_its_stamp_is_refused() -> None:
    rig = Rig()
    assert rig.sample is not None
    goal = towards(hip=0.5)
    check(rig.start(replace(goal, stamp=rig.sample.stamp - 1_500_000_000)), ErrorCode.OLD_HEADER_TIMESTAMP)
    check(rig.start(replace(goal, stamp=1)), ErrorCode.OLD_HEADER_TIMESTAMP)


def test_a_trajectory_that_began_before_is_joined_and_ends_in_time() -> None:
    rig = Rig()
    assert rig.sample is not None
    outcomes = rig.start(replace(towards(hip=0.5), stamp=rig.sample.stamp - 500_000_000))
    goals = [goal[0] for goal in rig.run(0.5 + 2.0 * SLACK) if not math.isnan(goal[0])]
    assert outcomes[0].ending is Ending.SUCCEEDED
    assert goals[0] == 0.0
    assert max(b - a for a, b in itertools.pairwise(goals[10:])) < 1.5 * STEP


def test_a_trajectory_of_the_future_ends_in_time() -> None:
    rig = Rig()
    assert rig.sample is not None
    outcomes = rig.start(replace(towards(hip=0.5), stamp=rig.sample.stamp + 1_000_000_000))
    rig.run(2.0 - 2.0 * SLACK)
    assert outcomes == []
    rig.run(4.0 * SLACK)
    assert outcomes[0].ending is Ending.SUCCEEDED


def test_goals_without_a_common_joint_are_followed_side_by_side() -> None:
    rig = Rig()
    arm = rig.start(towards(hip=0.4))
    rig.run(0.3)
    gripper = rig.start(towards(0.4, knee=-0.4))
    rig.run(0.5)
    assert (arm, [outcome.ending for outcome in gripper]) == ([], [Ending.SUCCEEDED])
    rig.run(0.4)
    assert [outcome.ending for outcome in arm] == [Ending.SUCCEEDED]
    rig.run(4.0 * TIMEOUT)
    assert (rig.bus.torque, rig.bus.position) == ([True, True], pytest.approx([0.4, -0.4], abs=1e-6))


def test_a_goal_replaces_all_goals_that_have_one_of_its_joints() -> None:
    rig = Rig()
    arm, gripper = rig.start(towards(5.0, hip=0.4)), rig.start(towards(5.0, knee=-0.4))
    rig.run(0.3)
    both = rig.start(towards(0.5, hip=0.0, knee=0.0))
    assert [outcome.ending for outcome in (*arm, *gripper)] == [Ending.REPLACED, Ending.REPLACED]
    rig.run(1.0)
    assert [outcome.ending for outcome in both] == [Ending.SUCCEEDED]


def test_a_fault_ends_all_goals() -> None:
    rig = Rig()
    arm, gripper = rig.start(towards(5.0, hip=0.4)), rig.start(towards(5.0, knee=-0.4))
    rig.run(0.3)
    rig.bus.errors = [0, int(HardwareError.OVERLOAD)]
    rig.run(SLACK)
    assert [outcome.ending for outcome in (*arm, *gripper)] == [Ending.ABORTED, Ending.ABORTED]
    assert rig.bus.torque == [False, False]


# Joints that nobody commands any more


def test_joints_that_were_held_for_too_long_go_off_at_once_and_others_are_held() -> None:
    rig = Rig()
    rig.start(towards(0.1, hip=0.2))
    rig.run(3.0)
    rig.start(towards(0.1, knee=0.2))
    rig.run(1.0)
    assert rig.follower.held == {0, 1}
    assert rig.follower.release_forgotten(5.0) == ()
    assert rig.follower.release_forgotten(2.0) == ("hip",)
    rig.run(2.0 * STEP)
    assert rig.bus.torque == [False, True]
    assert rig.loop.fault is None
    outcomes = rig.start(towards(hip=0.1))
    rig.run(2.0)
    assert [outcome.ending for outcome in outcomes] == [Ending.SUCCEEDED]
    assert rig.follower.held == {0, 1}


def test_a_goal_that_is_followed_is_not_forgotten() -> None:
    rig = Rig()
    rig.start(towards(10.0, hip=1.0))
    rig.run(5.0)
    assert rig.follower.release_forgotten(0.0) == ()
    rig.run(0.1)
    assert rig.bus.torque == [True, False]


# Faults of a group of joints


def with_faulty_knee(*, acknowledges: bool = False) -> tuple[Rig, list[Outcome], list[Outcome]]:
    """Return a rig of two groups, with a goal each, a moment after the servo of one reported an error."""
    rig = Rig(groups={"arm": {0}, "gripper": {1}}, acknowledges=acknowledges)
    arm, gripper = rig.start(towards(hip=1.0)), rig.start(towards(knee=0.5))
    rig.run(0.3)
    rig.bus.errors = [0, int(HardwareError.OVERLOAD)]
    rig.run(0.01)
    return rig, arm, gripper


def test_a_fault_of_a_group_ends_its_goal_while_that_of_the_other_group_goes_on() -> None:
    rig, arm, gripper = with_faulty_knee()
    check(gripper, ErrorCode.INVALID_GOAL, "torque is off")
    assert arm == []
    check(rig.start(towards(knee=0.1)), ErrorCode.INVALID_GOAL, "torque is off")
    with pytest.raises(Unavailable):
        rig.follower.hold([1])
    rig.run(1.0)
    assert [outcome.ending for outcome in arm] == [Ending.SUCCEEDED]
    assert rig.bus.torque == [True, False]


def test_joints_of_a_stopped_group_are_held_no_longer_so_that_the_fault_can_end() -> None:
    rig, _, _ = with_faulty_knee()
    rig.run(1.0)
    assert rig.follower.held == {0}
    rig.bus.errors = [0, 0]
    rig.run(2.0 * TIMEOUT)
    assert rig.loop.end_fault()
    gripper = rig.start(towards(knee=0.1))
    rig.run(1.2)
    assert [outcome.ending for outcome in gripper] == [Ending.SUCCEEDED]
    assert rig.bus.torque == [True, True]


def test_a_goal_acknowledges_the_fault_of_its_own_group_only() -> None:
    rig, _, _ = with_faulty_knee(acknowledges=True)
    rig.bus.errors = [0, 0]
    rig.run(2.0 * TIMEOUT)
    rig.start(towards(hip=0.2))
    rig.run(0.1)
    assert rig.loop.stopped
    gripper = rig.start(towards(knee=0.1))
    rig.run(1.2)
    assert [outcome.ending for outcome in gripper] == [Ending.SUCCEEDED]


# Faults that a goal acknowledges, torque that services switch


def in_fault(*, acknowledges: bool) -> Rig:
    """Return a rig whose fault has passed, and whose commands have ended."""
    rig = Rig(acknowledges=acknowledges)
    rig.bus.errors = [int(HardwareError.OVERLOAD), 0]
    rig.run(SLACK)
    assert rig.loop.latched
    rig.bus.errors = [0, 0]
    rig.run(SLACK)
    return rig


def test_a_goal_acknowledges_a_fault_that_has_passed_where_the_policy_says_so() -> None:
    check(in_fault(acknowledges=False).start(towards(hip=0.3)), ErrorCode.INVALID_GOAL, "torque is off")
    rig = in_fault(acknowledges=True)
    outcomes = rig.start(towards(hip=0.3))
    rig.run(2.0)
    assert [outcome.ending for outcome in outcomes] == [Ending.SUCCEEDED]


def test_a_goal_acknowledges_neither_a_fault_that_persists_nor_where_it_cannot_be_followed() -> None:
    rig = in_fault(acknowledges=True)
    check(rig.start(towards(ankle=0.3)), ErrorCode.INVALID_JOINTS, "ankle")
    assert rig.loop.latched
    rig.bus.errors = [0, int(HardwareError.OVERHEATING)]
    rig.run(SLACK)
    check(rig.start(towards(hip=0.3)), ErrorCode.INVALID_GOAL, "overheating")
    assert rig.loop.latched
    rig.run(1.0)
    assert rig.bus.torque == [False, False]


def test_joints_are_held_on_request_and_released_with_their_goal() -> None:
    rig = Rig()
    rig.bus.position = [0.2, -0.1]
    rig.run(SLACK)
    rig.follower.hold([0])
    rig.run(4.0 * TIMEOUT)
    assert (rig.bus.torque, rig.bus.position[0]) == ([True, False], 0.2)
    outcomes = rig.start(towards(hip=0.5, knee=0.5))
    rig.run(0.2)
    rig.follower.release([1], "by hand")
    rig.inputs.take(CommandInput.SET_TORQUE, {1: JointCommand()})
    check(outcomes, ErrorCode.INVALID_GOAL, "by hand")
    rig.run(4.0 * TIMEOUT)
    assert rig.bus.torque == [True, False]


def test_joints_are_not_held_where_a_fault_or_another_client_forbids_it() -> None:
    with pytest.raises(Unavailable, match="reset_fault"):
        in_fault(acknowledges=True).follower.hold([0])
    rig = Rig()
    rig.servo_command(0, on=False)
    with pytest.raises(Conflict, match="hip"):
        rig.follower.hold([0, 1])
    rig.run(SLACK)
    assert rig.bus.torque == [False, False]
