# SPDX-License-Identifier: Apache-2.0
"""The action's messages become goals, and outcomes its results; with a stand-in for control_msgs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from bam_bench.action import Record
from builtin_interfaces.msg import Duration, Time
from rclpy.action import ActionClient, ActionServer
from rclpy.action.server import ServerGoalHandle
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory

from bam_core.recordings.joint_path import PathPoint
from bam_ros.driver import trajectory_action
from bam_ros.driver.active_trajectory import Progress
from bam_ros.driver.trajectory_action import TrajectoryAction, cancel, goal_of
from bam_ros.driver.trajectory_goal import Ending, ErrorCode, Outcome, ToleranceRequest, TrajectoryGoal
from test.ros.ros_helpers import PATIENCE, wait_for


@dataclass
class Tolerance:
    name: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


@dataclass
class Request:
    trajectory: JointTrajectory
    path_tolerance: list[Tolerance] = field(default_factory=list)
    goal_tolerance: list[Tolerance] = field(default_factory=list)
    goal_time_tolerance: Duration = field(default_factory=Duration)
    multi_dof_trajectory: MultiDOFJointTrajectory = field(default_factory=MultiDOFJointTrajectory)


@dataclass
class Feedback:
    joint_names: list[str]
    header: Header = field(default_factory=Header)
    desired: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)
    actual: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)
    error: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)


@dataclass
class Result:
    error_code: int = 0
    error_string: str = ""


KIND = SimpleNamespace(Feedback=Feedback, Result=Result)
REQUEST = Request(
    trajectory=JointTrajectory(
        header=Header(stamp=Time(sec=7, nanosec=5)),
        joint_names=["knee", "hip"],
        points=[
            JointTrajectoryPoint(
                positions=[0.1, 0.2],
                velocities=[0.3, 0.4],
                accelerations=[0.5, 0.6],
                time_from_start=Duration(sec=1, nanosec=500_000_000),
            ),
            JointTrajectoryPoint(positions=[0.0, 0.0], time_from_start=Duration(sec=2)),
        ],
    ),
    path_tolerance=[Tolerance("hip", position=0.1, velocity=-1.0)],
    goal_tolerance=[Tolerance("knee", position=-1.0)],
    goal_time_tolerance=Duration(sec=-1),
)


class Follower:
    """Stands in for a `TrajectoryFollower`; keeps the goal that it got."""

    def __init__(self) -> None:
        self.goal: TrajectoryGoal | None = None

    def start(
        self,
        goal: TrajectoryGoal,
        on_done: Callable[[Outcome], None],
        *,
        cancelled: Callable[[], bool],
        on_progress: Callable[[Progress], None],
    ) -> None:
        self.goal, self.on_done, self.cancelled, self.on_progress = goal, on_done, cancelled, on_progress


class Handle:
    """Stands in for the server's handle of a goal."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.is_cancel_requested = False
        self.feedback: list[Feedback] = []
        self.ends: list[str] = []
        self.publish_feedback = self.feedback.append

    def succeed(self) -> None:
        self.ends.append("succeeded")

    def abort(self) -> None:
        self.ends.append("aborted")

    def _update_state(self, event: object) -> None:
        assert str(event).endswith("CANCEL_GOAL")

    def canceled(self) -> None:
        self.ends.append("canceled")


