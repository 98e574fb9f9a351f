# SPDX-License-Identifier: Apache-2.0
"""Drivers whose joints have other names, signs and zeros get the motion that the description has."""

from __future__ import annotations

import numpy as np

from bam_core.errors import Conflict, Missing
from bam_core.recordings.recording_map import NO_MAP, JointMap, Joints, RecordingMap
from bam_core.robot.mapped_motion import mapped_motion
from bam_core.robot.motion import RobotMotion
from test.core.refusals import refused

MOTION = RobotMotion(
    joints=("shoulder_pan", "elbow_flex"),
    time=np.array([0.0, 1.0]),
    goal_position=np.array([[0.0, 0.5], [0.3, 0.7]]),
    kp={"shoulder_pan": 16.0, "elbow_*": 32.0},
    kd={"elbow_*": 4.0},
    ki=2.0,
)


def test_drivers_get_goals_in_their_own_terms_and_their_positions_come_back() -> None:
    joints = Joints({"main_*": JointMap(name="*"), "Elbow": JointMap(name="elbow_flex", sign=-1.0, zero=0.1)})
    mapped = mapped_motion(MOTION, RecordingMap(joints=joints))
    assert mapped.motion.joints == ("main_shoulder_pan", "Elbow")
    np.testing.assert_allclose(mapped.motion.goal_position, [[0.0, -0.4], [0.3, -0.6]])
    assert mapped.motion.kp == {"main_shoulder_pan": 16.0, "Elbow": 32.0}
    assert (mapped.motion.kd, mapped.motion.ki) == ({"Elbow": 4.0}, 2.0)
    np.testing.assert_allclose(mapped.described({"Elbow": -0.6, "main_shoulder_pan": 0.3}), [0.3, 0.7])


def test_an_entry_may_stand_the_other_way_round_and_without_one_names_stay() -> None:
    joints = Joints({"elbow_flex": JointMap(name="Elbow", zero=0.2)})
    assert mapped_motion(MOTION, RecordingMap(joints=joints)).motion.joints == ("shoulder_pan", "Elbow")
    assert mapped_motion(MOTION, NO_MAP).motion.joints == MOTION.joints


def test_a_joint_without_a_driver_or_with_that_of_another_is_refused() -> None:
    with refused(Missing, thing="map, joint 'elbow_flex'"):
        mapped_motion(MOTION, RecordingMap(joints=Joints({"elbow_flex": None})))
    with refused(Conflict, thing="map, joints"):
        both = {"main_*": JointMap(name="*"), "main_elbow_flex": JointMap(name="shoulder_pan")}
        mapped_motion(MOTION, RecordingMap(joints=Joints(both)))
