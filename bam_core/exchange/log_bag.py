# SPDX-License-Identifier: Apache-2.0
"""A recording as a rosbag2 directory, with the topics of our recorder; needs no ROS 2.

The definitions below are those of `msg/` without comments; a type's hash, by which ROS 2 knows it, counts
fields only.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from bam_core._version import __version__
from bam_core.errors import Unsupported
from bam_core.recordings.bag_writer import BagTopic, BagWriter
from bam_core.recordings.message_definition import message_definition
from bam_core.recordings.recording import Recording
from bam_core.servo.model import load_servo, servo_names

RUN, STATES, COMMANDS = (f"bam_bench/msg/{name}" for name in ("BenchRun", "ServoStates", "ServoCommands"))
TOPICS: Mapping[str, str] = MappingProxyType(
    {"/bench_run": RUN, "/servo_states": STATES, "/servo_commands": COMMANDS}
)
DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {
        "builtin_interfaces/msg/Time": "int32 sec\nuint32 nanosec\n",
        "builtin_interfaces/msg/Duration": "int32 sec\nuint32 nanosec\n",
        "std_msgs/msg/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
        RUN: (
            "std_msgs/Header header\nuint32 FORMAT=1\nuint32 format\nstring servo\nint16 id\nstring joint\n"
            "string firmware\n"
            "float64 mass\nfloat64 arm_mass\nfloat64 length\nfloat64 kp\nfloat64 ki\nfloat64 kd\n"
            "float64 demand_limit\nfloat64 supply_voltage\nstring script\n"
            "builtin_interfaces/Duration duration\nstring session\nstring operator_note\n"
            "string software_version\n"
        ),
        STATES: (
            "std_msgs/Header header\nuint64 sequence\nstring[] name\nfloat64[] position\nfloat64[] velocity\n"
            "float64[] current\nfloat64[] duty\nfloat64[] effort\nfloat64[] voltage\nfloat64[] temperature\n"
            "float64[] goal_position\nfloat64[] goal_velocity\nfloat64[] goal_current\nfloat64[] goal_duty\n"
            "bool[] torque_enabled\nuint32[] hardware_error\nfloat64[] read_after\n"
            "uint32 ERROR_INPUT_VOLTAGE=1\nuint32 ERROR_OVERHEATING=2\nuint32 ERROR_OVERLOAD=4\n"
            "uint32 ERROR_ENCODER=8\nuint32 ERROR_ELECTRICAL_SHOCK=16\nuint32 ERROR_ANGLE_LIMIT=32\n"
            "uint32 ERROR_RANGE=64\nuint32 ERROR_CHECKSUM=128\nuint32 ERROR_INSTRUCTION=256\n"
            "uint32 ERROR_DRIVE=512\n"
        ),
        COMMANDS: (
            "std_msgs/Header header\nstring[] name\nbool[] torque_enabled\nfloat64[] goal_position\n"
            "float64[] goal_velocity\nfloat64[] goal_current\nfloat64[] goal_duty\n"
        ),
    }
)

_JOINT = "joint"
_OTHER_GOALS = ("goal_velocity", "goal_current", "goal_duty")


def write_bag(
    recording: Recording, directory: str | os.PathLike[str], *, start_ns: int | None = None
) -> None:
    """Write a recording as a complete bag.

    Args:
        recording: any run of a position controller; what it does not know is NaN in the bag. Times are
            kept to the nanosecond.
        directory: must not exist yet.
        start_ns: when the run's first command was given, ns since the epoch; default now.

    Raises:
        NotWritable: the directory exists or cannot be created.
        Unsupported: the recording is a run in open loop, or has a limit of the set-point's acceleration.
    """
    recording.require_closed_loop("a bag")
    if recording.goal_acceleration is not None:
        raise Unsupported(
            f"recording '{recording.name}', goal_acceleration",
            f"is {recording.goal_acceleration:g}, and a bag has no such field",
            expected="a recording without one",
            advice="remove it, and set goal_acceleration in a bench.yaml beside the bag",
        )
    start_ns = time.time_ns() if start_ns is None else start_ns
    store = get_typestore(Stores.EMPTY)
    topics = {
        topic: BagTopic(kind, message_definition(kind, DEFINITIONS.__getitem__))
        for topic, kind in TOPICS.items()
    }
    for topic in topics.values():
        store.register(get_types_from_msg(topic.definition, topic.type))
    messages = _Messages(store, recording, start_ns)
    with BagWriter(directory, topics) as bag:
        bag.write("/bench_run", start_ns, messages.run())
        for index, stamp in enumerate(messages.stamps):
            bag.write("/servo_commands", stamp, messages.command(index))
            bag.write("/servo_states", stamp, messages.state(index))


class _Messages:
    """The messages of one recording, serialised."""

    def __init__(self, store: Any, recording: Recording, start_ns: int) -> None:
        self._store, self._types = store, store.types
        self._recording, self._start = recording, start_ns
        self.stamps: list[int] = [start_ns + round(time * 1e9) for time in recording.time.tolist()]

    def run(self) -> bytes:
        recording, bench = self._recording, self._recording.bench
        usual = load_servo(recording.servo).firmware.name if recording.servo in servo_names() else ""
        return self._cdr(
            RUN,
            header=self._stamped(self._start),
            format=1,
            servo=recording.servo,
            id=-1,
            joint=_JOINT,
            firmware=recording.firmware or usual,
            mass=bench.mass,
            arm_mass=bench.arm_mass,
            length=bench.length,
            kp=recording.kp,
            ki=recording.ki,
            kd=recording.kd,
            demand_limit=recording.demand_limit,
            supply_voltage=recording.supply_voltage,
            script=recording.script,
            duration=self._duration(
                math.ceil(float(recording.time[-1]) * 1e3 + 1.0)
            ),  # no sample is beyond it
            session="",
            operator_note=f"imported from {recording.source.name}",
            software_version=__version__,
        )

    def state(self, index: int) -> bytes:
        recording = self._recording
        unknown = np.array([np.nan])
        measured = {
            name: getattr(recording, name)[index : index + 1]
            for name in ("position", "velocity", "duty", "voltage", "temperature", "goal_position")
        }
        return self._cdr(
            STATES,
            header=self._header(index),
            sequence=index,
            name=[_JOINT],
            current=unknown,
            effort=unknown,
            torque_enabled=recording.torque_enabled[index : index + 1],
            hardware_error=np.zeros(1, dtype=np.uint32),
            read_after=np.zeros(0),
            **dict.fromkeys(_OTHER_GOALS, np.array([np.nan])),
            **measured,
        )

    def command(self, index: int) -> bytes:
        recording = self._recording
        return self._cdr(
            COMMANDS,
            header=self._header(index),
            name=[_JOINT],
            torque_enabled=recording.torque_enabled[index : index + 1],
            **dict.fromkeys(_OTHER_GOALS, np.array([np.nan])),
            goal_position=recording.goal_position[index : index + 1],
        )

    def _header(self, index: int) -> Any:
        return self._stamped(self.stamps[index])

    def _stamped(self, nanoseconds: int) -> Any:
        return self._types["std_msgs/msg/Header"](stamp=self._time(nanoseconds), frame_id="")

    def _duration(self, milliseconds: int) -> Any:
        kind = self._types["builtin_interfaces/msg/Duration"]
        return kind(sec=milliseconds // 1000, nanosec=milliseconds % 1000 * 1_000_000)

    def _time(self, nanoseconds: int) -> Any:
        kind = self._types["builtin_interfaces/msg/Time"]
        return kind(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)

    def _cdr(self, kind: str, **fields: Any) -> bytes:
        return bytes(self._store.serialize_cdr(self._types[kind](**fields), kind))