class Execution:
    """An execution of a goal, run by hand."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        request: Request,
        follower: Follower | None,
        group: Sequence[str] = (),
    ) -> None:
        monkeypatch.setattr(trajectory_action, "ActionServer", lambda *_, **__: None)
        self.warnings: list[str] = []
        logger = SimpleNamespace(warning=self.warnings.append)
        node: Any = SimpleNamespace(executor=None, get_logger=lambda: logger)
        self.handle = Handle(request)
        action = TrajectoryAction(node, KIND, lambda: follower, "arm" if group else "", group)  # type: ignore[arg-type, return-value]
        self._running = action._execute(self.handle)  # type: ignore[arg-type]

    def turn(self) -> Result | None:
        """Return the result where there is one now."""
        try:
            self._running.send(None)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        return None


def test_a_goal_is_read_with_all_it_says() -> None:
    assert goal_of(REQUEST) == TrajectoryGoal(
        joints=("knee", "hip"),
        points=(
            PathPoint(time=1.5, position=(0.1, 0.2), velocity=(0.3, 0.4), acceleration=(0.5, 0.6)),
            PathPoint(time=2.0, position=(0.0, 0.0)),
        ),
        stamp=7_000_000_005,
        path={"hip": ToleranceRequest(position=0.1, velocity=-1.0)},
        goal={"knee": ToleranceRequest(position=-1.0)},
        goal_time=-1.0,
    )


@pytest.mark.parametrize(
    ("outcome", "end"),
    [
        (Outcome(ending=Ending.SUCCEEDED), "succeeded"),
        (Outcome(ending=Ending.CANCELLED, text="cancelled"), "canceled"),
        (Outcome(ending=Ending.REPLACED, code=ErrorCode.INVALID_GOAL, text="newer"), "canceled"),
        (
            Outcome(ending=Ending.ABORTED, code=ErrorCode.PATH_TOLERANCE_VIOLATED, text="hip: 1 rad"),
            "aborted",
        ),
    ],
)
def test_an_outcome_becomes_the_state_and_result_of_its_goal(
    outcome: Outcome, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower()
    execution = Execution(monkeypatch, REQUEST, follower)
    assert execution.turn() is None
    assert follower.goal == goal_of(REQUEST)
    assert not follower.cancelled()
    execution.handle.is_cancel_requested = True
    assert follower.cancelled()
    follower.on_done(outcome)
    assert execution.turn() == Result(error_code=int(outcome.code), error_string=outcome.text)
    assert execution.handle.ends == [end]
    assert len(execution.warnings) == (end == "aborted")


def test_feedback_tells_desired_actual_and_error(monkeypatch: pytest.MonkeyPatch) -> None:
    follower = Follower()
    execution = Execution(monkeypatch, REQUEST, follower)
    execution.turn()
    follower.on_progress(
        Progress(
            stamp=8_000_000_001,
            time=1.25,
            desired=(0.5, 0.25),
            desired_velocity=(1.0, 2.0),
            actual=(0.25, 0.25),
            actual_velocity=(0.5, 2.5),
        )
    )
    (feedback,) = execution.handle.feedback
    assert feedback.joint_names == ["knee", "hip"]
    assert feedback.header.stamp == Time(sec=8, nanosec=1)
    for point, positions, velocities in (
        (feedback.desired, [0.5, 0.25], [1.0, 2.0]),
        (feedback.actual, [0.25, 0.25], [0.5, 2.5]),
        (feedback.error, [0.25, 0.0], [0.5, -0.5]),
    ):
        assert (list(point.positions), list(point.velocities)) == (positions, velocities)
        assert point.time_from_start == Duration(sec=1, nanosec=250_000_000)


def test_a_node_that_is_not_active_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    execution = Execution(monkeypatch, REQUEST, None)
    result = execution.turn()
    assert result is not None
    assert result.error_code == ErrorCode.INVALID_GOAL
    assert "not active" in result.error_string
    assert execution.handle.ends == ["aborted"]


def test_joints_of_several_degrees_of_freedom_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(
        trajectory=JointTrajectory(), multi_dof_trajectory=MultiDOFJointTrajectory(joint_names=["base"])
    )
    follower = Follower()
    result = Execution(monkeypatch, request, follower).turn()
    assert result is not None
    assert result.error_code == ErrorCode.INVALID_GOAL
    assert follower.goal is None


@pytest.mark.parametrize("group", [("hip", "knee"), ("hip",)])
def test_the_action_of_a_group_takes_goals_of_its_joints_only(
    group: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower()
    result = Execution(monkeypatch, REQUEST, follower, group).turn()
    if group == ("hip", "knee"):
        assert follower.goal is not None
        return
    assert follower.goal is None
    assert result is not None
    assert result.error_code == ErrorCode.INVALID_JOINTS
    assert "knee" in result.error_string


def test_a_goal_that_nobody_cancelled_ends_as_cancelled(ros_domain: int) -> None:
    context = Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node, executor = Node("servos", context=context), SingleThreadedExecutor(context=context)

    def execute(handle: ServerGoalHandle) -> Record.Result:
        cancel(handle)
        return Record.Result()

    server, client = ActionServer(node, Record, "record", execute), ActionClient(node, Record, "record")
    executor.add_node(node)
    try:
        wait_for(lambda: executor.spin_once(timeout_sec=0.01) or client.server_is_ready())
        sent = client.send_goal_async(Record.Goal())
        executor.spin_until_future_complete(sent, PATIENCE)
        result = sent.result().get_result_async()
        executor.spin_until_future_complete(result, PATIENCE)
        assert result.result().status == GoalStatus.STATUS_CANCELED
    finally:
        executor.shutdown()
        client.destroy()
        server.destroy()
        node.destroy_node()
        context.try_shutdown()
