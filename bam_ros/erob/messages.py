# SPDX-License-Identifier: Apache-2.0
"""Messages between node and master process: goals and samples as packed datagrams, the rest as JSON.

Both ends hold a sequential-packet socket: datagrams arrive whole and in order, and the end of one process is
an end of file for the other.
"""

from __future__ import annotations

import base64
import json
import pickle
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bam_core.errors import BamError

_GOAL, _SAMPLE, _NOTE = b"G", b"S", b"J"
_GOAL_HEAD = struct.Struct("<cI")
_GOAL_AXIS = struct.Struct("<?ddd")
_SAMPLE_HEAD = struct.Struct("<cIQqq")
_SAMPLE_AXIS = struct.Struct("<dddddd??HH")
_LARGEST = 1 << 16


class AxisGoal(NamedTuple):
    """What one drive shall do: position in rad (NaN keeps the goal), gains in A/rad and A·s/rad."""

    enable: bool
    position: float
    stiffness: float
    damping: float


class AxisSample(NamedTuple):
    """What one drive does: rad, rad/s, A, N·m, V, and its words.

    `goal` in rad and `driven` are what the frame that fetched this sent: they act one period later.
    A drive that goes on after a release is `driven` again. `enabled` is reported by the drive: torque
    is certainly off only where that is false. `error_code` is not zero only while the drive is in fault.
    """

    position: float
    velocity: float
    current: float
    effort: float
    voltage: float
    goal: float
    driven: bool
    enabled: bool
    statusword: int
    error_code: int


@dataclass(frozen=True)
class Goals:
    """Goals of every drive, numbered."""

    number: int
    axes: tuple[AxisGoal, ...]

    def pack(self) -> bytes:
        """Return the datagram."""
        return _GOAL_HEAD.pack(_GOAL, self.number) + b"".join(_GOAL_AXIS.pack(*axis) for axis in self.axes)


@dataclass(frozen=True)
class Samples:
    """Samples of every drive from one answered cycle.

    Attributes:
        number: of the goals that were in force.
        cycle: number of the cycle.
        stamp: time of acquisition, ns since the epoch.
        taken: the same on the monotonic clock, ns.
        axes: one per drive.
    """

    number: int
    cycle: int
    stamp: int
    taken: int
    axes: tuple[AxisSample, ...]

    def pack(self) -> bytes:
        """Return the datagram."""
        head = _SAMPLE_HEAD.pack(_SAMPLE, self.number, self.cycle, self.stamp, self.taken)
        return head + b"".join(_SAMPLE_AXIS.pack(*axis) for axis in self.axes)


@dataclass(frozen=True)
class Note:
    """Anything that is not needed in every cycle.

    Attributes:
        kind: what it is about.
        content: plain values.
    """

    kind: str
    content: Mapping[str, Any]

    def pack(self) -> bytes:
        """Return the datagram."""
        return _NOTE + json.dumps({"kind": self.kind, **self.content}).encode()


Message = Goals | Samples | Note


def failure_note(error: BamError) -> Note:
    """Return the note that the master has given up, and why; `failure` turns it back."""
    return Note("failed", {"error": base64.b64encode(pickle.dumps(error)).decode()})


def failure(note: Note) -> BamError:
    """Return the error of a note of `failure_note`, with its type and attributes."""
    error = pickle.loads(base64.b64decode(note.content["error"]))
    assert isinstance(error, BamError)
    return error


def unpack(data: bytes) -> Message:
    """Return the message of a datagram."""
    tag = data[:1]
    if tag == _GOAL:
        _, number = _GOAL_HEAD.unpack_from(data)
        return Goals(number, tuple(AxisGoal(*row) for row in _GOAL_AXIS.iter_unpack(data[_GOAL_HEAD.size :])))
    if tag == _SAMPLE:
        _, number, cycle, stamp, taken = _SAMPLE_HEAD.unpack_from(data)
        rows = _SAMPLE_AXIS.iter_unpack(data[_SAMPLE_HEAD.size :])
        return Samples(number, cycle, stamp, taken, tuple(AxisSample(*row) for row in rows))
    content = json.loads(data[1:])
    return Note(content.pop("kind"), content)


def send(link: socket.socket, message: Message) -> bool:
    """Send without waiting; false where the other end does not keep up.

    Raises:
        OSError: the other end is gone.
    """
    try:
        link.send(message.pack(), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
    except BlockingIOError:
        return False
    return True


def receive(link: socket.socket) -> Message | None:
    """Return the next message without waiting, None where there is none.

    Raises:
        EOFError: the other end is gone.
    """
    try:
        data = link.recv(_LARGEST, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        raise EOFError from None
    if not data:
        raise EOFError
    return unpack(data)


def released(number: int, axes: Sequence[AxisGoal]) -> Goals:
    """Return goals that keep everything but torque, which goes off."""
    return Goals(number, tuple(axis._replace(enable=False) for axis in axes))
