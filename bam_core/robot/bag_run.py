# SPDX-License-Identifier: Apache-2.0
"""Runs of robots in bags: of our nodes, or of any nodes that publish joint states and take goals."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core.errors import BadData, Malformed
from bam_core.recordings.bag_files import bag_name, data_files, read_messages
from bam_core.recordings.goal_topics import no_goals
from bam_core.recordings.joint_series import SERIES_TYPES, joint_series
from bam_core.recordings.mapped_topics import mapped_messages
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run
from bam_core.servo.gains import gain_from_text
from bam_core.text.finding import log_findings
from bam_core.text.recording_findings import Interrupted

log = logging.getLogger(__name__)

_GAINS = ("kp", "ki", "kd")


def read_bag_run(path: str | os.PathLike[str], recording_map: RecordingMap = NO_MAP) -> RobotRun:
    """Read a bag directory, or a file of a bag; the clock is that of the messages' stamps.

    Which topics count: see `bam_core.recordings.joint_series`. Samples are at the times of the joint that has
    the fewest; positions of others are interpolated. Goals count from their own stamps on.

    Args:
        path: of the bag.
        recording_map: topics of goals and states; names, signs, zeros and the unit of joints.

    Raises:
        BamError: the bag cannot be read, or no joint in it has positions and goals.
    """
    path = Path(path)
    contents = [read_messages(file, SERIES_TYPES) for file in data_files(path)]
    is_cut = not all(content.complete for content in contents)
    messages = [message for content in contents for message in content.messages]
    topics = {topic: kind for content in contents for topic, kind in content.topics.items()}
    series = joint_series(path, mapped_messages(path, messages, recording_map), topics)
    positions, goals, joints = series.position, series.goal_position, series.joints
    if not joints:
        if is_cut:
            raise Malformed(
                path,
                "is cut short, without positions and goals of one joint in what is left",
                expected="a whole bag",
                advice="copy it again or record the run again",
            )
        lacking = no_goals(series)
        raise Malformed(path, f"joints: {lacking.problem}", expected=lacking.expected, advice=lacking.advice)
    begin = max(max(positions[joint].time[0], goals[joint].time[0]) for joint in joints)
    time = min((positions[joint].time for joint in joints), key=len)
    time = time[(time >= begin) & (time <= min(positions[joint].time[-1] for joint in joints))]
    if not len(time):
        last = min(positions[joint].time[-1] for joint in joints)
        raise BadData(
            f"{path}, stamps",
            f"of goals begin {begin - last:.4g} s after the last position",
            expected="one clock for both",
            advice="set use_sim_time alike in all nodes, and record the run again",
        )
    if is_cut:
        log_findings(log, [Interrupted(kind="cut", source=path, duration=float(time[-1] - time[0]))])
    gains = {
        name: gain_from_text(f"{path}, {name}", words)
        for content in contents
        for name, words in content.gains.items()
        if name in _GAINS
    }
    supply = [value for voltages in series.reported["voltage"].values() for value in voltages.value]
    return screened_run(
        recording_map=replace(recording_map, time_unit=None),  # stamps have their unit
        name=bag_name(path),
        joints=joints,
        time=time - time[0],
        goal_position=np.stack([goals[joint].held(time) for joint in joints], axis=1),
        position=np.stack([np.interp(time, *positions[joint]) for joint in joints], axis=1),
        sent={joint: (goals[joint].time - time[0], goals[joint].value) for joint in joints},
        supply_voltage=float(np.mean(supply)) if supply else None,
        **gains,
    )
