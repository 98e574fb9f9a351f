# SPDX-License-Identifier: Apache-2.0
"""Bags of one run: a rosbag2 directory or a bare ``.mcap`` or ``.db3`` file, whole or interrupted.

Topics are found by type, so a namespace does not matter.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BadData, BamError, Conflict, Malformed, Missing, OutOfRange, WrongShape
from bam_core.recordings.bag_files import bag_name, data_files, read_messages
from bam_core.recordings.bag_metadata import promised_messages
from bam_core.recordings.bag_writer import METADATA_NAME
from bam_core.recordings.bench_map import mapped_samples
from bam_core.recordings.cleaning import clean
from bam_core.recordings.header_corrections import Rule, apply_rules, label_in, require_no_inertia
from bam_core.recordings.joint_series import COMMANDS_TYPE, STATES_TYPE, read_after
from bam_core.recordings.law_keys import require_no_other_law
from bam_core.recordings.message_decoder import BagContents, TypedMessage
from bam_core.recordings.plain_bag import PLAIN_TYPES, PlainBag, read_plain_bag
from bam_core.recordings.recording import Recording
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.recordings.run_end import seconds_of
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.finding import log_findings
from bam_core.text.recording_findings import Interrupted

log = logging.getLogger(__name__)

RUN_TYPE = "bam_bench/msg/BenchRun"
# Fields that can be set from outside -> those of BenchRun.
_HEADER = {
    "mass": "mass",
    "arm_mass": "arm_mass",
    "length": "length",
    "kp": "kp",
    "ki": "ki",
    "kd": "kd",
    "vin": "supply_voltage",
    "motor": "servo",
    "trajectory": "script",
    "joint": "joint",
}
_COLUMNS = (  # of states, that are read
    "position",
    "velocity",
    "goal_position",
    "torque_enabled",
    "voltage",
    "temperature",
    "duty",
)
RUN_FORMAT = 1
"""Newest ``BenchRun.format`` that is understood."""


def read_bag(
    path: str | os.PathLike[str],
    name: str | None = None,
    rules: Sequence[Rule] = (),
    recording_map: RecordingMap = NO_MAP,
) -> Recording:
    """Read one run.

    Time is the states' acquisition stamp since ``BenchRun.header``, cut to the planned duration; the joint is
    the one that ``BenchRun`` names. A goal that the servo does not report is taken from the commands.

    A bag without ``BenchRun`` is of another recorder, such as ``ros2 bag record``: a ``bench.yaml`` must have
    what hung on which servo, see `bam_core.recordings.plain_bag`.

    A bag without ``metadata.yaml`` is what an interrupted recorder leaves: it is read as far as it goes, with
    a warning. With ``metadata.yaml`` the recorder had finished it, so a bag that holds less than that
    promises is a bad copy.

    Args:
        path: bag directory, or a file of a bag.
        name: of the recording, by default the name of the directory or file.
        rules: that set fields of its run from outside.
        recording_map: sign, zero and unit of the joint; topics, too, where no ``BenchRun`` names the joint.

    Raises:
        Malformed: it is damaged, cut short after it was finished, or without a description of its run.
        BamError: it has no states of its joint, or unusable values.
    """
    path = Path(path)
    files = data_files(path)
    contents = [read_messages(file, {RUN_TYPE, STATES_TYPE, COMMANDS_TYPE}) for file in files]
    finished = _require_whole(path, files, contents)
    cut = not all(content.complete for content in contents)
    messages = [message for content in contents for message in content.messages]
    if any(rule.set for rule in rules) and not any(message.type == RUN_TYPE for message in messages):
        return _plain(path, name, files, rules, recording_map, cut=cut and not finished)
    run = _run(path, len(files), messages, cut)
    header, corrections = apply_rules({field: getattr(run, of) for field, of in _HEADER.items()}, rules)
    try:
        require_no_inertia(corrections)
        require_no_other_law(header)
    except BamError as error:
        raise error.within(path) from None
    joint = header["joint"]
    states = _states(path, messages, joint, cut)
    commands = [message.value for message in messages if message.type == COMMANDS_TYPE]

    index = [list(state.name).index(joint) for state in states]
    time = np.array(
        [
            _since(state.header.stamp, run.header.stamp) + read_after(state, i)
            for state, i in zip(states, index, strict=True)
        ]
    )
    duration = seconds_of(run.duration)
    planned = duration if duration > 0.0 else np.inf
    inside = (time >= 0) & (time <= planned)
    if not inside.any():
        raise BadData(
            f"states of joint '{joint}'",
            f"none lies within the run, 0 to {duration:g} s after its first command",
            advice="record the run again",
        ).within(path)
    time = time[inside]

    def column(field: str) -> NDArray[np.float64]:
        values = [getattr(state, field)[i] for state, i in zip(states, index, strict=True)]
        return np.asarray(values, dtype=np.float64)[inside]

    samples = {
        "time": time,
        "position": column("position"),
        "velocity": column("velocity"),
        "goal_position": _goals(column("goal_position"), time, commands, run, joint),
        "torque_enabled": column("torque_enabled") > 0.5,
        "voltage": column("voltage"),
        "temperature": column("temperature"),
        "duty": column("duty"),
    }
    try:
        cleaned = clean(mapped_samples(samples, replace(recording_map, time_unit=None), joint))
        bench = PendulumBench(**{field: header[field] for field in ("mass", "arm_mass", "length")})
    except BamError as error:
        raise error.within(path) from None
    recording = Recording(
        name=name or bag_name(path),
        source=path,
        sha256=_digest(files),
        servo=header["motor"],
        firmware=run.firmware,
        bench=bench,
        open_loop=False,
        kp=header["kp"],
        kd=header["kd"],
        ki=header["ki"],
        goal_acceleration=header.get("goal_acceleration"),
        demand_limit=_demand_limit(run),
        supply_voltage=header["vin"],
        script=header["trajectory"],
        unit=label_in(header, "unit"),
        session=label_in(header, "session"),
        left_out=cleaned.left_out,
        position_update_period=cleaned.update_period,
        corrections=tuple(corrections),
        sent=None,
        **cleaned.samples,
    )
    if cut:
        kind = "no_index" if finished else "cut"
        cut_off = Interrupted(kind=kind, source=path, duration=float(time[-1]), planned=duration)
        log_findings(log, [cut_off])
    return recording


def _plain(
    path: Path,
    name: str | None,
    files: Sequence[Path],
    rules: Sequence[Rule],
    recording_map: RecordingMap,
    *,
    cut: bool,
) -> Recording:
    contents = [read_messages(file, PLAIN_TYPES) for file in files]
    plain = PlainBag(
        path=path, name=name or bag_name(path), digest=_digest(files), contents=contents, cut=cut
    )
    return read_plain_bag(plain, rules, recording_map)


def _require_whole(path: Path, files: Sequence[Path], contents: Sequence[BagContents]) -> bool:
    """Refuse a bag that lost messages after it was finished; return whether it was finished at all."""
    promised = promised_messages(path)
    if promised is None:
        return False
    count = sum(content.count for content in contents)
    if count < promised:
        cut = [file for file, content in zip(files, contents, strict=True) if not content.complete]
        raise Malformed(
            cut[0] if cut else path,
            f"is cut short, {count} messages are there",
            expected=f"the {promised} that {METADATA_NAME} promises",
            advice="copy the bag again",
        )
    return True


def _run(path: Path, files: int, messages: Sequence[TypedMessage], cut: bool) -> Any:
    runs = [message.value for message in messages if message.type == RUN_TYPE]
    if not runs and cut:
        raise Malformed(
            path,
            f"is cut short, no {RUN_TYPE} in what is left",
            expected="one that has servo, load and gains",
            advice="copy it again or record the run again",
        )
    if not runs:
        raise Malformed(
            path,
            f"no {RUN_TYPE} in it",
            expected="one that has servo, load and gains, or a bench.yaml beside the bag",
            advice="write bench.yaml, as in set: {mass: 0.5, length: 0.1, kp: 32, motor: mx106, vin: 15},"
            " or record with 'bam record'",
        )
    if len({_since(run.header.stamp, runs[0].header.stamp) for run in runs}) > 1:
        raise Malformed(
            path,
            "holds several runs",
            expected="one per bag",
            advice="name its files one by one"
            if files > 1
            else "take the bags that 'bam record' wrote, one per run",
        )
    run = runs[-1]
    if run.format > RUN_FORMAT:
        raise Malformed(
            path,
            f"is of format {run.format}",
            expected=f"at most {RUN_FORMAT}, the newest that this version reads",
            advice="update bam_bench",
        )
    duration = seconds_of(run.duration)
    if duration < 0.0:
        raise OutOfRange(
            "duration",
            duration,
            "seconds, 0 where the run has no planned end",
            printed=f"{duration:g}",
            advice="record the run again",
        ).within(path)
    return run


def _demand_limit(run: Any) -> float:
    """Duty or A. Bags of older versions do not have it, other programs leave it 0: the firmware's own."""
    return float(getattr(run, "demand_limit", 0.0)) or math.inf


