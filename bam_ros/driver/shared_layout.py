# SPDX-License-Identifier: Apache-2.0
"""Layout of a driver's shared memory, as data: what `bam_ros2_control/shared_layout.h` has for C and C++.

One segment has three blocks: `Header`; `State`, which the node writes; `Command`, which one client writes.
State and Command begin with a sequence lock, `lock`, which is odd while its block is written. A reader copies
the block, and takes the copy where `lock` was even before and the same afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

import numpy as np

from bam_ros.driver.command_kind import CommandKind

MAGIC = b"BAMSHM"
VERSION = 1
"""Changes whenever anything below does; a client refuses another one."""
PREFIX = "bam_bench."
"""What the name of every segment begins with, so that no node takes those of other programs."""
MOST_JOINTS = 64
LONGEST_NAME = 64
"""Bytes of a joint's name, the final NUL included."""
LONGEST_FAULT = 192
"""Bytes of the line of a fault, likewise."""
ALIGNMENT = 64
"""Bytes; blocks begin at multiples of it, so that no two share a cache line."""
NODE_BYTE, CLIENT_BYTE = 0, 1
"""Bytes of the file that node and client keep locked (open file description locks) while they use it."""


class Torque(IntEnum):
    """What a client wants of a joint; values of `torque` in Command."""

    UNNAMED = 0
    """Nothing, as a message that does not name the joint: its torque goes off after `command_timeout`."""
    ON = 1
    """Torque, with the goal."""
    OFF = 2
    """No torque, whatever else commands the joint."""


KINDS = {
    CommandKind.POSITION: 0,
    CommandKind.VELOCITY: 1,
    CommandKind.CURRENT: 2,
    CommandKind.DUTY: 3,
}
"""What a joint is commanded by -> its number in `kind`."""


@dataclass(frozen=True)
class Field:
    """One field of a block.

    Attributes:
        name: the same in C.
        type: in C.
        shape: empty: one value; the last entry of a char is its length in bytes.
    """

    name: str
    type: str
    shape: tuple[int, ...] = ()


_PER_JOINT = (MOST_JOINTS,)

BLOCKS: Mapping[str, Sequence[Field]] = MappingProxyType(
    {
        "Header": (
            Field("magic", "char", (8,)),
            Field("version", "uint32_t"),
            Field("joints", "uint32_t"),
            Field("size", "uint64_t"),  # of the segment, bytes
            Field("pid", "int64_t"),  # of the node
            Field("kind", "uint32_t", _PER_JOINT),  # see KINDS
            Field("name", "char", (MOST_JOINTS, LONGEST_NAME)),
        ),
        "State": (
            Field("lock", "uint64_t"),
            Field("number", "uint64_t"),  # of the sample, counted from 1 since the node became active
            Field("stamp", "int64_t"),  # of the sample, ns, as in servo_states
            Field("published", "int64_t"),  # CLOCK_MONOTONIC, ns
            Field("taken", "uint64_t"),  # number of the newest command before the sample
            Field("answered", "uint64_t"),  # newest reset_fault that is done, whether the fault ended or not
            Field("active", "uint32_t"),  # whether the node is
            Field("latched", "uint32_t"),  # whether a fault keeps torque off on all joints
            Field("fault", "char", (LONGEST_FAULT,)),  # in one line; empty: none
            Field("position", "double", _PER_JOINT),  # rad; NaN where a servo does not report something
            Field("velocity", "double", _PER_JOINT),  # rad/s
            Field("effort", "double", _PER_JOINT),  # N·m
            Field("current", "double", _PER_JOINT),  # A
            Field("duty", "double", _PER_JOINT),  # -1..1
            Field("voltage", "double", _PER_JOINT),  # V
            Field("temperature", "double", _PER_JOINT),  # °C
            Field("goal", "double", _PER_JOINT),  # in force; rad, rad/s, A or 1 by the joint's kind
            Field("torque_enabled", "uint32_t", _PER_JOINT),
            Field("hardware_error", "uint32_t", _PER_JOINT),  # bits of bam_bench/msg/ServoStates
            Field("stopped", "uint32_t", _PER_JOINT),  # whether a fault keeps the joint's torque off
        ),
        "Command": (
            Field("lock", "uint64_t"),
            Field("number", "uint64_t"),  # heartbeat: one more with every command, also with the same one
            Field("time", "int64_t"),  # CLOCK_MONOTONIC, ns
            Field("pid", "int64_t"),  # of the client
            Field("reset_fault", "uint64_t"),  # one more asks to end a fault, as ~/reset_fault does
            Field("torque", "uint32_t", _PER_JOINT),  # see Torque
            Field("goal", "double", _PER_JOINT),  # rad, rad/s, A or 1 by the joint's kind; NaN: UNNAMED
        ),
    }
)
"""Block -> its fields, in their order."""

_NUMBERS = {"uint32_t": "<u4", "uint64_t": "<u8", "int64_t": "<i8", "double": "<f8"}


def _dtype(fields: Sequence[Field]) -> np.dtype[np.void]:
    """Return the type of a block, with the padding that C gives it."""
    members = [
        (field.name, f"S{field.shape[-1]}", field.shape[:-1])
        if field.type == "char"
        else (field.name, _NUMBERS[field.type], field.shape)
        for field in fields
    ]
    return np.dtype(members, align=True)


TYPES: Mapping[str, np.dtype[np.void]] = MappingProxyType(
    {block: _dtype(fields) for block, fields in BLOCKS.items()}
)
"""Block -> its type for NumPy."""


def _offsets() -> tuple[dict[str, int], int]:
    offset, offsets = 0, {}
    for block, kind in TYPES.items():
        offsets[block] = offset
        offset += -(-kind.itemsize // ALIGNMENT) * ALIGNMENT
    return offsets, offset


OFFSETS, SIZE = _offsets()
"""Block -> where it begins; size of the segment. Bytes."""
