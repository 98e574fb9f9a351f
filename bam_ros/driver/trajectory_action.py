# SPDX-License-Identifier: Apache-2.0
"""The action `control_msgs/FollowJointTrajectory`, where that package is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rclpy.action.server import ActionServer, CancelResponse, ServerGoalHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.task import Future

from bam_core.recordings.joint_path import PathPoint
from bam_ros.driver.active_trajectory import Progress
from bam_ros.driver.trajectory_follower import TrajectoryFollower
from bam_ros.driver.trajectory_goal import Ending, ErrorCode, Outcome, ToleranceRequest, TrajectoryGoal
from bam_ros.text.driver_notices import NotInGroup

NAME = "~/follow_joint_trajectory"
"""Of the action."""


def action_type() -> Any:
    """Return `control_msgs/action/FollowJointTrajectory`; None where it is not installed."""
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError:
        return None
    return FollowJointTrajectory


class TrajectoryAction:
    """Serves the action with a follower.

    A goal that cannot be followed is accepted and aborted at once, because only a result can have a reason.

    Args:
        node: that has the action; its executor is spun.
        kind: see `action_type`.
        follower: returns the one in use; None while the node is not active.
        group: name of a group of joints with an action of its own; empty: the action of all joints.
        joints: of the group.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        follower: Callable[[], TrajectoryFollower | None],
        group: str = "",
        joints: Sequence[str] = (),
    ) -> None:
        self._node, self._kind, self._follower = node, kind, follower
        self._group, self._joints = group, joints
        name = f"~/{group}/{NAME.removeprefix('~/')}" if group else NAME
        self._server = ActionServer(
            node, kind, name, self._execute, cancel_callback=lambda _: CancelResponse.ACCEPT
        )

    def destroy(self) -> None:
        """Take the action away; nobody spins its node any more."""
        self._server.destroy()

    async def _execute(self, handle: ServerGoalHandle) -> Any:
        request = handle.request
        done: Future = Future(executor=self._node.executor)

        def on_done(outcome: Outcome) -> None:
            done.set_result(outcome)
            if self._node.executor is not None:
                self._node.executor.wake()

        def on_progress(progress: Progress) -> None:
            handle.publish_feedback(self._feedback(request, progress))

        follower = self._follower()
        if follower is None:
            on_done(_refused("the node is not active; activate it first"))
        elif request_has_other_joints(request):
            on_done(
                _refused("joints of several degrees of freedom are not known (expected none); leave them out")
            )
        elif others := self._others(request):
            on_done(_refused(str(NotInGroup(group=self._group, joints=others)), ErrorCode.INVALID_JOINTS))
        else:
            follower.start(
                goal_of(request),
                on_done,
                cancelled=lambda: bool(handle.is_cancel_requested),
                on_progress=on_progress,
            )
        outcome: Outcome = await done
        if outcome.ending is Ending.SUCCEEDED:
            handle.succeed()
        elif outcome.ending is Ending.CANCELLED:
            handle.canceled()
        elif outcome.ending is Ending.REPLACED:
            cancel(handle)
        else:
            self._node.get_logger().warning(f"follow_joint_trajectory: aborted, {outcome.text}")
            handle.abort()
        return self._kind.Result(error_code=int(outcome.code), error_string=outcome.text)

    def _others(self, request: Any) -> tuple[str, ...]:
        """Return the joints of a goal that are not of this action's group."""
        if not self._group:
            return ()
        return tuple(name for name in request.trajectory.joint_names if name not in self._joints)

    def _feedback(self, request: Any, progress: Progress) -> Any:
        feedback = self._kind.Feedback(joint_names=list(request.trajectory.joint_names))
        feedback.header.frame_id = request.trajectory.header.frame_id
        feedback.header.stamp.sec, feedback.header.stamp.nanosec = divmod(progress.stamp, 10**9)
        states = {
            "desired": (progress.desired, progress.desired_velocity),
            "actual": (progress.actual, progress.actual_velocity),
            "error": (
                _difference(progress.desired, progress.actual),
                _difference(progress.desired_velocity, progress.actual_velocity),
            ),
        }
        since = max(round(progress.time * 1e9), 0)
        for name, (positions, velocities) in states.items():
            point = getattr(feedback, name)
            point.positions, point.velocities = list(positions), list(velocities)
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(since, 10**9)
        return feedback


def cancel(handle: ServerGoalHandle) -> None:
    """Let a goal end as cancelled that no client has cancelled, as other servers do with a replaced goal.

    rclpy has no name for it; rclcpp does it in `ServerGoalHandleBase::try_canceling`.
    """
    if not handle.is_cancel_requested:
        handle._update_state(rclpy_implementation.GoalEvent.CANCEL_GOAL)
    handle.canceled()


def goal_of(request: Any) -> TrajectoryGoal:
    """Return what a goal of the action asks for.

    Args:
        request: its goal message.
    """
    return replace(
        trajectory_of(request.trajectory),
        path=_tolerances(request.path_tolerance),
        goal=_tolerances(request.goal_tolerance),
        goal_time=_seconds(request.goal_time_tolerance),
    )


def trajectory_of(trajectory: Any) -> TrajectoryGoal:
    """Return the goal, with default tolerances, that a `trajectory_msgs/JointTrajectory` is."""
    return TrajectoryGoal(
        joints=tuple(trajectory.joint_names),
        points=tuple(
            PathPoint(
                time=_seconds(point.time_from_start),
                position=tuple(point.positions),
                velocity=tuple(point.velocities),
                acceleration=tuple(point.accelerations),
            )
            for point in trajectory.points
        ),
        stamp=trajectory.header.stamp.sec * 10**9 + trajectory.header.stamp.nanosec,
    )


def request_has_other_joints(request: Any) -> bool:
    """Return whether a goal has joints of several degrees of freedom, which newer definitions know."""
    return bool(getattr(getattr(request, "multi_dof_trajectory", None), "joint_names", ()))


def _tolerances(messages: Any) -> dict[str, ToleranceRequest]:
    return {
        message.name: ToleranceRequest(position=message.position, velocity=message.velocity)
        for message in messages
    }


def _refused(text: str, code: ErrorCode = ErrorCode.INVALID_GOAL) -> Outcome:
    return Outcome(ending=Ending.ABORTED, code=code, text=text)


def _difference(one: tuple[float, ...], other: tuple[float, ...]) -> list[float]:
    return [a - b for a, b in zip(one, other, strict=True)]


def _seconds(duration: Any) -> float:
    return float(duration.sec) + 1e-9 * float(duration.nanosec)
