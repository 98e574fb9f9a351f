# SPDX-License-Identifier: Apache-2.0
"""Writes bags as our recorder does, for the tests of what reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from bam_core.recordings.bag_writer import BagWriter
from bam_core.recordings.message_definition import message_definition

MESSAGES = Path(__file__).parents[1] / "msg"
COMMON = {
    "std_msgs/msg/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "builtin_interfaces/msg/Time": "int32 sec\nuint32 nanosec\n",
    "builtin_interfaces/msg/Duration": "int32 sec\nuint32 nanosec\n",
    "std_msgs/msg/UInt64": "uint64 data\n",
}
RUN, STATES, COMMANDS = (f"bam_bench/msg/{name}" for name in ("BenchRun", "ServoStates", "ServoCommands"))
START = 1_700_000_000_123_456_789
PERIOD = 2_000_000

_OTHER_GOALS = ("goal_velocity", "goal_current", "goal_duty")


def read_definition(msgtype: str) -> str:
    package, name = msgtype.split("/msg/")
    return (MESSAGES / f"{name}.msg").read_text() if package == "bam_bench" else COMMON[msgtype]


def definition(msgtype: str) -> str:
    return message_definition(msgtype, read_definition)


def shortened(text: str, fields: Sequence[str]) -> str:
    """Return a definition without the lines of some fields."""
    return "\n".join(line for line in text.splitlines() if not any(f" {field} " in line for field in fields))


class RunBag:
    """Content of one run: a two-joint bus, of which `elbow` is on the bench; change it, then `write`.

    Args:
        samples: count of states.
        without: fields that messages of a type lack, as those of an older version.
    """

    def __init__(self, samples: int = 3000, without: Mapping[str, Sequence[str]] | None = None) -> None:
        self.store = get_typestore(Stores.EMPTY)
        self.definitions = {
            msgtype: shortened(definition(msgtype), (without or {}).get(msgtype, ()))
            for msgtype in (RUN, STATES, COMMANDS)
        }
        for msgtype, text in self.definitions.items():
            self.store.register(get_types_from_msg(text, msgtype))
        self.samples = samples
        self.namespace = "/bench"
        self.joints = ["shoulder", "elbow"]
        self.run: dict[str, Any] = {
            "format": 1,
            "servo": "mx106",
            "id": 2,
            "joint": "elbow",
            "firmware": "mx-protocol1",
            "mass": 0.567,
            "arm_mass": 0.05,
            "length": 0.105,
            "kp": 32.0,
            "ki": 0.0,
            "kd": 0.0,
            "demand_limit": np.inf,
            "supply_voltage": 15.0,
            "script": "sin_sin",
            "duration": self.duration(5.0),
            "session": "test",
            "operator_note": "",
            "software_version": "0.1.0",
        }
        index = np.arange(samples)
        self.stamps = START + index * PERIOD - 250 * PERIOD  # half a second before the run begins
        self.position = 0.3 * np.sin(index * 0.01)
        self.velocity = 0.3 * 0.01 * np.cos(index * 0.01) / (1e-9 * PERIOD)
        self.goal = 0.31 * np.sin(index * 0.01)
        self.enabled = index < samples // 2
        self.commands: list[tuple[int, float]] = []
        self.states = True
        self.read_after: list[float] = []  # s, of each joint
        self.later_starts: list[int] = []  # ns, of further runs in the same bag

    def time(self, nanoseconds: int) -> Any:
        kind = self.store.types["builtin_interfaces/msg/Time"]
        return kind(sec=int(nanoseconds // 10**9), nanosec=int(nanoseconds % 10**9))

    def duration(self, seconds: float) -> Any:
        kind = self.store.types["builtin_interfaces/msg/Duration"]
        return kind(sec=int(seconds // 1), nanosec=round(seconds % 1 * 1e9))

    def header(self, nanoseconds: int) -> Any:
        return self.store.types["std_msgs/msg/Header"](stamp=self.time(nanoseconds), frame_id="")

    def write(self, directory: Path, *, complete: bool = True) -> Path:
        topics = {
            f"{self.namespace}/{name}": (msgtype, self.definitions[msgtype], "")
            for name, msgtype in (("bench_run", RUN), ("servo_states", STATES), ("servo_commands", COMMANDS))
        }
        bag = BagWriter(directory, topics)
        for start in (START, *self.later_starts) if self.run else ():
            run = self.store.types[RUN](header=self.header(int(start)), **self.run)
            bag.write(f"{self.namespace}/bench_run", int(START), self.cdr(run, RUN))
        for stamp, position in self.commands:
            self.write_command(bag, stamp, position)
        for index in range(self.samples if self.states else 0):
            self.write_state(bag, index)
            if index % 100 == 0:
                bag.flush()
        bag.close() if complete else bag.abandon()
        return directory

    def write_state(self, bag: BagWriter, index: int) -> None:
        joints = len(self.joints)
        kind = self.store.types[STATES]
        stamp = int(self.stamps[index])

        def both(value: float) -> np.ndarray:
            return np.array([-9.0] * (joints - 1) + [value])

        state = kind(
            header=self.header(stamp),
            sequence=index,
            name=self.joints,
            position=both(self.position[index]),
            velocity=both(self.velocity[index]),
            current=both(np.nan),
            duty=both(0.25),
            effort=both(np.nan),
            voltage=both(14.8),
            temperature=both(31.0),
            goal_position=both(self.goal[index]),
            torque_enabled=np.array([False] * (joints - 1) + [bool(self.enabled[index])]),
            hardware_error=np.zeros(joints, np.uint32),
            **dict.fromkeys(_OTHER_GOALS, np.full(joints, np.nan)),
            **(
                {"read_after": np.array(self.read_after)}
                if " read_after " in self.definitions[STATES]
                else {}
            ),
        )
        bag.write(f"{self.namespace}/servo_states", stamp + 300_000, self.cdr(state, STATES))

    def write_command(self, bag: BagWriter, stamp: int, position: float) -> None:
        command = self.store.types[COMMANDS](
            header=self.header(stamp),
            name=["elbow"],
            torque_enabled=np.array([True]),
            goal_position=np.array([position]),
            **dict.fromkeys(_OTHER_GOALS, np.array([np.nan])),
        )
        bag.write(f"{self.namespace}/servo_commands", stamp, self.cdr(command, COMMANDS))

    def cdr(self, message: Any, msgtype: str) -> bytes:
        return bytes(self.store.serialize_cdr(message, msgtype))
