# SPDX-License-Identifier: Apache-2.0
"""Runs on the bench in bags without ``BenchRun``, such as ``ros2 bag record`` makes of any nodes.

What such a bag lacks about its run is in a ``bench.yaml`` beside it: load, gain and servo.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, BamError, Malformed, Missing, UnknownName
from bam_core.recordings.bag_files import bag_name
from bam_core.recordings.cleaning import clean
from bam_core.recordings.goal_topics import no_goals
from bam_core.recordings.header_corrections import NAME, Rule, apply_rules, label_in, require_no_inertia
from bam_core.recordings.joint_series import SERIES_TYPES, JointSeries, joint_series
from bam_core.recordings.law_keys import require_no_other_law
from bam_core.recordings.mapped_topics import mapped_messages, mapped_series
from bam_core.recordings.message_decoder import BagContents, TypedMessage
from bam_core.recordings.recording import Recording
from bam_core.recordings.recording_map import RecordingMap
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.finding import log_findings
from bam_core.text.recording_findings import Interrupted, UnmodelledSettings

log = logging.getLogger(__name__)

_CONFIGURATION = "bam_bench/msg/ServoConfiguration"
PLAIN_TYPES = SERIES_TYPES | {_CONFIGURATION}
"""Message types that are read."""

_EXAMPLE = "set: {mass: 0.5, arm_mass: 0.05, length: 0.1, kp: 32, vin: 15, motor: mx106}"
_REQUIRED = ("mass", "length", "kp", "motor")


@dataclass(frozen=True, kw_only=True)
class PlainBag:
    """A bag without ``BenchRun``.

    Attributes:
        path: of the bag.
        name: of the recording.
        digest: of the bag's data.
        contents: of its files, with messages of `PLAIN_TYPES`.
        cut: whether its recorder was interrupted.
    """

    path: Path
    name: str
    digest: str
    contents: Sequence[BagContents]
    cut: bool


def read_plain_bag(bag: PlainBag, rules: Sequence[Rule], recording_map: RecordingMap) -> Recording:
    """Return the run from where torque goes on to where it goes off for the last time.

    Where nobody reports torque, it counts as on from the first goal to the end. Which topics count: see
    `bam_core.recordings.joint_series`. Samples are those of the joint's positions.

    Args:
        bag: to read.
        rules: that set what the bag lacks.
        recording_map: topics, names, signs, zeros and the unit of joints.

    Raises:
        Malformed: load, gain or servo are not given.
        BamError: it has no such joint, or unusable values; the line begins with the path.
    """
    path = bag.path
    messages = [message for content in bag.contents for message in content.messages]
    topics = {topic: kind for content in bag.contents for topic, kind in content.topics.items()}
    series = joint_series(path, mapped_messages(path, messages, recording_map), topics)
    try:
        series = mapped_series(series, recording_map)
        joint = _joint(series, apply_rules({}, rules)[0].get("joint"))
        configuration = _configuration(messages, joint)
        known = {"joint": joint, "trajectory": bag_name(path), **configuration}
        header, corrections = apply_rules(known, rules)
        require_no_inertia(corrections)
        require_no_other_law(header)
        _require_header(path, header)
        origin, samples = _samples(series, joint)
        cleaned = clean(samples)
        supply = header["vin"] if "vin" in header else _measured_supply(cleaned.samples["voltage"])
        bench = PendulumBench(
            mass=header["mass"], arm_mass=header.get("arm_mass", 0.0), length=header["length"]
        )
    except Malformed:
        raise
    except BamError as error:
        raise error.within(path) from None
    recording = Recording(
        name=bag.name,
        source=path,
        sha256=bag.digest,
        servo=header["motor"],
        firmware="",
        bench=bench,
        open_loop=False,
        kp=header["kp"],
        kd=header.get("kd", 0.0),
        ki=header.get("ki", 0.0),
        goal_acceleration=header.get("goal_acceleration"),
        demand_limit=header["demand_limit"],
        supply_voltage=supply,
        script=header["trajectory"],
        unit=label_in(header, "unit"),
        session=label_in(header, "session"),
        left_out=cleaned.left_out,
        position_update_period=cleaned.update_period,
        corrections=tuple(corrections),
        sent=_sent(series, joint, origin, cleaned.samples),
        **cleaned.samples,
    )
    if bag.cut:
        log_findings(log, [Interrupted(kind="cut", source=path, duration=recording.duration)])
    if header["unmodelled"]:
        log_findings(log, [UnmodelledSettings(source=path, settings=header["unmodelled"])])
    return recording


def _joint(series: JointSeries, wanted: str | None) -> str:
    """Return the joint on the bench."""
    joints = series.joints
    if not joints:
        lacking = no_goals(series)
        raise BadData("joints", lacking.problem, expected=lacking.expected, advice=lacking.advice)
    if wanted is not None:
        if wanted not in joints:
            raise UnknownName("joint", wanted, joints)
        return wanted
    if len(joints) > 1:
        raise Missing(
            "joint",
            f"which of {', '.join(joints)} is on the bench",
            advice=f"set it in {NAME}, as in set: {{joint: {joints[0]}}}",
        )
    return joints[0]


def _configuration(messages: Sequence[TypedMessage], joint: str) -> dict[str, Any]:
    """Return the driver's configuration of the servo, where it was recorded."""
    result: dict[str, Any] = {"demand_limit": math.inf, "unmodelled": ""}
    for message in messages:
        if message.type == _CONFIGURATION and joint in message.value.name:
            index = list(message.value.name).index(joint)
            result["demand_limit"] = float(_entry(message.value, "demand_limit", index, math.inf))
            result["unmodelled"] = str(_entry(message.value, "unmodelled", index, ""))
            if servo := str(_entry(message.value, "servo", index, "")):
                result["motor"] = servo
    return result


