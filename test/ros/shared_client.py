# SPDX-License-Identifier: Apache-2.0
"""A client of a driver's shared memory, as a controller manager is one; also a process of its own.

`python -m test.ros.shared_client NAME GOAL ...` commands these goals, torque on, until it is killed.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import struct
import sys
import time
from collections.abc import Sequence

import numpy as np

from bam_core.errors import Conflict, Unavailable
from bam_ros.driver.shared_layout import CLIENT_BYTE, MAGIC, NODE_BYTE, OFFSETS, SIZE, TYPES, VERSION, Torque
from bam_ros.driver.shared_segment import FLOCK, lock_byte, segment_path

PERIOD = 0.005  # s


def _is_locked(descriptor: int, byte: int) -> bool:
    """Whether somebody else has locked a byte of a file; a dead node has not."""
    lock = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
    answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, lock)
    return struct.unpack(FLOCK, answer)[0] != fcntl.F_UNLCK


class SharedClient:
    """The one client of a segment, or one that only watches.

    Args:
        name: of the segment.
        watches: whether it leaves the place of the client to others.

    Raises:
        Unavailable: there is no such segment yet.
        Conflict: it has a client.
    """

    def __init__(self, name: str, *, watches: bool = False) -> None:
        try:
            self._descriptor = os.open(segment_path(name), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            raise Unavailable("shared_memory", "no such segment", advice="start its node") from None
        if os.fstat(self._descriptor).st_size < SIZE or not _is_locked(self._descriptor, NODE_BYTE):
            raise Unavailable("shared_memory", "not ready", advice="try again")
        if not watches and not lock_byte(self._descriptor, CLIENT_BYTE):
            raise Conflict("shared_memory", "has another client", advice="end it")
        self._memory = mmap.mmap(self._descriptor, SIZE)
        self.header = self._block("Header")
        self.command = self._block("Command")
        if self.header["magic"].item() != MAGIC or int(self.header["version"]) != VERSION:
            raise Unavailable("shared_memory", "not ready", advice="try again")
        self.joints = int(self.header["joints"])

    def _block(self, block: str) -> np.ndarray:
        return np.ndarray((), TYPES[block], self._memory, OFFSETS[block])

    @property
    def state(self) -> np.void:
        """A copy of the newest state, once it is whole."""
        begin, kind = OFFSETS["State"], TYPES["State"]
        while True:
            copy = np.frombuffer(self._memory[begin : begin + kind.itemsize], kind)[0]
            lock = int(np.ndarray((), "<u8", self._memory, begin))
            if lock % 2 == 0 and int(copy["lock"]) == lock:
                return copy
            time.sleep(0.0)

    def write(
        self, torque: Sequence[int], goal: Sequence[float], *, reset: bool = False, age: float = 0.0
    ) -> int:
        """Command every joint once; return the number of the command.

        Args:
            torque: values of `Torque`.
            goal: of each joint.
            reset: whether to ask for the end of a fault.
            age: that the command seems to have, s.
        """
        command = self.command
        command["lock"] = int(command["lock"]) | 1
        command["number"] += 1
        command["time"] = time.monotonic_ns() - int(1e9 * age)
        command["pid"] = os.getpid()
        command["torque"][: self.joints] = torque
        command["goal"][: self.joints] = goal
        command["reset_fault"] += int(reset)
        command["lock"] += 1
        return int(command["number"])

    def on(self, *goals: float) -> int:
        """Command torque and goals."""
        return self.write([Torque.ON] * len(goals), goals)

    def off(self) -> int:
        """Command torque off."""
        return self.write([Torque.OFF] * self.joints, [math.nan] * self.joints)

    def close(self) -> None:
        """Leave the segment; what is mapped has a copy of the descriptor, and keeps the lock."""
        del self.header, self.command
        self._memory.close()
        os.close(self._descriptor)


def main(name: str, goals: Sequence[float]) -> None:
    """Command goals until the process is killed."""
    client = SharedClient(name)
    print("commands", flush=True)
    while True:
        client.on(*goals)
        time.sleep(PERIOD)


if __name__ == "__main__":
    main(sys.argv[1], [float(goal) for goal in sys.argv[2:]])