def _states(path: Path, messages: Sequence[TypedMessage], joint: str, cut: bool) -> list[Any]:
    every = [message for message in messages if message.type == STATES_TYPE]
    chosen = [message for message in every if joint in message.value.name]
    if not every and cut:
        raise Malformed(
            path, "is cut short, no state in what is left", advice="copy it again or record the run again"
        )
    if not chosen:
        seen = sorted({name for message in every for name in message.value.name})
        raise Missing(
            f"states of joint '{joint}'",
            f"{STATES_TYPE} of it, which has: {', '.join(seen) or 'nothing'}",
            advice="record the run again with the joint that the run names",
        ).within(path)
    topics = sorted({message.topic for message in chosen})
    if len(topics) > 1:
        raise Conflict(
            f"joint '{joint}'",
            f"is on several topics ({', '.join(topics)})",
            advice="record only one of them",
        ).within(path)
    states = _without_repeats([message.value for message in chosen])
    for state in states:
        if any(len(getattr(state, field)) != len(state.name) for field in _COLUMNS):
            raise WrongShape(
                "states",
                f"sequence {getattr(state, 'sequence', '?')}",
                "as many values as names in each field",
                advice="record the run again",
            ).within(path)
    return states


def _without_repeats(states: Sequence[Any]) -> list[Any]:
    """Return states without those that repeat a measurement of the same moment.

    A simulation that is paused repeats them, as long as the pause lasts. One that differs at the same moment
    stays, and is found to be wrong where time is checked.
    """
    return [
        state
        for before, state in zip([None, *states], states, strict=False)
        if before is None
        or _since(state.header.stamp, before.header.stamp) != 0.0
        or list(state.position) != list(before.position)
    ]


def _goals(
    goals: NDArray[np.float64], time: NDArray[np.float64], commands: Sequence[Any], run: Any, joint: str
) -> NDArray[np.float64]:
    """Fill goals that the servo did not report with the last command before the sample."""
    if np.isfinite(goals).all():
        return goals
    stamps, positions = [], []
    for command in commands:
        for name, position in zip(command.name, command.goal_position, strict=False):
            if name == joint and np.isfinite(position):
                stamps.append(_since(command.header.stamp, run.header.stamp))
                positions.append(position)
    if not stamps:
        return goals
    latest = np.searchsorted(stamps, time, side="right") - 1
    held = np.where(latest >= 0, np.asarray(positions)[latest], np.nan)
    return np.where(np.isfinite(goals), goals, held)


def _since(stamp: Any, start: Any) -> float:
    """Seconds between two builtin_interfaces/Time, exact to the nanosecond."""
    return float((stamp.sec - start.sec) * 10**9 + (int(stamp.nanosec) - int(start.nanosec))) * 1e-9


def _digest(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
