# SPDX-License-Identifier: Apache-2.0
"""The POSIX shared memory of one node: created for it alone, removed at its end, replaced after its death."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.errors import Conflict, OutOfRange, Unavailable, WrongValue
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.shared_layout import (
    KINDS,
    LONGEST_NAME,
    MAGIC,
    MOST_JOINTS,
    NODE_BYTE,
    OFFSETS,
    PREFIX,
    SIZE,
    TYPES,
    VERSION,
)

DIRECTORY = Path("/dev/shm")  # where shm_open of Linux has its segments
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
FLOCK = "hhqqi4x"
"""The struct flock of 64-bit Linux: type, whence, start, length, process."""
_TRIES = 10  # other nodes may create and remove it meanwhile
_OWNER_ONLY = 0o600


def segment_path(name: str) -> Path:
    """Return the file of the segment of this name; `shm_open` takes its last part.

    Raises:
        WrongValue: it is no name.
    """
    if not _NAME.fullmatch(name):
        raise WrongValue("shared_memory", name, "letters, digits, _ . and -, at most 100")
    return DIRECTORY / f"{PREFIX}{name}"


def lock_byte(descriptor: int, byte: int) -> bool:
    """Lock a byte of a file until all copies of this descriptor are closed; return false where it is locked.

    The kernel ends the lock of a process that was killed. Unlike those of `fcntl.lockf` such a lock keeps out
    others in the same process, too.
    """
    lock = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
    except BlockingIOError:
        return False
    return True


class SharedSegment:
    """The segment while the node has it. Only this user can open it.

    Args:
        name: of the segment.
        joints: names.
        kinds: what each is commanded by.

    Attributes:
        state: views into the block State, by field.
        command: likewise of Command.

    Raises:
        WrongValue: it is no name.
        Conflict: another node has it.
        OutOfRange: there are too many joints, or a name is too long.
        Unavailable: the system refuses it.
    """

    def __init__(self, name: str, joints: Sequence[str], kinds: Sequence[CommandKind]) -> None:
        self._path = segment_path(name)
        _require_room(joints)
        self._descriptor = -1
        try:
            self._descriptor = _claimed(self._path, name)
            os.ftruncate(self._descriptor, SIZE)
            self._memory = mmap.mmap(self._descriptor, SIZE)
        except OSError as error:
            if self._descriptor >= 0:  # else the next try would find a segment in use
                self._path.unlink()
                os.close(self._descriptor)
            raise Unavailable(
                f"shared_memory {name!r}",
                f"{self._path} cannot be used: {error.strerror}",
                advice="choose another name",
            ) from None
        self.state, self.command = self._views("State"), self._views("Command")
        header = self._views("Header")
        header["name"][: len(joints)] = [joint.encode() for joint in joints]
        header["kind"][: len(joints)] = [KINDS[kind] for kind in kinds]
        for field, value in (("version", VERSION), ("joints", len(joints)), ("size", SIZE)):
            header[field][...] = value
        header["pid"][...] = os.getpid()
        header["magic"][...] = MAGIC  # last: a client takes no segment without it

    def copy_of_command(self) -> bytes:
        """Return the bytes of Command, which may be written meanwhile."""
        begin = OFFSETS["Command"]
        return self._memory[begin : begin + TYPES["Command"].itemsize]

    def close(self) -> None:
        """Remove the segment; clients that have it keep its last state. Idempotent."""
        if self._descriptor < 0:
            return
        if _is_at(self._descriptor, self._path):  # not that of a later node
            self._path.unlink()
        self.state, self.command = {}, {}  # with views into it the memory cannot be closed
        self._memory.close()
        os.close(self._descriptor)
        self._descriptor = -1

    def _views(self, block: str) -> dict[str, Any]:
        """Return a view into every field of a block."""
        whole = np.ndarray((), TYPES[block], self._memory, OFFSETS[block])
        return {field: whole[field] for field in TYPES[block].names or ()}


def _require_room(joints: Sequence[str]) -> None:
    if len(joints) > MOST_JOINTS:
        raise OutOfRange("shared_memory", len(joints), f"at most {MOST_JOINTS} joints")
    for joint in joints:
        if len(joint.encode()) >= LONGEST_NAME:
            raise OutOfRange(
                f"shared_memory: name of joint {joint!r}", len(joint.encode()), f"below {LONGEST_NAME} bytes"
            )


def _claimed(path: Path, name: str) -> int:
    """Return the descriptor of a new, locked file; raises Conflict, OSError."""
    for _ in range(_TRIES):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
        except FileExistsError:
            _remove_stale(path, name)
            continue
        # Between these two lines it looks like a dead node's, which another node may have removed.
        if lock_byte(descriptor, NODE_BYTE) and _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)
    raise Conflict(f"shared_memory {name!r}", "other nodes take it", advice="give each another name")


def _remove_stale(path: Path, name: str) -> None:
    """Remove the segment of a dead node; raises Conflict where the node lives, OSError."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:  # its node has just ended
        return
    try:
        if not lock_byte(descriptor, NODE_BYTE):
            raise Conflict(
                f"shared_memory {name!r}", "another node has it", advice="give each node another name"
            )
        if _is_at(descriptor, path):
            path.unlink()
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the file is the one at this path."""
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    return False
