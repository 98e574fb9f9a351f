# SPDX-License-Identifier: Apache-2.0
"""Why a bag has no goals: which of its topics may hold some, and how to name them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from bam_core.recordings.header_corrections import NAME
from bam_core.recordings.joint_series import SERIES_TYPES, JointSeries

_ARRAY = "std_msgs/msg/Float64MultiArray"
_NO_GOALS = (  # packages of messages that are none, and single messages
    "builtin_interfaces",
    "diagnostic_msgs",
    "lifecycle_msgs",
    "rcl_interfaces",
    "rosgraph_msgs",
    "sensor_msgs",
    "statistics_msgs",
    "tf2_msgs",
    "visualization_msgs",
    "std_msgs/msg/String",
    "bam_bench",
)
_LISTED = 4


class NoGoals(NamedTuple):
    """Parts of a line about a bag without goals."""

    problem: str
    expected: str
    advice: str


def no_goals(series: JointSeries) -> NoGoals:
    """Return why a bag has no joint with positions and goals, and what to do."""
    problem = (
        f"{_named(series.position)} have positions and {_named(series.goal_position)} goals, and none both"
    )
    arrays = {topic: kind for topic, kind in series.topics.items() if kind == _ARRAY}
    unknown = {topic: kind for topic, kind in series.topics.items() if _may_hold_goals(kind)}
    if listed := _listed({**arrays, **unknown}):
        problem += f"; not read as goals: {listed}"
    advice = "record such a topic, too"
    if series.position and series.goal_position:
        recorded, commanded = next(iter(series.position)), next(iter(series.goal_position))
        advice = f"give them one name in a map, as in map: {{joints: {{{commanded}: {recorded}}}}}"
    if arrays and series.position:
        topic, order = next(iter(arrays)), ", ".join(series.position)
        advice = (
            f"name the joints of {topic} in {NAME}, in their order, as in "
            f"map: {{topics: {{goal: {topic}}}, order: [{order}]}}"
        )
    return NoGoals(
        problem=problem,
        expected="servo_states, or joint_states with the goals that were sent (JointTrajectory, JointState on"
        " a topic of commands), or the controller_state of a joint_trajectory_controller",
        advice=advice,
    )


def _named(joints: Collection[str]) -> str:
    """Return how many joints these are, and which."""
    return f"{len(joints)} ({', '.join(list(joints)[:_LISTED])})" if joints else "0"


def _may_hold_goals(kind: str) -> bool:
    return kind not in SERIES_TYPES and kind not in _NO_GOALS and kind.split("/")[0] not in _NO_GOALS


def _listed(topics: Mapping[str, str]) -> str:
    words = [f"{topic} ({kind})" for topic, kind in topics.items()]
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + more