def _entry(message: Any, field: str, index: int, default: Any) -> Any:
    """Return a joint's entry of a field; bags of older versions lack some fields."""
    entries = getattr(message, field, None)
    return default if entries is None or index >= len(entries) else entries[index]


def _require_header(path: Path, header: Mapping[str, Any]) -> None:
    missing = [name for name in _REQUIRED if name not in header]
    if missing:
        raise Malformed(
            path,
            f"no bam_bench/msg/BenchRun in it, and nothing sets {', '.join(missing)}",
            expected=f"a file {NAME} beside it, as in {_EXAMPLE}",
            advice=f"write {NAME}, or record with 'bam record'",
        )


def _sent(
    series: JointSeries, joint: str, origin: float, samples: Mapping[str, Array]
) -> tuple[Array, Array] | None:
    """Return the goals with their own stamps; None where servos reported them beside their positions."""
    if joint in series.reported["goal_position"]:
        return None
    time, goals = series.goal_position[joint]
    first = samples["time"][0]
    later = time - origin > first
    return np.append(first, time[later] - origin), np.append(samples["goal_position"][0], goals[later])


def _samples(series: JointSeries, joint: str) -> tuple[float, dict[str, Any]]:
    """Return when samples begin, s in the series, and fields of `Recording`."""
    position, goal = series.position[joint], series.goal_position[joint]
    torque = series.reported["torque_enabled"].get(joint)
    begin, end = max(position.time[0], goal.time[0]), position.time[-1]
    if torque is not None:
        on = torque.time[torque.value > 0.5]
        if not len(on):
            raise BadData(
                f"torque of joint '{joint}'", "is never on", advice="record a run in which a client moves it"
            )
        begin, end = max(begin, on[0]), on[-1]
    time = position.time[(position.time >= begin) & (position.time <= end)]
    if not len(time):
        raise BadData(
            f"joint '{joint}'",
            f"has no position after its first goal, which comes {begin - position.time[0]:.3g} s after its"
            " first position",
            advice="stamp goals and positions with the same clock, and record both",
        )

    def reported(field: str) -> Array:
        of_joint = series.reported[field].get(joint)
        return np.full(len(time), math.nan) if of_joint is None else of_joint.at(time)

    velocity = series.velocity.get(joint)
    return float(time[0]), {
        "time": time - time[0],
        "position": position.at(time),
        "velocity": np.full(len(time), math.nan) if velocity is None else velocity.at(time),
        "goal_position": goal.held(time),
        "torque_enabled": np.ones(len(time), bool) if torque is None else torque.held(time) > 0.5,
        "voltage": reported("voltage"),
        "temperature": reported("temperature"),
        "duty": reported("duty"),
    }


def _measured_supply(voltage: Array) -> float:
    known = voltage[np.isfinite(voltage)]
    if not len(known):
        raise Missing("vin", "the supply, V, which nobody measured", advice=f"set it in {NAME}")
    return float(np.median(known))
