# SPDX-License-Identifier: Apache-2.0
"""Joints beside their servo files: worn ones warn in /diagnostics, others do not; bad entries are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from bam_core.errors import UnknownName, WrongType
from bam_core.servo.model import load_servo
from bam_core.whole_body import ObservedFriction
from bam_core.whole_body.estimate import Rank
from bam_core.whole_body.friction_health import HealthSettings
from bam_ros.friction_observer.health import WatchedJoints

pytestmark = pytest.mark.ros

PERIOD = 0.01
JOINTS = ("base", "shoulder", "elbow")
SERVO = load_servo("mx106")


def watched(*files: str) -> WatchedJoints:
    return WatchedJoints(files, JOINTS, PERIOD, HealthSettings())


def observed(time: float, factors: tuple[float, float, float]) -> ObservedFriction:
    """All joints move alike, without load, with friction times a factor each."""
    velocity = 2.0 * math.sin(3.0 * time)
    friction = -float(SERVO.friction.budget(0.0, 0.0, velocity)) * math.copysign(1.0, velocity)
    torque = np.array(factors) * friction
    return ObservedFriction(
        time=time,
        torque=torque,
        effort=-torque,
        velocity=np.full(3, velocity),
        residual=np.zeros(3),
        rank=Rank(contacts=(), rank=3, joints=3, unidentifiable=(), samples=1),
    )


def unloaded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An MX-106 whose friction does not depend on load."""
    from dataclasses import replace

    from bam_core.servo.friction import friction_model

    law = friction_model("m2")
    path = tmp_path_factory.mktemp("servo") / "m2.yaml"
    values = law.values(SERVO.friction)
    replace(SERVO, friction_model="m2", friction=law.friction(values)).save(path)
    return str(path)


def test_a_worn_joint_warns_and_another_does_not(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = unloaded(tmp_path_factory)
    joints = watched(f"shoulder={file}", f"elbow={file}")
    joints.warm({"shoulder": 30.0, "elbow": 30.0})
    assert {status.level for status in joints.diagnostics("/arm").status} == {DiagnosticStatus.STALE}
    notices = []
    for index in range(6000):
        notices += joints.push(observed(PERIOD * index, (1.0, 1.0, 1.3)))
    (notice,) = notices
    assert (notice.joint, notice.health.alarm) == ("elbow", "increase")
    shoulder, elbow = joints.diagnostics("/arm").status
    assert (shoulder.name, shoulder.level) == ("/arm: shoulder", DiagnosticStatus.OK)
    assert (elbow.name, elbow.level) == ("/arm: elbow", DiagnosticStatus.WARN)
    values = {value.key: value.value for value in elbow.values}
    assert float(values["change [%]"]) == pytest.approx(30.0, abs=3.0)
    assert values["heat [%]"] != "unknown"


def test_no_file_is_no_joint() -> None:
    joints = watched("")
    assert joints.names == []
    assert joints.push(observed(0.0, (1.0, 1.0, 1.0))) == []


@pytest.mark.parametrize(
    ("entry", "expected"), [("mx106", WrongType), ("=mx106", WrongType), ("wrist=mx106", UnknownName)]
)
def test_entries_that_name_no_joint_are_refused(entry: str, expected: type[Exception]) -> None:
    with pytest.raises(expected):
        watched(entry)
