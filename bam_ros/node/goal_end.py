# SPDX-License-Identifier: Apache-2.0
"""How the goal of an action ends."""

from __future__ import annotations

from rclpy.action.server import ServerGoalHandle


def end_goal(goal: ServerGoalHandle, *, is_success: bool) -> None:
    """Report to a client that its goal succeeded, was cancelled as it asked, or is aborted."""
    if is_success:
        goal.succeed()
    elif goal.is_cancel_requested:
        goal.canceled()
    else:
        goal.abort()
