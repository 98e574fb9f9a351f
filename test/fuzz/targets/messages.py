# SPDX-License-Identifier: Apache-2.0
"""Fields of messages that command servos: what is obeyed is finite, within limits and of a known joint.

An input is one message after the other.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

from bam_core.recordings.joint_path import JointPath
from bam_ros.driver.command_inputs import CommandInputs
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_command import JointCommandTopic
from bam_ros.driver.servo_bus import Gains
from bam_ros.driver.servo_commands import parse_commands
from bam_ros.driver.trajectory_action import goal_of, request_has_other_joints
from bam_ros.driver.trajectory_goal import DefaultTolerances
from bam_ros.driver.trajectory_points import check_points
from test.fuzz.bytes_reader import BytesReader
from test.fuzz.target import PACKETS, Target, attempt

_JOINTS = ("a", "b", "c")
_LIMITS = ((-1.0, 1.0), (-3.0, 3.0), (-100.0, 100.0))
_ODD_NAMES = ("", "\n", "\x1b[2J", "d", "ü" * 50, "a" * 3000, "\u202e", "a b")


class _Sink:
    def __init__(self) -> None:
        self.taken: dict[int, JointCommand] = {}

    def take(self, commands) -> None:
        self.taken.update(commands)


def check(data: bytes) -> int:
    reader = BytesReader(data)
    messages = _message(reader)
    while reader.left:
        messages += _message(reader)
    return messages


def _message(reader: BytesReader) -> int:
    """Try one message, or those that one node gets; return how many."""
    match reader.byte() % 4:
        case 0:
            _commands(reader)
        case 1:
            return _joint_command(reader)
        case 2:
            _trajectory(reader)
        case _:
            _gains(reader)
    return 1


def _name(reader: BytesReader) -> str:
    number = reader.byte()
    if number < 180:
        return _JOINTS[number % 3]
    return _ODD_NAMES[number % len(_ODD_NAMES)]


def _names(reader: BytesReader) -> list[str]:
    count = reader.byte()
    if count > 250:  # very many; ten thousand take as long as a hundred other inputs
        many = {255: 10_000, 254: 1000}.get(reader.byte(), 50)
        return [f"joint {number}" for number in range(many)] if count & 1 else [_name(reader)] * many
    return [_name(reader) for _ in range(count % 6)]


def _commands(reader: BytesReader) -> None:
    names = _names(reader)
    count = len(names) if (flags := reader.byte()) & 1 else reader.byte() % 6
    values = [reader.number() for _ in range(min(count, 6))]
    position = (values * (count // max(len(values), 1) + 1))[:count]
    enable = [bool(flags >> 1 & 1)] * (count if flags & 4 or flags & 1 else reader.byte() % 6)
    others = dict.fromkeys(("goal_velocity", "goal_current", "goal_duty"), ())
    message = SimpleNamespace(name=names, torque_enabled=enable, goal_position=position, **others)
    found = attempt(lambda: parse_commands(message, _JOINTS, _LIMITS)) or {}
    for index, command in found.items():
        low, high = _LIMITS[index]
        assert math.isnan(command.position) or low <= command.position <= high
        assert _JOINTS[index] in names


def _joint_command(reader: BytesReader) -> int:
    sink, lines = _Sink(), []
    inputs = CommandInputs(sink, lambda: 1.0, len(_JOINTS), 0.5)
    topic = JointCommandTopic(_JOINTS, inputs, lines.append)
    messages = 1 + reader.byte() % 3
    for _ in range(messages):
        names = _names(reader)
        count = len(names) if reader.byte() & 1 else reader.byte() % 6
        values = [reader.number() for _ in range(min(count, 6))] or [0.0]
        topic.take(names, (values * (count // len(values) + 1))[:count], _LIMITS)
    for index, command in sink.taken.items():
        low, high = _LIMITS[index]
        assert low <= command.position <= high
    assert len(lines) <= 100
    for line in lines:
        assert line.isprintable(), f"not one line that prints: {line[:100]!r}"
        assert len(line) <= 5000
    return messages


def _duration(reader: BytesReader) -> SimpleNamespace:
    sec = int.from_bytes(reader.take(4), "little", signed=True) if reader.byte() & 1 else reader.byte() % 8
    return SimpleNamespace(
        sec=sec, nanosec=int.from_bytes(reader.take(4), "little") if reader.byte() & 1 else 0
    )


def _trajectory(reader: BytesReader) -> None:
    names = _names(reader)
    points = []
    for _ in range(reader.byte() % 5):
        flags = reader.byte()
        rows = []
        for field in range(3):
            count = len(names) if flags >> field & 1 else reader.byte() % 4
            values = [reader.number() for _ in range(min(count, 4))] or [0.0]
            rows.append((values * (count // len(values) + 1))[:count])
        points.append(
            SimpleNamespace(
                time_from_start=_duration(reader),
                positions=rows[0],
                velocities=rows[1],
                accelerations=rows[2],
            )
        )
    tolerances = [
        SimpleNamespace(
            name=_name(reader), position=reader.number(), velocity=reader.number(), acceleration=0.0
        )
        for _ in range(reader.byte() % 3)
    ]
    request = SimpleNamespace(
        trajectory=SimpleNamespace(
            joint_names=names, points=points, header=SimpleNamespace(stamp=_duration(reader), frame_id="")
        ),
        path_tolerance=tolerances,
        goal_tolerance=tolerances[:1],
        goal_time_tolerance=_duration(reader),
    )
    assert not request_has_other_joints(request)
    goal = goal_of(request)

    def accept() -> JointPath:
        places = goal.places(_JOINTS)
        check_points(goal.points, goal.joints, [_LIMITS[place] for place in places])
        goal.tolerances(DefaultTolerances())
        return JointPath(goal.points)

    path = attempt(accept)
    if path is None:
        return
    started = path.starting_from(0.0, (0.0,) * len(goal.joints), (0.0,) * len(goal.joints))
    for each in (path, started):
        for time in (-1.0, 0.0, 0.5 * each.end, each.end, each.end + 1.0):
            positions, velocities = each.at(time)
            assert len(positions) == len(velocities) == len(goal.joints)
    for position, place in zip(path.last, goal.places(_JOINTS), strict=True):
        low, high = _LIMITS[place]
        assert low <= position <= high


def _gains(reader: BytesReader) -> None:
    from test.fuzz.gain_buses import gain_buses

    name = _name(reader)
    gains = Gains(kp=reader.number(), ki=reader.number(), kd=reader.number())
    for bus in gain_buses():
        held = attempt(lambda bus=bus: bus.set_gains(name, gains))
        if held is not None:
            assert name in bus.names
            for value in (held.kp, held.ki, held.kd):
                assert math.isfinite(value)
                assert value >= 0.0


def seeds() -> list[bytes]:
    """Return small messages of every kind with values of every kind."""
    found = []
    for kind in range(4):
        for value in range(0, 36, 2):
            found.append(bytes((kind, 1, 0, 1, value, value, value, value)))
            found.append(bytes((kind, 2, 0, 1, 7, value, value, 2, 7, value, value, value, 0, 2, 0, 0)))
        found += [bytes((kind, 255, 255, 1, 1)), bytes((kind, 252, 255, 1, 1, 1)), bytes((kind, 0, 0))]
        found += [bytes((kind, 1, 181 + odd, 1, 1, 0, 0)) for odd in range(8)]
    found.append(bytes((2, 2, 0, 1, 2, 7, *[200] * 12, 0, 1, 0, 7, *[10] * 12, 0, 2, 0, 0, 0, 0)))
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_ros.driver.servo_commands",
        "bam_ros.driver.joint_command",
        "bam_ros.driver.command_inputs",
        "bam_ros.driver.joint_path",
        "bam_ros.driver.trajectory_goal",
        "bam_ros.driver.trajectory_row",
        "bam_ros.driver.trajectory_action",
        "bam_ros.dynamixel.servo",
        "bam_ros.erob.bus",
        "bam_ros.simulator.bus",
    ),
    longest=400,
    runs=PACKETS,
)
